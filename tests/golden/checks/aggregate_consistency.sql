-- aggregate_consistency: A column of the table holds what an aggregate over a source gives, in each group.

-- sample: revenue DECIMAL(18,2) | source: amount DECIMAL(10,2) | source_table='raw', aggregate_column='revenue', source_expression='sum(amount) -- net', group_by='country', tolerance=0.01, absolute_tolerance=0.5 | filtered
-- spark, source
SELECT `country` AS group_0,
       (
sum(amount)
) AS value_0
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
GROUP BY `country`;
-- spark, target
SELECT `country` AS group_0,
       `revenue` AS value_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
);
-- spark, equal values
SELECT CASE WHEN source.value_0 IS NULL OR target.value_0 IS NULL THEN source.value_0 IS NULL AND target.value_0 IS NULL ELSE coalesce(try_cast(source.value_0 AS DECIMAL(38,2)) = try_cast(target.value_0 AS DECIMAL(38,2)) OR abs(try_cast(target.value_0 AS DECIMAL(33,2)) - try_cast(source.value_0 AS DECIMAL(33,2))) * 100BD <= 1BD * abs(try_cast(source.value_0 AS DECIMAL(33,2))) OR abs(try_subtract(try_cast(target.value_0 AS DECIMAL(38,2)), try_cast(source.value_0 AS DECIMAL(38,2)))) <= 0.50BD, false) END
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: orders INT | source_table='raw', aggregate_column='orders', source_expression='count(*)'
-- spark, source
SELECT (
count(*)
) AS value_0,
       count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7;
-- spark, target
SELECT if(count(*) = 0, 0, sum(`orders`)) AS value_0,
       count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- spark, equal values
SELECT CASE WHEN source.value_0 IS NULL OR target.value_0 IS NULL THEN source.value_0 IS NULL AND target.value_0 IS NULL ELSE coalesce(try_cast(source.value_0 AS DECIMAL(38,0)) = try_cast(target.value_0 AS DECIMAL(38,0)), false) END
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: last DATE | source: day DATE | source_table='raw', aggregate_column='last', source_expression='max(day)', target_expression='max(last)'
-- spark, source
SELECT (
max(day)
) AS value_0,
       count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7;
-- spark, target
SELECT (
max(last)
) AS value_0,
       count(*) AS `rows`
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- spark, equal values
SELECT CASE WHEN source.value_0 IS NULL OR target.value_0 IS NULL THEN source.value_0 IS NULL AND target.value_0 IS NULL ELSE (source.value_0 = target.value_0) END
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's
