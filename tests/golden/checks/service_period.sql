-- service_period: The run's clock stands between `starts_at` and `ends_at`: the data is in service.

-- sample: the table | starts_at='2022-05-12', ends_at='2032-05-12T09:30:10-08:00'
-- spark
SELECT count(*) AS table_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
