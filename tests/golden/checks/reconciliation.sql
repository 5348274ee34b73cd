-- reconciliation: The table has as many rows as a source, or with `rowcount_gte` at least as many.

-- sample: the table | source_table='raw'
-- spark, source
SELECT count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7;
-- spark, target
SELECT count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: day DATE | source: day DATE, cancelled BOOLEAN | source_table='raw', where_clause='not cancelled -- yet', partition_column='day', partition='2024-03-01' | filtered
-- spark, source
SELECT count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
WHERE (
(
not cancelled
) AND (`day` = CAST('2024-03-01' AS DATE))
);
-- spark, target
SELECT count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
(
country = 'Italy'
) AND (`day` = CAST('2024-03-01' AS DATE))
);
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's
