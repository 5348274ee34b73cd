-- key_parity: Both tables have the same keys, however often each occurs.

-- sample: id INT | source: id BIGINT | source_table='raw', key_columns='id'
-- spark, source
SELECT key_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS hash_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT `id` AS key_0,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, target
SELECT key_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS hash_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT CAST(`id` AS bigint) AS key_0,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: id BIGINT, a.b `c` "d" TIMESTAMP | source: id STRING, a.b `c` "d" TIMESTAMP | source_table='raw', key_columns=['id', 'a.b `c` "d"'], key_cast={'id': 'bigint'} | filtered
-- spark, source
SELECT key_0,
       key_1,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS hash_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS exact_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT try_cast(`id` AS bigint) AS key_0,
       `a.b ``c`` "d"` AS key_1,
       (`id` IS NULL OR `a.b ``c`` "d"` IS NULL) AS null_key,
       (`id` IS NULL OR try_cast(`id` AS bigint) IS NOT NULL) AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, target
SELECT key_0,
       key_1,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS hash_0,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS exact_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN key_1 IS NULL THEN 2L ELSE 0L END), key_0, key_1) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT `id` AS key_0,
       `a.b ``c`` "d"` AS key_1,
       (`id` IS NULL OR `a.b ``c`` "d"` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7 WHERE (
country = 'Italy'
)
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's
