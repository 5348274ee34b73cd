-- positive: Numbers are above 0. Zero and NaN violate, NULL does not.

-- sample: amount DOUBLE
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` <= 0 OR ISNAN(`amount`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" <= 0 OR IS_NAN("amount") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DECIMAL(10,2)
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` <= CAST(0 AS DECIMAL(10, 2)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" <= CAST(0 AS DECIMAL(10, 2)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount INT
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `amount` <= 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "amount" <= 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
