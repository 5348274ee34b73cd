-- missing_values: The value is there: it is neither NULL nor one that stands for a missing value.

-- sample: code STRING
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `code` IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "code" IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | missing_values=['', 'N/A', None], missing_pattern='^-+$'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `code` IS NULL OR `code` IN ('', 'N/A') OR (`code` RLIKE '^-+$') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "code" IS NULL OR "code" IN ('', 'N/A') OR (REGEXP_LIKE("code", '^-+$')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: n INT | missing_values=['N/A', -1, 2.5], null_is_missing=False
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `n` IN (-1) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "n" IN (-1) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: n INT | missing_values=['N/A'], null_is_missing=False
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN FALSE THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN FALSE THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trip STRUCT<START:DATE,END:DATE> | trip.end | missing_values=['9999-12-31']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `trip`.`end` IS NULL OR `trip`.`end` IN (CAST('9999-12-31' AS DATE)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "trip"."end" IS NULL OR "trip"."end" IN (CAST('9999-12-31' AS DATE)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
