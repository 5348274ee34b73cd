-- length_range: Lengths lie within [min_length, max_length]; one bound may be left out.

-- sample: code STRING | min_length=2, max_length=3
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH(`code`) < 2 OR LENGTH(`code`) > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH("code") < 2 OR LENGTH("code") > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code VARCHAR(9) | max_length=3
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH(`code`) > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH("code") > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: photo BINARY | min_length=1
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH(`photo`) < 1 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH("photo") < 1 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: tags ARRAY<STRING> | min_length=1, max_length=9
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `tags` IS NULL AND (SIZE(`tags`) < 1 OR SIZE(`tags`) > 9) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "tags" IS NULL AND (CARDINALITY("tags") < 1 OR CARDINALITY("tags") > 9) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: marks MAP<STRING,INT> | max_length=9
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `marks` IS NULL AND SIZE(`marks`) > 9 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "marks" IS NULL AND CARDINALITY("marks") > 9 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: tags ARRAY<STRING> | tags[] | min_length=1
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN exists(`tags`, _lakeproof_item_0 -> LENGTH(`_lakeproof_item_0`) < 1) THEN 1 ELSE 0 END), 0) AS rule_0,
       coalesce(sum(CASE WHEN exists(`tags`, _lakeproof_item_0 -> LENGTH(`_lakeproof_item_0`) < 1) THEN size(array_compact(coalesce(flatten(transform(`tags`, (_lakeproof_item_0, _lakeproof_at_0) -> array(CASE WHEN LENGTH(`_lakeproof_item_0`) < 1 THEN named_struct('at', concat('tags[', CAST(_lakeproof_at_0 AS STRING), ']'), 'observed', concat(concat('tags[]=', coalesce(concat(substr(CAST(`_lakeproof_item_0` AS STRING), 1, 60), if(length(CAST(`_lakeproof_item_0` AS STRING)) > 60, '...', '')), 'NULL')))) END))), CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>)))) ELSE 0 END), 0) AS rule_0_elements
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN any_match("tags", _lakeproof_item_0 -> LENGTH("_lakeproof_item_0") < 1) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
