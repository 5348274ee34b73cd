-- schema: The table has the listed columns, with the listed types.

-- sample: id BIGINT | columns={'id': 'long', 'country': None}
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
