-- sql_value: A read-only query that returns one value, within [min_value, max_value].

-- sample: the table | sql='SELECT count(*) FROM sales WHERE country IS NULL;', max_value=0
-- spark
SELECT count(*) AS rule_0_rows, any_value(value) AS rule_0_value
FROM (SELECT * FROM (
SELECT count(*) FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE country IS NULL
) AS query(value) LIMIT 2);
-- trino
SELECT COUNT(*) FROM sales WHERE country IS NULL;

-- sample: the table | sql='SELECT max(price) > 0 FROM sales -- any' | filtered
-- spark
SELECT count(*) AS rule_0_rows, any_value(value) AS rule_0_value
FROM (SELECT * FROM (
SELECT max(price) > 0 FROM (SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE (
country = 'Italy'
)) AS `sales`
) AS query(value) LIMIT 2);
-- trino
SELECT MAX(price) > 0 FROM sales;

-- sample: the table | sql='SELECT count(*) FROM sales VERSION AS OF 3 s', min_value=1
-- spark
SELECT count(*) AS rule_0_rows, any_value(value) AS rule_0_value
FROM (SELECT * FROM (
SELECT count(*) FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 3                 s
) AS query(value) LIMIT 2);
-- trino
SELECT COUNT(*) FROM sales AS s;
