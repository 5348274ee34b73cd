-- max_gap: Between a moment in a column and the next one there is never more than `max_gap`.

-- sample: day DATE | max_gap='1d'
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, concat(concat('day=', coalesce(concat(substr(CAST(`day` AS STRING), 1, 60), if(length(CAST(`day` AS STRING)) > 60, '...', '')), 'NULL'))) AS observed FROM (
SELECT * FROM (SELECT *, ((true) AND `day` IS NOT NULL AND DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000 - lag(DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000) OVER (PARTITION BY coalesce((true) AND `day` IS NOT NULL, false) ORDER BY DATEDIFF(`day`, CAST('1970-01-01' AS DATE)) * 86400000000, 'key') > 86400000000) AS _lakeproof_bad FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7)
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
        AND NOT "day" IS NULL
        AND DATE_DIFF(
          'DAY',
          CAST(CAST(TRY_CAST('1970-01-01' AS DATE) AS TIMESTAMP) AS DATE),
          CAST(CAST("day" AS TIMESTAMP) AS DATE)
        ) * 86400000000 - LAG(
          DATE_DIFF(
            'DAY',
            CAST(CAST(TRY_CAST('1970-01-01' AS DATE) AS TIMESTAMP) AS DATE),
            CAST(CAST("day" AS TIMESTAMP) AS DATE)
          ) * 86400000000
        ) OVER (
          PARTITION BY COALESCE((
            TRUE
          ) AND NOT "day" IS NULL, FALSE)
          ORDER BY DATE_DIFF(
            'DAY',
            CAST(CAST(TRY_CAST('1970-01-01' AS DATE) AS TIMESTAMP) AS DATE),
            CAST(CAST("day" AS TIMESTAMP) AS DATE)
          ) * 86400000000 NULLS FIRST, 'key' NULLS FIRST
        ) > 86400000000
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;

-- sample: at TIMESTAMP | max_gap='1mo' | filtered
-- spark
SELECT violation_key, count(*) AS occurrences, count(*) AS excess, min(observed) AS observed
FROM (SELECT 'key' AS violation_key, concat(concat('at=', coalesce(concat(substr(CAST(`at` AS STRING), 1, 60), if(length(CAST(`at` AS STRING)) > 60, '...', '')), 'NULL'))) AS observed FROM (
SELECT * FROM (SELECT *, (((
country = 'Italy'
)) AND `at` IS NOT NULL AND UNIX_MICROS(`at`) - (DATEDIFF(DATE_ADD(CAST('1970-01-01' AS DATE), CAST(((lag(UNIX_MICROS(`at`)) OVER (PARTITION BY coalesce(((
country = 'Italy'
)) AND `at` IS NOT NULL, false) ORDER BY UNIX_MICROS(`at`), 'key')) - (((lag(UNIX_MICROS(`at`)) OVER (PARTITION BY coalesce(((
country = 'Italy'
)) AND `at` IS NOT NULL, false) ORDER BY UNIX_MICROS(`at`), 'key')) % 86400000000 + 86400000000) % 86400000000)) / 86400000000 AS INT)) + INTERVAL '1' MONTH, CAST('1970-01-01' AS DATE)) * 86400000000 + (((lag(UNIX_MICROS(`at`)) OVER (PARTITION BY coalesce(((
country = 'Italy'
)) AND `at` IS NOT NULL, false) ORDER BY UNIX_MICROS(`at`), 'key')) % 86400000000 + 86400000000) % 86400000000)) > 0) AS _lakeproof_bad FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE (
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
        AND NOT "at" IS NULL
        AND CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT) - (
          DATE_DIFF(
            'DAY',
            CAST(CAST(TRY_CAST('1970-01-01' AS DATE) AS TIMESTAMP) AS DATE),
            CAST(CAST(DATE_ADD(
              'DAY',
              TRY_CAST(CAST((
                (
                  LAG(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) OVER (
                    PARTITION BY COALESCE((
                      (
                        country = 'Italy'
                      )
                    ) AND NOT "at" IS NULL, FALSE)
                    ORDER BY CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT) NULLS FIRST, 'key' NULLS FIRST
                  )
                ) - (
                  (
                    (
                      LAG(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) OVER (
                        PARTITION BY COALESCE((
                          (
                            country = 'Italy'
                          )
                        ) AND NOT "at" IS NULL, FALSE)
                        ORDER BY CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT) NULLS FIRST, 'key' NULLS FIRST
                      )
                    ) % 86400000000 + 86400000000
                  ) % 86400000000
                )
              ) AS DOUBLE) / NULLIF(86400000000, 0) AS INTEGER),
              CAST(CAST(TRY_CAST('1970-01-01' AS DATE) AS TIMESTAMP) AS DATE)
            ) + INTERVAL '1' MONTH AS TIMESTAMP) AS DATE)
          ) * 86400000000 + (
            (
              (
                LAG(CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT)) OVER (
                  PARTITION BY COALESCE((
                    (
                      country = 'Italy'
                    )
                  ) AND NOT "at" IS NULL, FALSE)
                  ORDER BY CAST(TO_UNIXTIME("at") * 1000000 AS BIGINT) NULLS FIRST, 'key' NULLS FIRST
                )
              ) % 86400000000 + 86400000000
            ) % 86400000000
          )
        ) > 0
      )
    ) AS bad
  FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7
)
WHERE
  bad;
