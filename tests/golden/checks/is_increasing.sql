-- is_increasing: Along a declared order no value is smaller than the one before it.

-- sample: reading DOUBLE, at TIMESTAMP | reading | order_by='at'
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, concat(concat('reading=', coalesce(concat(substr(CAST(`reading` AS STRING), 1, 60), if(length(CAST(`reading` AS STRING)) > 60, '...', '')), 'NULL'))) AS observed FROM (
SELECT * FROM (SELECT *, ((true) AND `reading` IS NOT NULL AND `at` IS NOT NULL AND `reading` < lag(`reading`) OVER (PARTITION BY coalesce((true) AND `reading` IS NOT NULL AND `at` IS NOT NULL, false) ORDER BY `at`, `reading`, 'key')) AS _lakeproof_bad FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7)
WHERE _lakeproof_bad
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
        (
          TRUE
        )
        AND NOT "reading" IS NULL
        AND NOT "at" IS NULL
        AND "reading" < LAG("reading") OVER (
          PARTITION BY COALESCE((
            TRUE
          ) AND NOT "reading" IS NULL AND NOT "at" IS NULL, FALSE)
          ORDER BY "at" NULLS FIRST, "reading" NULLS FIRST, 'key' NULLS FIRST
        )
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;

-- sample: reading INT, at TIMESTAMP, meter STRING | reading | order_by=['at'], within='meter', strict=True | filtered
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, concat(concat('reading=', coalesce(concat(substr(CAST(`reading` AS STRING), 1, 60), if(length(CAST(`reading` AS STRING)) > 60, '...', '')), 'NULL'))) AS observed FROM (
SELECT * FROM (SELECT *, (((
country = 'Italy'
)) AND `reading` IS NOT NULL AND `at` IS NOT NULL AND `reading` <= lag(`reading`) OVER (PARTITION BY coalesce(((
country = 'Italy'
)) AND `reading` IS NOT NULL AND `at` IS NOT NULL, false), `meter` ORDER BY `at`, `reading`, 'key')) AS _lakeproof_bad FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE (
country = 'Italy'
))
WHERE _lakeproof_bad
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
        (
          (
            country = 'Italy'
          )
        )
        AND NOT "reading" IS NULL
        AND NOT "at" IS NULL
        AND "reading" <= LAG("reading") OVER (
          PARTITION BY COALESCE(
            (
              (
                country = 'Italy'
              )
            ) AND NOT "reading" IS NULL AND NOT "at" IS NULL,
            FALSE
          ), "meter"
          ORDER BY "at" NULLS FIRST, "reading" NULLS FIRST, 'key' NULLS FIRST
        )
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;
