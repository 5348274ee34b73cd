-- multiple_of: Numbers are whole multiples of `factor`. Zero is one; NaN, infinity are none; NULL is fine.

-- sample: n INT | factor=5
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `n` % 5 <> 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "n" % 5 <> 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: price DECIMAL(10,2) | factor=0.05
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `price` % 0.05 <> 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "price" % 0.05 <> 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: x DOUBLE | factor=Decimal('0.1')
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN ISNAN(CAST(`x` AS DOUBLE)) OR ABS(CAST(`x` AS DOUBLE)) = CAST('Infinity' AS DOUBLE) OR ABS(CAST(`x` AS DOUBLE) - ROUND(CAST(`x` AS DOUBLE) / CAST(0.1 AS DOUBLE)) * CAST(0.1 AS DOUBLE)) > ABS(CAST(`x` AS DOUBLE)) * CAST('4.440892098500626e-16' AS DOUBLE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN IS_NAN(CAST("x" AS DOUBLE)) OR ABS(CAST("x" AS DOUBLE)) = CAST('Infinity' AS DOUBLE) OR ABS(CAST("x" AS DOUBLE) - ROUND(CAST("x" AS DOUBLE) / CAST(0.1 AS DOUBLE)) * CAST(0.1 AS DOUBLE)) > ABS(CAST("x" AS DOUBLE)) * CAST('4.440892098500626e-16' AS DOUBLE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: x FLOAT | factor=1
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN ISNAN(CAST(`x` AS DOUBLE)) OR ABS(CAST(`x` AS DOUBLE)) = CAST('Infinity' AS DOUBLE) OR ABS(CAST(`x` AS DOUBLE) - ROUND(CAST(`x` AS DOUBLE) / CAST(1 AS DOUBLE)) * CAST(1 AS DOUBLE)) > ABS(CAST(`x` AS DOUBLE)) * CAST('1.1920928955078125e-07' AS DOUBLE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN IS_NAN(CAST("x" AS DOUBLE)) OR ABS(CAST("x" AS DOUBLE)) = CAST('Infinity' AS DOUBLE) OR ABS(CAST("x" AS DOUBLE) - ROUND(CAST("x" AS DOUBLE) / CAST(1 AS DOUBLE)) * CAST(1 AS DOUBLE)) > ABS(CAST("x" AS DOUBLE)) * CAST('1.1920928955078125e-07' AS DOUBLE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
