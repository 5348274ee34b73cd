-- row_count_range: The number of rows lies within [min_count, max_count]; one bound may be left out.

-- sample: the table | min_count=1, max_count=10
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: the table | min_count=1 | filtered
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
