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

-- sample: trip STRUCT<START:DATE,END:DATE> | trip.end
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN `trip`.`end` IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN "trip"."end" IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trips ARRAY<STRUCT<START:DATE,END:DATE>> | trips[].end
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN exists(`trips`, _lakeproof_item_0 -> `_lakeproof_item_0`.`end` IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0,
       coalesce(sum(CASE WHEN exists(`trips`, _lakeproof_item_0 -> `_lakeproof_item_0`.`end` IS NULL) THEN size(array_compact(coalesce(flatten(transform(`trips`, (_lakeproof_item_0, _lakeproof_at_0) -> array(CASE WHEN `_lakeproof_item_0`.`end` IS NULL THEN named_struct('at', concat('trips[', CAST(_lakeproof_at_0 AS STRING), ']', '.end'), 'observed', concat(concat('trips[].end=', coalesce(concat(substr(CAST(`_lakeproof_item_0`.`end` AS STRING), 1, 60), if(length(CAST(`_lakeproof_item_0`.`end` AS STRING)) > 60, '...', '')), 'NULL')))) END))), CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>)))) ELSE 0 END), 0) AS rule_0_elements
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN any_match("trips", _lakeproof_item_0 -> "_lakeproof_item_0"."end" IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trips MAP<STRING,STRUCT<START:DATE,END:DATE>> | trips{}.end
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN exists(map_entries(`trips`), _lakeproof_item_0 -> `_lakeproof_item_0`.`value`.`end` IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0,
       coalesce(sum(CASE WHEN exists(map_entries(`trips`), _lakeproof_item_0 -> `_lakeproof_item_0`.`value`.`end` IS NULL) THEN size(array_compact(coalesce(flatten(transform(map_entries(`trips`), (_lakeproof_item_0, _lakeproof_at_0) -> array(CASE WHEN `_lakeproof_item_0`.`value`.`end` IS NULL THEN named_struct('at', concat('trips{', coalesce(substr(CAST(_lakeproof_item_0.key AS STRING), 1, 200), ''), '}', '.end'), 'observed', concat(concat('trips{}.end=', coalesce(concat(substr(CAST(`_lakeproof_item_0`.`value`.`end` AS STRING), 1, 60), if(length(CAST(`_lakeproof_item_0`.`value`.`end` AS STRING)) > 60, '...', '')), 'NULL')))) END))), CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>)))) ELSE 0 END), 0) AS rule_0_elements
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN any_match(map_values("trips"), _lakeproof_item_0 -> "_lakeproof_item_0"."end" IS NULL) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: trip STRUCT<START:DATE,END:DATE> | trip.end | parent_optional=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `trip` IS NULL AND `trip`.`end` IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "trip" IS NULL AND "trip"."end" IS NULL THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
