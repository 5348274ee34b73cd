-- aggregate: An aggregate of a column or expression lies within [min_value, max_value].

-- sample: amount INT | function='min', min_value=0
-- spark
SELECT count(*) AS table_rows,
       MIN(`amount`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MIN("amount") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount FLOAT | function='max', max_value=0.1
-- spark
SELECT count(*) AS table_rows,
       MAX(`amount`) AS rule_0_single
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX("amount") AS rule_0_single
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE | function='min', min_value=datetime.date(2024, 1, 1)
-- spark
SELECT count(*) AS table_rows,
       MIN(DATEDIFF(`day`, CAST('1970-01-01' AS DATE))) AS rule_0_days
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MIN(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day")) AS rule_0_days
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | function='max', max_value='2024-06-01'
-- spark
SELECT count(*) AS table_rows,
       MAX(UNIX_MICROS(`at`)) AS rule_0_micros
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) AS rule_0_micros
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | function='max', max_value='2024-06-01T12:00:00'
-- spark
SELECT count(*) AS table_rows,
       MAX(CAST((DATEDIFF(CAST(`at` AS DATE), CAST('1970-01-01' AS DATE)) * CAST(86400 AS BIGINT) + HOUR(`at`) * CAST(3600 AS BIGINT) + MINUTE(`at`) * CAST(60 AS BIGINT) + EXTRACT(SECOND FROM `at`)) * CAST(1000000 AS BIGINT) AS BIGINT)) AS rule_0_local_micros
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX(CAST(TO_UNIXTIME(WITH_TIMEZONE("at", 'UTC')) * 1000000 AS BIGINT)) AS rule_0_local_micros
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: id BIGINT | function='sum', max_value=100000000000000000000 | filtered
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       SUM(CAST(`id` AS DECIMAL(38, 0))) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_sum,
       COUNT(`id`) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       SUM(CAST("id" AS DECIMAL(38, 0))) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_sum,
       COUNT("id") FILTER (WHERE (
country = 'Italy'
)) AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: price DECIMAL(10,2) | function='sum', min_value=Decimal('0.01')
-- spark
SELECT count(*) AS table_rows,
       SUM(`price`) AS rule_0_sum,
       COUNT(`price`) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM("price") AS rule_0_sum,
       COUNT("price") AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: price DECIMAL(38,18) | function='avg', min_value=1, max_value=2
-- spark
SELECT count(*) AS table_rows,
       TRY_SUM(`price`) AS rule_0_sum,
       COUNT(`price`) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM("price") AS rule_0_sum,
       COUNT("price") AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DOUBLE | function='avg', max_value=5
-- spark
SELECT count(*) AS table_rows,
       SUM(`amount`) AS rule_0_sum,
       COUNT(`amount`) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM("amount") AS rule_0_sum,
       COUNT("amount") AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DOUBLE | function='stddev', max_value=5
-- spark
SELECT count(*) AS table_rows,
       STDDEV_SAMP(`amount`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       STDDEV_SAMP("amount") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount INT | function='variance', max_value=5
-- spark
SELECT count(*) AS table_rows,
       VARIANCE(CAST(`amount` AS DOUBLE)) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       VARIANCE(CAST("amount" AS DOUBLE)) AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DOUBLE | function='stddev_pop', max_value=5
-- spark
SELECT count(*) AS table_rows,
       STDDEV_POP(`amount`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       STDDEV_POP("amount") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount INT | function='variance_pop', max_value=5
-- spark
SELECT count(*) AS table_rows,
       VAR_POP(CAST(`amount` AS DOUBLE)) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       VAR_POP(CAST("amount" AS DOUBLE)) AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount INT | function='percentile', percentile=0.95, max_value=5 | filtered
-- spark
SELECT PERCENTILE(CAST(`amount` AS DOUBLE), 0.95) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
);
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       APPROX_PERCENTILE(CAST("amount" AS DOUBLE), 0.95) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DOUBLE | function='median', approximate=True, max_value=5
-- spark
SELECT PERCENTILE_APPROX(`amount`, 0.5) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       APPROX_PERCENTILE("amount", 0.5) AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | function='distinct_count', min_value=5
-- spark
SELECT COUNT(DISTINCT `code`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       COUNT(DISTINCT "code") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | function='approx_distinct_count', min_value=5
-- spark
SELECT APPROX_COUNT_DISTINCT(`code`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       APPROX_DISTINCT("code") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | function='distinct_share', min_value=0.5
-- spark
SELECT COUNT(DISTINCT `code`) AS rule_0_value,
       COUNT(`code`) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       COUNT(DISTINCT "code") AS rule_0_value,
       COUNT("code") AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | function='null_share', max_value=0.1
-- spark
SELECT count(*) AS table_rows,
       COUNT(`code`) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       COUNT("code") AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: x DOUBLE, n INT | function='correlation', min_value=0.5
-- spark
SELECT count(*) AS table_rows,
       COVAR_POP(`x`, CAST(`n` AS DOUBLE)) AS rule_0_covariance,
       VAR_POP(CASE WHEN NOT CAST(`n` AS DOUBLE) IS NULL THEN `x` END) AS rule_0_left,
       VAR_POP(CASE WHEN NOT `x` IS NULL THEN CAST(`n` AS DOUBLE) END) AS rule_0_right
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       COVAR_POP("x", CAST("n" AS DOUBLE)) AS rule_0_covariance,
       VAR_POP(CASE WHEN NOT CAST("n" AS DOUBLE) IS NULL THEN "x" END) AS rule_0_left,
       VAR_POP(CASE WHEN NOT "x" IS NULL THEN CAST("n" AS DOUBLE) END) AS rule_0_right
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: price DOUBLE, n DOUBLE | function='sum', expression='price * n -- net', max_value=5
-- spark
SELECT count(*) AS table_rows,
       SUM((
price * n
)) AS rule_0_sum,
       COUNT((
price * n
)) AS rule_0_count
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM((price * n)) AS rule_0_sum,
       COUNT((price * n)) AS rule_0_count
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trip STRUCT<START:DATE,KM:INT> | trip.km | function='max', max_value=900
-- spark
SELECT count(*) AS table_rows,
       MAX(`trip`.`km`) AS rule_0_value
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       MAX("trip"."km") AS rule_0_value
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
