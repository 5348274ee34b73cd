-- freshness: The newest value of a date or timestamp column is at most `max_age` old.

-- sample: day DATE | max_age='2d', timezone='Europe/Berlin'
-- spark
SELECT count(*) AS table_rows,
       MAX(DATEDIFF(`day`, CAST('1970-01-01' AS DATE))) AS rule_0_days
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day")) AS rule_0_days
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | max_age='36h'
-- spark
SELECT count(*) AS table_rows,
       MAX(UNIX_MICROS(`at`)) AS rule_0_micros
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) AS rule_0_micros
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | max_age='2d', by_day=True
-- spark
SELECT count(*) AS table_rows,
       MAX(UNIX_MICROS(`at`)) AS rule_0_micros
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) AS rule_0_micros
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | max_age=90 | filtered
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       MAX(CAST((DATEDIFF(CAST(`at` AS DATE), CAST('1970-01-01' AS DATE)) * CAST(86400 AS BIGINT) + HOUR(`at`) * CAST(3600 AS BIGINT) + MINUTE(`at`) * CAST(60 AS BIGINT) + EXTRACT(SECOND FROM `at`)) * CAST(1000000 AS BIGINT) AS BIGINT)) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_local_micros
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       MAX(CAST(TO_UNIXTIME(WITH_TIMEZONE("at", 'UTC')) * 1000000 AS BIGINT)) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_local_micros
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
