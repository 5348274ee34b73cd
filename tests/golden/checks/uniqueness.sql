-- uniqueness: No value occurs twice; with several columns, no combination. NULLs are not values.

-- sample: order_id BIGINT
-- spark
SELECT coalesce(sum(n - bit_count(bits)), 0) AS surplus_rows
FROM (SELECT count(*) AS n, bit_or(shiftleft(1L, CAST((CAST(`order_id` AS BIGINT) & 63L) AS INT))) AS bits
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `order_id` IS NOT NULL
GROUP BY shiftright(CAST(`order_id` AS BIGINT), 6));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "order_id",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "order_id" IS NULL
  GROUP BY
    "order_id"
);

-- sample: order_id BIGINT, line INT, day DATE
-- spark
SELECT coalesce(sum(n - bit_count(bits)), 0) AS surplus_rows
FROM (SELECT count(*) AS n, bit_or(shiftleft(1L, CAST((CAST(unix_date(`day`) AS BIGINT) & 3L) | shiftleft((CAST(`line` AS BIGINT) & 3L), 2) | shiftleft((CAST(`order_id` AS BIGINT) & 3L), 4) AS INT))) AS bits
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `order_id` IS NOT NULL AND `line` IS NOT NULL AND `day` IS NOT NULL
GROUP BY shiftright(CAST(`order_id` AS BIGINT), 2), shiftright(CAST(`line` AS BIGINT), 2), shiftright(CAST(unix_date(`day`) AS BIGINT), 2));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "order_id",
    "line",
    "day",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "order_id" IS NULL AND NOT "line" IS NULL AND NOT "day" IS NULL
  GROUP BY
    "order_id",
    "line",
    "day"
);

-- sample: country STRING
-- spark
SELECT coalesce(sum(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (SELECT xxhash64(`country`), count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `country` IS NOT NULL
GROUP BY xxhash64(`country`));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "country",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "country" IS NULL
  GROUP BY
    "country"
);

-- sample: country STRING, amount DOUBLE
-- spark
SELECT coalesce(sum(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (SELECT xxhash64(`country`, (`amount` + 0D)), count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `country` IS NOT NULL AND `amount` IS NOT NULL
GROUP BY xxhash64(`country`, (`amount` + 0D)));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "country",
    "amount",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "country" IS NULL AND NOT "amount" IS NULL
  GROUP BY
    "country",
    "amount"
);

-- sample: amount DOUBLE, paid BOOLEAN
-- spark
SELECT coalesce(sum(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (SELECT `amount`, `paid`, count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `amount` IS NOT NULL AND `paid` IS NOT NULL
GROUP BY `amount`, `paid`);
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "amount",
    "paid",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "amount" IS NULL AND NOT "paid" IS NULL
  GROUP BY
    "amount",
    "paid"
);

-- sample: a.b `c` "d" select ünï😀 DECIMAL(10,2) | filtered
-- spark
SELECT coalesce(sum(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (SELECT `a.b ``c`` "d" select ünï😀`, count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
) AND (`a.b ``c`` "d" select ünï😀` IS NOT NULL)
GROUP BY `a.b ``c`` "d" select ünï😀`);
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "a.b `c` ""d"" select ünï😀",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    (
      country = 'Italy'
    ) AND (
      NOT "a.b `c` ""d"" select ünï😀" IS NULL
    )
  GROUP BY
    "a.b `c` ""d"" select ünï😀"
);

-- sample: trip STRUCT<START:DATE,END:DATE> | trip.start
-- spark
SELECT coalesce(sum(n - bit_count(bits)), 0) AS surplus_rows
FROM (SELECT count(*) AS n, bit_or(shiftleft(1L, CAST((CAST(unix_date(`trip`.`start`) AS BIGINT) & 63L) AS INT))) AS bits
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `trip`.`start` IS NOT NULL
GROUP BY shiftright(CAST(unix_date(`trip`.`start`) AS BIGINT), 6));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "trip"."start" AS "trip.start",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "trip"."start" IS NULL
  GROUP BY
    "trip"."start"
);
