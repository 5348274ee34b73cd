-- field_count: Structs have between `min_fields` and `max_fields` fields that are not NULL.

-- sample: trip STRUCT<START:DATE,END:DATE> | min_fields=1, max_fields=2
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `trip` IS NULL AND ((CASE WHEN NOT `trip`.`start` IS NULL THEN 1 ELSE 0 END + CASE WHEN NOT `trip`.`end` IS NULL THEN 1 ELSE 0 END) < 1 OR (CASE WHEN NOT `trip`.`start` IS NULL THEN 1 ELSE 0 END + CASE WHEN NOT `trip`.`end` IS NULL THEN 1 ELSE 0 END) > 2) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "trip" IS NULL AND ((CASE WHEN NOT "trip"."start" IS NULL THEN 1 ELSE 0 END + CASE WHEN NOT "trip"."end" IS NULL THEN 1 ELSE 0 END) < 1 OR (CASE WHEN NOT "trip"."start" IS NULL THEN 1 ELSE 0 END + CASE WHEN NOT "trip"."end" IS NULL THEN 1 ELSE 0 END) > 2) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: marks MAP<STRING,INT> | max_fields=2
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `marks` IS NULL AND SIZE(`marks`) > 2 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "marks" IS NULL AND CARDINALITY("marks") > 2 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
