-- row_expression: Every row fulfils a SQL condition, written over the table's columns in Spark's SQL.

-- sample: price INT | expression='price > 0 OR country IS NULL;'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (
price > 0 OR country IS NULL
) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (price > 0 OR country IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | expression="code RLIKE '\\\\d' -- digits"
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (
code RLIKE '\\d'
) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE(code, '\d')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
