-- delay: The second column comes at most `max_delay` after the first, in every row.

-- sample: sent_at TIMESTAMP, loaded_at TIMESTAMP | max_delay='4h'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN UNIX_MICROS(`loaded_at`) - UNIX_MICROS(`sent_at`) > 14400000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN CAST(TO_UNIXTIME("loaded_at") * 1000000 AS BIGINT) - CAST(TO_UNIXTIME("sent_at") * 1000000 AS BIGINT) > 14400000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE, loaded_at TIMESTAMP_NTZ | max_delay='P1M2D'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN CAST((DATEDIFF(CAST(`loaded_at` AS DATE), CAST('1970-01-01' AS DATE)) * CAST(86400 AS BIGINT) + HOUR(`loaded_at`) * CAST(3600 AS BIGINT) + MINUTE(`loaded_at`) * CAST(60 AS BIGINT) + EXTRACT(SECOND FROM `loaded_at`)) * CAST(1000000 AS BIGINT) AS BIGINT) - (DATEDIFF(DATE_ADD(CAST('1970-01-01' AS DATE), CAST(((DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000) - (((DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000) % 86400000000 + 86400000000) % 86400000000)) / 86400000000 AS INT)) + INTERVAL '1' MONTH, CAST('1970-01-01' AS DATE)) * 86400000000 + (((DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000) % 86400000000 + 86400000000) % 86400000000)) > 172800000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN CAST(TO_UNIXTIME(WITH_TIMEZONE("loaded_at", 'UTC')) * 1000000 AS BIGINT) - (DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), DATE_ADD('DAY', CAST(CAST(((DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day") * 86400000000) - (((DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day") * 86400000000) % 86400000000 + 86400000000) % 86400000000)) AS DOUBLE) / 86400000000 AS INTEGER), CAST('1970-01-01' AS DATE)) + INTERVAL '1' MONTH) * 86400000000 + (((DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day") * 86400000000) % 86400000000 + 86400000000) % 86400000000)) > 172800000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
