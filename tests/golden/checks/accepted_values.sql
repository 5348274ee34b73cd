-- accepted_values: Values belong to a list. NULL never violates; text compares exactly, case included.

-- sample: country STRING | accepted=['Italy', "O'Brien", 'say "x"', 'back\\slash', 'line\nbreak', 'a${b}c', '😀', '']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`country` IN ('Italy', 'O\'Brien', 'say "x"', 'back\\slash', 'line\nbreak', ('a$' || '{b}c'), '😀', '')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("country" IN ('Italy', 'O''Brien', 'say "x"', 'back\slash', 'line
break', ('a$' || '{b}c'), '😀', '')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: status INT | accepted=[1, -2, 3]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`status` IN (1, -2, 3)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("status" IN (1, -2, 3)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: rate DECIMAL(38,10) | accepted=[Decimal('0.1'), 2, -3.5]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`rate` IN (0.1, 2, -3.5)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("rate" IN (0.1, 2, -3.5)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: score DOUBLE | accepted=[0, 0.5, nan, -inf]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`score` IN (CAST('0.0' AS DOUBLE), CAST('0.5' AS DOUBLE), CAST('NaN' AS DOUBLE), CAST('-Infinity' AS DOUBLE))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("score" IN (CAST('0.0' AS DOUBLE), CAST('0.5' AS DOUBLE), CAST('NaN' AS DOUBLE), CAST('-Infinity' AS DOUBLE))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: paid BOOLEAN | accepted=[True]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`paid` IN (TRUE)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("paid" IN (TRUE)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: sku STRING | accepted_table='products'
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, concat(concat('sku=', coalesce(concat(substr(CAST(`sku` AS STRING), 1, 60), if(length(CAST(`sku` AS STRING)) > 60, '...', '')), 'NULL'))) AS observed FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `sku` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM (SELECT `sku` AS _lakeproof_0 FROM `iceberg`.`lakehouse`.`products` VERSION AS OF 7) WHERE _lakeproof_0 = `sku`)
))
GROUP BY violation_key;
-- trino
SELECT
  COUNT(*) AS failing_rows
FROM (
  SELECT
    (
      (
        TRUE
      )
      AND (
        NOT "sku" IS NULL
        AND NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              "sku" AS _lakeproof_0
            FROM "iceberg"."lakehouse"."products" FOR VERSION AS OF 7
          )
          WHERE
            _lakeproof_0 = "sku"
        )
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;

-- sample: day DATE | accepted=[datetime.date(2024, 1, 31), '0001-01-01']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`day` IN (CAST('2024-01-31' AS DATE), CAST('0001-01-01' AS DATE))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("day" IN (CAST('2024-01-31' AS DATE), CAST('0001-01-01' AS DATE))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | accepted=[datetime.datetime(2024, 1, 1, 12, 30, 0, 1, tzinfo=datetime.timezone.utc), '2024-01-01T05:45:00+05:45']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`at` IN (CAST('2024-01-01 12:30:00.000001+00:00' AS TIMESTAMP), CAST('2024-01-01 00:00:00.000000+00:00' AS TIMESTAMP))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("at" IN (CAST('2024-01-01 12:30:00.000001+00:00' AS TIMESTAMP WITH TIME ZONE), CAST('2024-01-01 00:00:00.000000+00:00' AS TIMESTAMP WITH TIME ZONE))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | accepted=['2024-01-01T05:45:00.000001']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`at` IN (CAST('2024-01-01 05:45:00.000001' AS TIMESTAMP_NTZ))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT ("at" IN (CAST('2024-01-01 05:45:00.000001' AS TIMESTAMP))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
