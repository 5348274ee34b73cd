-- row_count_change: The number of rows has not changed by more than a share since the last run.

-- sample: the table | max_decrease=0.1
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: the table | max_increase=0.5, expected=100 | filtered
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
