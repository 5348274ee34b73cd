-- column_type: The column, or the part of one that a path names, is there and of one of the listed types.

-- sample: id BIGINT | column='id', types='long'
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
