-- checksum_reconciliation: Both tables have the same rows: every key on both sides, with equal values.

-- sample: id BIGINT, amount DOUBLE, price DECIMAL(10,2), _dlt_id STRING | source: id INT, amount FLOAT, price DECIMAL(12,4) | source_table='raw', key_columns='id'
-- spark, source
SELECT key_0,
       value_0,
       value_1,
       value_2,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, rounded_value_0, value_1, value_2) AS hash_0,
       xxhash64(2L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, value_1, value_2) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       if(abs(value_0) < 2251799813.685248D, rint(value_0 * 1E6D) * 1E-6D, value_0) AS rounded_value_0
FROM (
SELECT CAST(`id` AS bigint) AS key_0,
       CAST(`amount` AS double) AS value_0,
       `country` AS value_1,
       `price` AS value_2,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, target
SELECT key_0,
       value_0,
       value_1,
       value_2,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, rounded_value_0, value_1, value_2) AS hash_0,
       xxhash64(2L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, value_1, value_2) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       if(abs(value_0) < 2251799813.685248D, rint(value_0 * 1E6D) * 1E-6D, value_0) AS rounded_value_0
FROM (
SELECT `id` AS key_0,
       `amount` AS value_0,
       `country` AS value_1,
       CAST(`price` AS decimal(12,4)) AS value_2,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, equal values
SELECT (if(abs(source.value_0) < 2251799813.685248D, rint(source.value_0 * 1E6D) * 1E-6D, source.value_0) <=> if(abs(target.value_0) < 2251799813.685248D, rint(target.value_0 * 1E6D) * 1E-6D, target.value_0) OR coalesce(abs(source.value_0 - target.value_0) <= 5E-7D, false)),
       (source.value_1 <=> target.value_1),
       (source.value_2 <=> target.value_2)
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: id STRING, at TIMESTAMP, price DECIMAL(10,2), note STRING | source: id STRING, at TIMESTAMP_NTZ, price INT, note VARCHAR(9) | source_table='raw', key_columns='id', timestamp_precision='ms', assume_timezone='UTC', column_tolerances={'price': {'absolute': 0.01, 'relative': 0.001}}, normalize={'note': ['trim', 'lower']}, schema='common', sample=0.1
-- spark, source
SELECT key_0,
       value_0,
       value_1,
       value_2,
       value_3,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END) | (CASE WHEN value_3 IS NULL THEN 16L ELSE 0L END), key_0, rounded_value_0, value_1, value_2, value_3) AS hash_0,
       xxhash64(2L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END) | (CASE WHEN value_3 IS NULL THEN 16L ELSE 0L END), key_0, rounded_value_0, value_1, value_2) AS exact_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       date_trunc('MILLISECOND', value_0) AS rounded_value_0
FROM (
SELECT `id` AS key_0,
       timestamp_micros(CAST(CAST(convert_timezone('UTC', 'UTC', `at`) - TIMESTAMP_NTZ'1970-01-01 00:00:00' AS DECIMAL(20, 6)) * 1000000 AS BIGINT)) AS value_0,
       `country` AS value_1,
       lower(trim(CAST(`note` AS string))) AS value_2,
       CAST(`price` AS decimal(12,2)) AS value_3,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows
WHERE pmod(xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0), 1048576) < 104858;
-- spark, target
SELECT key_0,
       value_0,
       value_1,
       value_2,
       value_3,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END) | (CASE WHEN value_3 IS NULL THEN 16L ELSE 0L END), key_0, rounded_value_0, value_1, value_2, value_3) AS hash_0,
       xxhash64(2L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END) | (CASE WHEN value_3 IS NULL THEN 16L ELSE 0L END), key_0, rounded_value_0, value_1, value_2) AS exact_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       date_trunc('MILLISECOND', value_0) AS rounded_value_0
FROM (
SELECT `id` AS key_0,
       `at` AS value_0,
       `country` AS value_1,
       lower(trim(`note`)) AS value_2,
       CAST(`price` AS decimal(12,2)) AS value_3,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows
WHERE pmod(xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0), 1048576) < 104858;
-- spark, equal values
SELECT (date_trunc('MILLISECOND', source.value_0) <=> date_trunc('MILLISECOND', target.value_0)),
       (source.value_1 <=> target.value_1),
       (source.value_2 <=> target.value_2),
       CASE WHEN source.value_3 IS NULL OR target.value_3 IS NULL THEN source.value_3 IS NULL AND target.value_3 IS NULL ELSE coalesce(try_cast(source.value_3 AS DECIMAL(38,2)) = try_cast(target.value_3 AS DECIMAL(38,2)) OR abs(try_cast(target.value_3 AS DECIMAL(32,2)) - try_cast(source.value_3 AS DECIMAL(32,2))) * 1000BD <= 1BD * abs(try_cast(source.value_3 AS DECIMAL(32,2))) OR abs(try_subtract(try_cast(target.value_3 AS DECIMAL(38,2)), try_cast(source.value_3 AS DECIMAL(38,2)))) <= 0.01BD, false) END
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: id BIGINT, tags ARRAY<STRING>, marks MAP<STRING,DOUBLE>, trip STRUCT<START:DATE,KM:FLOAT> | source: id BIGINT, tags ARRAY<STRING>, marks MAP<STRING,DOUBLE>, trip STRUCT<START:DATE,KM:FLOAT> | tags, marks, trip | source_table='raw', key_columns='id', unordered_arrays='tags', hash_algorithm='xxhash128'
-- spark, source
SELECT key_0,
       value_0,
       value_1,
       value_2,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS hash_0,
       xxhash64(1L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS hash_1,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       transform_values(value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`)) AS rounded_value_0,
       sort_array(value_1) AS rounded_value_1,
       if(value_2 IS NULL, NULL, struct(value_2.`start` AS `start`, CAST(if(abs(value_2.`km`) < 2251799813.685248D, rint(value_2.`km` * 1E6D) * 1E-6D, value_2.`km`) AS FLOAT) AS `km`)) AS rounded_value_2
FROM (
SELECT `id` AS key_0,
       `marks` AS value_0,
       `tags` AS value_1,
       `trip` AS value_2,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, target
SELECT key_0,
       value_0,
       value_1,
       value_2,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS hash_0,
       xxhash64(1L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS hash_1,
       xxhash64((CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END) | (CASE WHEN value_0 IS NULL THEN 2L ELSE 0L END) | (CASE WHEN value_1 IS NULL THEN 4L ELSE 0L END) | (CASE WHEN value_2 IS NULL THEN 8L ELSE 0L END), key_0, struct(size(rounded_value_0), sort_array(transform(map_entries(rounded_value_0), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))), struct(size(rounded_value_1), transform(rounded_value_1, `_e0` -> struct(`_e0` IS NULL, `_e0`))), struct((CASE WHEN rounded_value_2.`start` IS NULL THEN 1L ELSE 0L END) | (CASE WHEN rounded_value_2.`km` IS NULL THEN 2L ELSE 0L END), rounded_value_2.`start`, rounded_value_2.`km`)) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       transform_values(value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`)) AS rounded_value_0,
       sort_array(value_1) AS rounded_value_1,
       if(value_2 IS NULL, NULL, struct(value_2.`start` AS `start`, CAST(if(abs(value_2.`km`) < 2251799813.685248D, rint(value_2.`km` * 1E6D) * 1E-6D, value_2.`km`) AS FLOAT) AS `km`)) AS rounded_value_2
FROM (
SELECT `id` AS key_0,
       `marks` AS value_0,
       `tags` AS value_1,
       `trip` AS value_2,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, equal values
SELECT (struct(size(transform_values(source.value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`))), sort_array(transform(map_entries(transform_values(source.value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`))), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value)))) <=> struct(size(transform_values(target.value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`))), sort_array(transform(map_entries(transform_values(target.value_0, (`_k0`, `_e0`) -> if(abs(`_e0`) < 2251799813.685248D, rint(`_e0` * 1E6D) * 1E-6D, `_e0`))), `_e0` -> struct(`_e0`.key, `_e0`.value IS NULL, `_e0`.value))))),
       (sort_array(source.value_1) <=> sort_array(target.value_1)),
       (if(source.value_2 IS NULL, NULL, struct(source.value_2.`start` AS `start`, CAST(if(abs(source.value_2.`km`) < 2251799813.685248D, rint(source.value_2.`km` * 1E6D) * 1E-6D, source.value_2.`km`) AS FLOAT) AS `km`)) <=> if(target.value_2 IS NULL, NULL, struct(target.value_2.`start` AS `start`, CAST(if(abs(target.value_2.`km`) < 2251799813.685248D, rint(target.value_2.`km` * 1E6D) * 1E-6D, target.value_2.`km`) AS FLOAT) AS `km`)))
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's

-- sample: id BIGINT, photo BINARY | source: id BIGINT, photo BINARY | source_table='raw', key_columns='id', hash_algorithm='sha256', float_precision=None
-- spark, source
SELECT key_0,
       value_0,
       value_1,
       CAST(conv(substr(digest, 1, 16), 16, -10) AS BIGINT) AS hash_0,
       CAST(conv(substr(digest, 17, 16), 16, -10) AS BIGINT) AS hash_1,
       CAST(conv(substr(digest, 33, 16), 16, -10) AS BIGINT) AS hash_2,
       CAST(conv(substr(digest, 49, 16), 16, -10) AS BIGINT) AS hash_3,
       CAST(conv(substr(digest, 1, 16), 16, -10) AS BIGINT) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       sha2(to_json(array(CAST(key_0 AS STRING), CAST(value_0 AS STRING), CAST(value_1 AS STRING))), 256) AS digest
FROM (
SELECT `id` AS key_0,
       `country` AS value_0,
       `photo` AS value_1,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`raw` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, target
SELECT key_0,
       value_0,
       value_1,
       CAST(conv(substr(digest, 1, 16), 16, -10) AS BIGINT) AS hash_0,
       CAST(conv(substr(digest, 17, 16), 16, -10) AS BIGINT) AS hash_1,
       CAST(conv(substr(digest, 33, 16), 16, -10) AS BIGINT) AS hash_2,
       CAST(conv(substr(digest, 49, 16), 16, -10) AS BIGINT) AS hash_3,
       CAST(conv(substr(digest, 1, 16), 16, -10) AS BIGINT) AS exact_hash,
       coalesce(CAST(key_0 AS BIGINT), -2305843009213693952L) AS key_hash,
       xxhash64(3L, (CASE WHEN key_0 IS NULL THEN 1L ELSE 0L END), key_0) AS sample_hash,
       null_key,
       is_castable
FROM (
SELECT *,
       sha2(to_json(array(CAST(key_0 AS STRING), CAST(value_0 AS STRING), CAST(value_1 AS STRING))), 256) AS digest
FROM (
SELECT `id` AS key_0,
       `country` AS value_0,
       `photo` AS value_1,
       (`id` IS NULL) AS null_key,
       true AS is_castable
FROM (
SELECT * FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7
) AS _lakeproof_rows
) AS _lakeproof_rows
) AS _lakeproof_rows;
-- spark, equal values
SELECT (source.value_0 <=> target.value_0),
       (source.value_1 <=> target.value_1)
FROM source, target;
-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's
