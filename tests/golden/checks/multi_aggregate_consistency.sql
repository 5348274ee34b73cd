-- multi_aggregate_consistency: Several columns of the table hold what aggregates over a source give, in each group.

-- sample: revenue DOUBLE, a.b `c` "d" INT | source: amount DOUBLE | source_table='raw', aggregates=[{'name': 'mean', 'expression': 'avg(amount)', 'target_column': 'revenue'}, {'name': 'rows', 'expression': 'count(*)', 'target_column': 'a.b `c` "d"'}], group_by='country'
-- spark, source
SELECT `country` AS group_0,
       (
avg(amount)
) AS value_0,
       (
count(*)
) AS value_1
FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
GROUP BY `country`;
-- spark, target
SELECT `country` AS group_0,
       `revenue` AS value_0,
       `a.b ``c`` "d"` AS value_1
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- spark, equal values
SELECT CASE WHEN source.value_0 IS NULL OR target.value_0 IS NULL THEN source.value_0 IS NULL AND target.value_0 IS NULL ELSE (CAST(source.value_0 AS DOUBLE) = CAST(target.value_0 AS DOUBLE)) END,
       CASE WHEN source.value_1 IS NULL OR target.value_1 IS NULL THEN source.value_1 IS NULL AND target.value_1 IS NULL ELSE coalesce(try_cast(source.value_1 AS DECIMAL(38,0)) = try_cast(target.value_1 AS DECIMAL(38,0)), false) END
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's
