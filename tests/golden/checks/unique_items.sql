-- unique_items: No element occurs twice in one array; NULL is an element like any other.

-- sample: tags ARRAY<STRING>
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `tags` IS NULL AND SIZE(ARRAY_DISTINCT(`tags`)) < SIZE(`tags`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "tags" IS NULL AND CARDINALITY(ARRAY_DISTINCT("tags")) < CARDINALITY("tags") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
