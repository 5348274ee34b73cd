-- no_future_dates: No DATE lies after the clock's date, no TIMESTAMP after the clock's instant.

-- sample: day DATE
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `day` > CAST('2024-03-10' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "day" > CAST('2024-03-10' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE | timezone='America/St_Johns'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `day` > CAST('2024-03-09' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "day" > CAST('2024-03-09' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | timezone='America/St_Johns'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` > CAST('2024-03-10 03:29:59.999999+00:00' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" > CAST('2024-03-10 03:29:59.999999+00:00' AS TIMESTAMP WITH TIME ZONE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | timezone='Asia/Kathmandu'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` > CAST('2024-03-10 09:14:59.999999' AS TIMESTAMP_NTZ) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" > CAST('2024-03-10 09:14:59.999999' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
