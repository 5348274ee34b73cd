-- ratio: The share of rows that fulfil a condition lies within [min_share, max_share].

-- sample: paid BOOLEAN | condition='paid -- or not', min_share=0.9
-- spark
SELECT count(*) AS table_rows,
       SUM(CASE WHEN (
paid
) THEN 1 ELSE 0 END) AS rule_0_fulfilled
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM(CASE WHEN (paid) THEN 1 ELSE 0 END) AS rule_0_fulfilled
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: price INT | condition='price > 0', min_share=0.1, max_share=0.2 | filtered
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       SUM(CASE WHEN (
price > 0
) THEN 1 ELSE 0 END) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_fulfilled
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       SUM(CASE WHEN (price > 0) THEN 1 ELSE 0 END) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_fulfilled
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
