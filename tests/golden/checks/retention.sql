-- retention: No DATE or TIMESTAMP is more than `max_age` before the run's clock.

-- sample: day DATE | max_age='3y'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `day` < CAST('2021-03-10' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "day" < CAST('2021-03-10' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day DATE | max_age='36h', timezone='America/St_Johns'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `day` < CAST('2024-03-08' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "day" < CAST('2024-03-08' AS DATE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP | max_age='P1Y2M10DT2H30M'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` < CAST('2022-12-31 00:59:59.999999+00:00' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" < CAST('2022-12-31 00:59:59.999999+00:00' AS TIMESTAMP WITH TIME ZONE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: at TIMESTAMP_NTZ | max_age='1y', timezone='Asia/Kathmandu'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `at` < CAST('2023-03-10 09:14:59.999999' AS TIMESTAMP_NTZ) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "at" < CAST('2023-03-10 09:14:59.999999' AS TIMESTAMP) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: seen ARRAY<DATE> | seen[] | max_age='9999y'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN exists(`seen`, _lakeproof_item_0 -> FALSE) THEN 1 ELSE 0 END), 0) AS rule_0,
       coalesce(sum(CASE WHEN exists(`seen`, _lakeproof_item_0 -> FALSE) THEN size(array_compact(coalesce(flatten(transform(`seen`, (_lakeproof_item_0, _lakeproof_at_0) -> array(CASE WHEN FALSE THEN named_struct('at', concat('seen[', CAST(_lakeproof_at_0 AS STRING), ']'), 'observed', concat(concat('seen[]=', coalesce(concat(substr(CAST(`_lakeproof_item_0` AS STRING), 1, 60), if(length(CAST(`_lakeproof_item_0` AS STRING)) > 60, '...', '')), 'NULL')))) END))), CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>)))) ELSE 0 END), 0) AS rule_0_elements
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN any_match("seen", _lakeproof_item_0 -> FALSE) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
