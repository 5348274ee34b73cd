-- column_count_range: The number of columns lies within [min_count, max_count]; one bound may be left out.

-- sample: id BIGINT | min_count=1, max_count=3
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
