-- is_normalized: Vectors, as arrays of numbers, have the length 1 in Euclid's sense, within `tolerance`.

-- sample: v ARRAY<FLOAT> | tolerance=0.01
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `v` IS NULL AND NOT COALESCE(ABS(SQRT(AGGREGATE(`v`, CAST('0.0' AS DOUBLE), (total, item) -> total + CAST(item AS DOUBLE) * CAST(item AS DOUBLE), total -> total)) - CAST('1.0' AS DOUBLE)) <= CAST('0.01' AS DOUBLE), FALSE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "v" IS NULL AND NOT COALESCE(ABS(SQRT(REDUCE("v", CAST('0.0' AS DOUBLE), (total, item) -> total + CAST(item AS DOUBLE) * CAST(item AS DOUBLE), total -> total)) - CAST('1.0' AS DOUBLE)) <= CAST('0.01' AS DOUBLE), FALSE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
