-- value_set: The distinct values of a column equal a set, contain it, or lie within it.

-- sample: code STRING | values=['Italy', "O'Brien", 'a${b}c']
-- spark
SELECT SUM(CASE WHEN NOT (`code` IN ('Italy', 'O\'Brien', ('a$' || '{b}c'))) THEN 1 ELSE 0 END) AS rule_0_outside,
       MIN(CASE WHEN NOT (`code` IN ('Italy', 'O\'Brien', ('a$' || '{b}c'))) THEN `code` END) AS rule_0_example,
       COLLECT_SET(CASE WHEN NOT (`code` IN ('Italy', 'O\'Brien', ('a$' || '{b}c'))) THEN NULL ELSE `code` END) AS rule_0_present
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM(CASE WHEN NOT ("code" IN ('Italy', 'O''Brien', ('a$' || '{b}c'))) THEN 1 ELSE 0 END) AS rule_0_outside,
       MIN(CASE WHEN NOT ("code" IN ('Italy', 'O''Brien', ('a$' || '{b}c'))) THEN "code" END) AS rule_0_example,
       ARRAY_AGG(DISTINCT CASE WHEN NOT ("code" IN ('Italy', 'O''Brien', ('a$' || '{b}c'))) THEN NULL ELSE "code" END) AS rule_0_present
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: status INT | values=[1, -2, 0.5], mode='contains'
-- spark
SELECT COLLECT_SET(CASE WHEN NOT (`status` IN (1, -2)) THEN NULL ELSE `status` END) AS rule_0_present
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       ARRAY_AGG(DISTINCT CASE WHEN NOT ("status" IN (1, -2)) THEN NULL ELSE "status" END) AS rule_0_present
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: score DOUBLE | values=[0, nan], mode='within'
-- spark
SELECT SUM(CASE WHEN NOT (`score` IN (CAST('0.0' AS DOUBLE), CAST('NaN' AS DOUBLE))) THEN 1 ELSE 0 END) AS rule_0_outside,
       MIN(CASE WHEN NOT (`score` IN (CAST('0.0' AS DOUBLE), CAST('NaN' AS DOUBLE))) THEN `score` END) AS rule_0_example
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       SUM(CASE WHEN NOT ("score" IN (CAST('0.0' AS DOUBLE), CAST('NaN' AS DOUBLE))) THEN 1 ELSE 0 END) AS rule_0_outside,
       MIN(CASE WHEN NOT ("score" IN (CAST('0.0' AS DOUBLE), CAST('NaN' AS DOUBLE))) THEN "score" END) AS rule_0_example
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE | values=['2024-01-01'] | filtered
-- spark
SELECT SUM(CASE WHEN NOT (`day` IN (CAST('2024-01-01' AS DATE))) THEN 1 ELSE 0 END) AS rule_0_outside,
       MIN(CASE WHEN NOT (`day` IN (CAST('2024-01-01' AS DATE))) THEN DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) END) AS rule_0_example,
       COLLECT_SET(CASE WHEN NOT (`day` IN (CAST('2024-01-01' AS DATE))) THEN NULL ELSE DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) END) AS rule_0_present
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
);
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       SUM(CASE WHEN NOT ("day" IN (CAST('2024-01-01' AS DATE))) THEN 1 ELSE 0 END) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_outside,
       MIN(CASE WHEN NOT ("day" IN (CAST('2024-01-01' AS DATE))) THEN DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day") END) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_example,
       ARRAY_AGG(DISTINCT CASE WHEN NOT ("day" IN (CAST('2024-01-01' AS DATE))) THEN NULL ELSE DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), "day") END) FILTER (WHERE (
country = 'Italy'
)) AS rule_0_present
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | values=['2024-01-01T00:00:00Z'], mode='contains'
-- spark
SELECT COLLECT_SET(CASE WHEN NOT (`at` IN (CAST('2024-01-01 00:00:00.000000+00:00' AS TIMESTAMP))) THEN NULL ELSE UNIX_MICROS(`at`) END) AS rule_0_present
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       ARRAY_AGG(DISTINCT CASE WHEN NOT ("at" IN (CAST('2024-01-01 00:00:00.000000+00:00' AS TIMESTAMP WITH TIME ZONE))) THEN NULL ELSE CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT) END) AS rule_0_present
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
