-- date_format: Text is a date or time as the pattern writes it, from its first to its last character.

-- sample: day STRING | pattern='dd.MM.uuuu'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `day` IS NULL AND CAST(TRY_TO_TIMESTAMP(`day`, 'dd.MM.yyyy') AS TIMESTAMP_NTZ) IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "day" IS NULL AND CAST(TRY(PARSE_DATETIME("day", 'dd.MM.yyyy')) AS TIMESTAMP) IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at STRING | pattern="yyyy-MM-dd'T'HH:mm:ssXXX"
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `at` IS NULL AND TRY_TO_TIMESTAMP(`at`, 'yyyy-MM-dd\'T\'HH:mm:ssXXX') IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "at" IS NULL AND TRY(PARSE_DATETIME("at", 'yyyy-MM-dd''T''HH:mm:ssXXX')) IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
