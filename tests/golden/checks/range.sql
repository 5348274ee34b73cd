-- range: Values lie within [min_value, max_value], bounds included; one bound may be left out.

-- sample: amount DOUBLE | min_value=0.01, max_value=100
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` < CAST('0.01' AS DOUBLE) OR `amount` > CAST('100.0' AS DOUBLE) OR ISNAN(`amount`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" < CAST('0.01' AS DOUBLE) OR "amount" > CAST('100.0' AS DOUBLE) OR IS_NAN("amount") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount FLOAT | min_value=-1.5, max_value=inf
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` < CAST('-1.5' AS FLOAT) OR `amount` > CAST('Infinity' AS FLOAT) OR ISNAN(`amount`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" < CAST('-1.5' AS REAL) OR "amount" > CAST('Infinity' AS REAL) OR IS_NAN("amount") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DECIMAL(38,18) | min_value=Decimal('-0.5'), max_value=10000000000000000000
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` < -0.5 OR `amount` > 10000000000000000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" < -0.5 OR "amount" > 10000000000000000000 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: id BIGINT | min_value=-9223372036854775808, max_value=9223372036854775807
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `id` < -9223372036854775808 OR `id` > 9223372036854775807 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "id" < -9223372036854775808 OR "id" > 9223372036854775807 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: id INT | max_value=7
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `id` > 7 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "id" > 7 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE | min_value='2024-01-01', max_value=datetime.date(9999, 12, 31)
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `day` < CAST('2024-01-01' AS DATE) OR `day` > CAST('9999-12-31' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "day" < CAST('2024-01-01' AS DATE) OR "day" > CAST('9999-12-31' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | min_value=datetime.datetime(2024, 1, 1, 12, 30, 0, 1, tzinfo=datetime.timezone.utc), max_value='2024-06-01'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` < CAST('2024-01-01 12:30:00.000001+00:00' AS TIMESTAMP) OR `at` > CAST('2024-06-01 00:00:00.000000+00:00' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" < CAST('2024-01-01 12:30:00.000001+00:00' AS TIMESTAMP WITH TIME ZONE) OR "at" > CAST('2024-06-01 00:00:00.000000+00:00' AS TIMESTAMP WITH TIME ZONE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | min_value='2024-01-01T00:00:00.000001'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` < CAST('2024-01-01 00:00:00.000001' AS TIMESTAMP_NTZ) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" < CAST('2024-01-01 00:00:00.000001' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: id INT | min_value=0.5, min_exclusive=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `id` IS NULL AND NOT (`id` > 0) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "id" IS NULL AND NOT ("id" > 0) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: x DOUBLE | max_value=1, max_exclusive=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (NOT `x` IS NULL AND NOT (`x` < CAST('1.0' AS DOUBLE))) OR ISNAN(`x`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (NOT "x" IS NULL AND NOT ("x" < CAST('1.0' AS DOUBLE))) OR IS_NAN("x") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at STRING | min_value='08:00', pattern='HH:mm[:ss]'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `at` IS NULL AND (CAST(TRY_TO_TIMESTAMP(`at`, 'HH:mm[:ss]') AS TIMESTAMP_NTZ) IS NULL OR CAST(TRY_TO_TIMESTAMP(`at`, 'HH:mm[:ss]') AS TIMESTAMP_NTZ) < CAST('1970-01-01 08:00:00.000000' AS TIMESTAMP_NTZ)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "at" IS NULL AND (CAST(TRY(PARSE_DATETIME("at", 'HH:mm[:ss]')) AS TIMESTAMP) IS NULL OR CAST(TRY(PARSE_DATETIME("at", 'HH:mm[:ss]')) AS TIMESTAMP) < CAST('1970-01-01 08:00:00.000000' AS TIMESTAMP)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
