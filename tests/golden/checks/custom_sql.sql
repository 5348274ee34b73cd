-- custom_sql: A read-only query that returns the bad rows: none returned means passed.

-- sample: the table | sql='SELECT s.customer_id FROM sales s LEFT JOIN customers c\n  ON s.customer_id = c.id WHERE c.id IS NULL;'
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, '' AS observed FROM (
SELECT s.customer_id FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 s LEFT JOIN `iceberg`.`lakehouse`.`customers` VERSION AS OF 7 c
  ON s.customer_id = c.id WHERE c.id IS NULL
))
GROUP BY violation_key;
-- trino
SELECT s.customer_id FROM sales AS s LEFT JOIN customers AS c ON s.customer_id = c.id WHERE c.id IS NULL;

-- sample: the table | sql="SELECT id FROM sales WHERE note RLIKE 'x' AND day < DATE'2024-01-01'"
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, '' AS observed FROM (
SELECT id FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE note RLIKE 'x' AND day < DATE'2024-01-01'
))
GROUP BY violation_key;
-- trino
SELECT id FROM sales WHERE REGEXP_LIKE(note, 'x') AND day < CAST('2024-01-01' AS DATE);
