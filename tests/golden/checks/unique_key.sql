-- unique_key: The columns together are a key: no combination occurs twice, and NULL means what you say.

-- sample: id INT
-- spark
SELECT coalesce(sum(n - bit_count(bits)), 0) AS surplus_rows
FROM (SELECT count(*) AS n, bit_or(shiftleft(1L, CAST((CAST(`id` AS BIGINT) & 63L) AS INT))) AS bits
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE `id` IS NOT NULL
GROUP BY shiftright(CAST(`id` AS BIGINT), 6));
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "id",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    NOT "id" IS NULL
  GROUP BY
    "id"
);

-- sample: id INT, line INT | nulls='equal'
-- spark
SELECT coalesce(sum(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (SELECT `id`, `line`, count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
GROUP BY `id`, `line`);
-- trino
SELECT
  COALESCE(SUM(_lakeproof_rows - 1), 0) AS surplus_rows
FROM (
  SELECT
    "id",
    "line",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  GROUP BY
    "id",
    "line"
);

-- sample: id INT, a.b `c` "d" select ünï😀 STRING | nulls='forbid' | filtered
-- spark
SELECT coalesce(sum(CASE WHEN `id` IS NOT NULL AND `a.b ``c`` "d" select ünï😀` IS NOT NULL THEN _lakeproof_rows - 1 ELSE _lakeproof_rows END), 0) AS surplus_rows
FROM (SELECT `id`, `a.b ``c`` "d" select ünï😀`, count(*) AS _lakeproof_rows
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
WHERE (
country = 'Italy'
)
GROUP BY `id`, `a.b ``c`` "d" select ünï😀`);
-- trino
SELECT
  COALESCE(
    SUM(
      CASE
        WHEN NOT "id" IS NULL AND NOT "a.b `c` ""d"" select ünï😀" IS NULL
        THEN _lakeproof_rows - 1
        ELSE _lakeproof_rows
      END
    ),
    0
  ) AS surplus_rows
FROM (
  SELECT
    "id",
    "a.b `c` ""d"" select ünï😀",
    COUNT(*) AS _lakeproof_rows
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
  WHERE
    (
      country = 'Italy'
    )
  GROUP BY
    "id",
    "a.b `c` ""d"" select ünï😀"
);
