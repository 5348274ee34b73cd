-- foreign_key: Each value, or combination of several columns, occurs in another table.

-- sample: customer_id BIGINT | references='customers'
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, '' AS observed FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `customer_id` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM (SELECT `customer_id` AS _lakeproof_0 FROM `iceberg`.`lakehouse`.`customers` VERSION AS OF 7) WHERE _lakeproof_0 = `customer_id`)
))
GROUP BY violation_key;
-- trino
SELECT
  COUNT(*) AS failing_rows
FROM (
  SELECT
    (
      (
        TRUE
      )
      AND (
        NOT "customer_id" IS NULL
        AND NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              "customer_id" AS _lakeproof_0
            FROM "iceberg"."lakehouse"."customers" FOR VERSION AS OF 7
          )
          WHERE
            _lakeproof_0 = "customer_id"
        )
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;

-- sample: order_id BIGINT, a.b `c` "d" select ünï😀 STRING | references='other.ns.orders', referenced_columns=['order_id', 'country'] | filtered
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, '' AS observed FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
) AND (`order_id` IS NOT NULL AND `a.b ``c`` "d" select ünï😀` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM (SELECT `order_id` AS _lakeproof_0, `country` AS _lakeproof_1 FROM `other`.`ns`.`orders` VERSION AS OF 7) WHERE _lakeproof_0 = `order_id` AND _lakeproof_1 = `a.b ``c`` "d" select ünï😀`))
))
GROUP BY violation_key;
-- trino
SELECT
  COUNT(*) AS failing_rows
FROM (
  SELECT
    (
      (
        (
          country = 'Italy'
        )
      )
      AND (
        NOT "order_id" IS NULL
        AND NOT "a.b `c` ""d"" select ünï😀" IS NULL
        AND NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              "order_id" AS _lakeproof_0,
              "country" AS _lakeproof_1
            FROM "other"."ns"."orders" FOR VERSION AS OF 7
          )
          WHERE
            _lakeproof_0 = "order_id" AND _lakeproof_1 = "a.b `c` ""d"" select ünï😀"
        )
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;
