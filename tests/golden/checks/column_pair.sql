-- column_pair: Two columns of a row stand in a relation, such as `start_at <= end_at`.

-- sample: start_at TIMESTAMP, end_at TIMESTAMP | operator='<='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`start_at` <= `end_at`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("start_at" <= "end_at") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: net DECIMAL(10,2), gross DECIMAL(12,4) | operator='<'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`net` < `gross`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("net" < "gross") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: ordered INT, sent BIGINT | operator='>='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`ordered` >= `sent`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("ordered" >= "sent") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: low FLOAT, high DOUBLE | operator='<'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `low` IS NULL AND NOT `high` IS NULL AND (NOT CAST(`low` AS DOUBLE) < `high` OR ISNAN(CAST(`low` AS DOUBLE)) OR ISNAN(`high`)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "low" IS NULL AND NOT "high" IS NULL AND (NOT CAST("low" AS DOUBLE) < "high" OR IS_NAN(CAST("low" AS DOUBLE)) OR IS_NAN("high")) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: n INT, x FLOAT | operator='!='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `n` IS NULL AND NOT `x` IS NULL AND (CAST(`n` AS DOUBLE) = CAST(`x` AS DOUBLE) OR (ISNAN(CAST(`n` AS DOUBLE)) AND ISNAN(CAST(`x` AS DOUBLE)))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "n" IS NULL AND NOT "x" IS NULL AND (CAST("n" AS DOUBLE) = CAST("x" AS DOUBLE) OR (IS_NAN(CAST("n" AS DOUBLE)) AND IS_NAN(CAST("x" AS DOUBLE)))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: x DOUBLE, y DOUBLE | operator='='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `x` IS NULL AND NOT `y` IS NULL AND NOT (`x` = `y` OR (ISNAN(`x`) AND ISNAN(`y`))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "x" IS NULL AND NOT "y" IS NULL AND NOT ("x" = "y" OR (IS_NAN("x") AND IS_NAN("y"))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: home STRING, a.b `c` "d" select ünï😀 STRING | operator='!='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`home` <> `a.b ``c`` "d" select ünï😀`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("home" <> "a.b `c` ""d"" select ünï😀") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trip STRUCT<START:DATE,END:DATE> | trip.start, trip.end | operator='<='
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`trip`.`start` <= `trip`.`end`) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("trip"."start" <= "trip"."end") THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
