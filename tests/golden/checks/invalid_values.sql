-- invalid_values: Values are valid: each one that is not missing keeps all that is asked of it.

-- sample: size STRING | valid_values=['S', 'M'], invalid_values=["O'Brien"], missing_values=['', 0]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `size` IN ('') AND (NOT (`size` IN ('S', 'M')) OR `size` IN ('O\'Brien')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "size" IN ('') AND (NOT ("size" IN ('S', 'M')) OR "size" IN ('O''Brien')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | pattern='^[A-Z]', full=True, invalid_pattern='x', missing_pattern='^-$'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`code` RLIKE '^-$') AND (NOT (`code` RLIKE '^[A-Z]' AND `code` RLIKE '\\A(?:^[A-Z])\\z') OR (`code` RLIKE 'x')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE("code", '^-$')) AND (NOT (REGEXP_LIKE("code", '^[A-Z]') AND REGEXP_LIKE("code", '\A(?:^[A-Z])\z')) OR (REGEXP_LIKE("code", 'x'))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: day STRING | valid_format='date_us', invalid_format='money'
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`day` RLIKE '\\A *(?:(?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12][0-9]|3[01])[-./](?:[0-9]{4}|[0-9]{2})) *\\z') OR (`day` RLIKE '\\A *(?:[-+]? *(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\\.[0-9]+)?|(?:[0-9]{1,3}(?:\\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?) *(?:[A-Z]{3}|[a-z]{3})) *\\z') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE("day", '\A *(?:(?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12][0-9]|3[01])[-./](?:[0-9]{4}|[0-9]{2})) *\z')) OR (REGEXP_LIKE("day", '\A *(?:[-+]? *(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?) *(?:[A-Z]{3}|[a-z]{3})) *\z')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: amount DOUBLE | valid_min=0, valid_max=9.5, missing_values=[-1]
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT `amount` IN (CAST('-1.0' AS DOUBLE)) AND (`amount` < CAST('0.0' AS DOUBLE) OR `amount` > CAST('9.5' AS DOUBLE) OR ISNAN(`amount`)) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT "amount" IN (CAST('-1.0' AS DOUBLE)) AND ("amount" < CAST('0.0' AS DOUBLE) OR "amount" > CAST('9.5' AS DOUBLE) OR IS_NAN("amount")) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | valid_min_length=2, valid_max_length=3
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH(`code`) < 2 OR LENGTH(`code`) > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH("code") < 2 OR LENGTH("code") > 3 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code VARCHAR(9) | valid_length=3 | filtered
-- spark
SELECT (SELECT count(*) FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) AND (LENGTH(`code`) < 3 OR LENGTH(`code`) > 3) THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
);
-- trino
SELECT (SELECT count(*) FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7) AS table_rows,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) THEN 1 ELSE 0 END), 0) AS scope_0,
       coalesce(sum(CASE WHEN (
country = 'Italy'
) AND (LENGTH("code") < 3 OR LENGTH("code") > 3) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
WHERE (
country = 'Italy'
);

-- sample: n INT | invalid_values=['N/A']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN FALSE THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN FALSE THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: tags ARRAY<STRING> | tags[] | valid_values=['a']
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN exists(`tags`, _lakeproof_item_0 -> NOT (`_lakeproof_item_0` IN ('a'))) THEN 1 ELSE 0 END), 0) AS rule_0,
       coalesce(sum(CASE WHEN exists(`tags`, _lakeproof_item_0 -> NOT (`_lakeproof_item_0` IN ('a'))) THEN size(array_compact(coalesce(flatten(transform(`tags`, (_lakeproof_item_0, _lakeproof_at_0) -> array(CASE WHEN NOT (`_lakeproof_item_0` IN ('a')) THEN named_struct('at', concat('tags[', CAST(_lakeproof_at_0 AS STRING), ']'), 'observed', concat(concat('tags[]=', coalesce(concat(substr(CAST(`_lakeproof_item_0` AS STRING), 1, 60), if(length(CAST(`_lakeproof_item_0` AS STRING)) > 60, '...', '')), 'NULL')))) END))), CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>)))) ELSE 0 END), 0) AS rule_0_elements
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN any_match("tags", _lakeproof_item_0 -> NOT ("_lakeproof_item_0" IN ('a'))) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
