-- not_null: The column holds no NULL. An empty string and NaN are values.

-- sample: order_id BIGINT
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `order_id` IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "order_id" IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: a.b `c` "d" select ünï😀 STRING
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `a.b ``c`` "d" select ünï😀` IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "a.b `c` ""d"" select ünï😀" IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: order_id BIGINT | filtered
-- spark
SELECT (SELECT count(*) FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy' -- only ours
) THEN 1 ELSE 0 END), 0) AS scope_0,
       coalesce(sum(CASE WHEN (
country = 'Italy' -- only ours
) AND (`order_id` IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy' -- only ours
);
-- trino
SELECT (SELECT count(*) FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) AND ("order_id" IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
WHERE (
country = 'Italy'
);
