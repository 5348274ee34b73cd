-- matches_pattern: Text matches a regular expression, found anywhere or, with `full`, from end to end.

-- sample: code STRING | pattern='^[A-Z]{2}\\d+$'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`code` RLIKE '^[A-Z]{2}\\d+$') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE("code", '^[A-Z]{2}\d+$')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | pattern='it\'s|"\\\\"|${x}\n', full=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`code` RLIKE ('it\'s|"\\\\"|$' || '{x}\n') AND `code` RLIKE ('\\A(?:it\'s|"\\\\"|$' || '{x}\n)\\z')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE("code", ('it''s|"\\"|$' || '{x}
')) AND REGEXP_LIKE("code", ('\A(?:it''s|"\\"|$' || '{x}
)\z'))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING COLLATE UTF8_LCASE | pattern='a'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (CAST(`code` AS STRING) RLIKE 'a') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE(CAST("code" AS VARCHAR), 'a')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
