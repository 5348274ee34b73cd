-- not_matches_pattern: Text does not match a regular expression: it is not found, or with `full` not end to end.

-- sample: code STRING | pattern='(?i)test'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (`code` RLIKE '(?i)test') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (REGEXP_LIKE("code", '(?i)test')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | pattern='x+', full=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (`code` RLIKE 'x+' AND `code` RLIKE '\\A(?:x+)\\z') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (REGEXP_LIKE("code", 'x+') AND REGEXP_LIKE("code", '\A(?:x+)\z')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
