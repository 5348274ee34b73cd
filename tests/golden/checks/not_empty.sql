-- not_empty: Text is not '', arrays and maps have elements.

-- sample: code STRING
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH(`code`) = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN LENGTH("code") = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: code STRING | trim=True
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (`code` RLIKE '[^\\u0009-\\u000D \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]') THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN NOT (REGEXP_LIKE("code", '[^\u0009-\u000D \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]')) THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: tags ARRAY<STRING>
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN SIZE(`tags`) = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN CARDINALITY("tags") = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;

-- sample: marks MAP<STRING,INT>
-- spark
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN SIZE(`marks`) = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM `iceberg`.`lakehouse`.`sales` VERSION AS OF 7;
-- trino
SELECT count(*) AS table_rows,
       coalesce(sum(CASE WHEN CARDINALITY("marks") = 0 THEN 1 ELSE 0 END), 0) AS rule_0
FROM "iceberg"."lakehouse"."sales" FOR VERSION AS OF 7;
