"""`reconcile` on the shared session: two tables, what differs, and the exit code."""

from __future__ import annotations

import json
import re

import pytest

from lakeproof.reporting.comparison import coloured_comparison

NAMESPACE = "iceberg.cli_pairs"
ORDERS = """
SELECT * FROM VALUES
  (1, 'Ada', 10.5D, DATE'2024-03-01'), (2, 'Bob', 20D, DATE'2024-03-01'),
  (3, 'Eve', 30D, DATE'2024-03-02'), (4, 'Dan', 40D, DATE'2024-03-02')
AS t(id, customer, amount, day)
"""
MOVED = """
SELECT id, IF(id = 3, NULL, customer) AS customer, IF(id = 3, 31D, amount) AS amount, day
FROM iceberg.cli_pairs.orders WHERE id <> 4
UNION ALL SELECT 9, 'Joe', 1D, DATE'2024-03-03'
"""


@pytest.fixture(scope="module")
def pairs(spark):
    """`orders`, a good copy of it, and one with a row changed, one lost and one added."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    tables = {"orders": ORDERS, "copied": f"SELECT * FROM {NAMESPACE}.orders", "moved": MOVED}
    for name, rows in tables.items():
        spark.sql(f"CREATE OR REPLACE TABLE {NAMESPACE}.{name} USING iceberg AS {rows}")


@pytest.fixture
def reconcile(lakeproof, folder, pairs, warehouse):
    (folder / "lakeproof.toml").write_text("default_namespace = 'cli_pairs'\n", encoding="utf-8")
    return lambda *words: lakeproof("reconcile", *words, "--warehouse", warehouse)


def steady(text):
    return re.sub(r"snapshot \d+", "snapshot N", text)


def test_tables_that_agree_are_told_in_a_few_lines(reconcile):
    done = reconcile("orders", "copied", "--key", "id")
    assert (done.exit_code, steady(done.stdout)) == (
        0,
        """\
Reconciled orders (source, snapshot N)
      with copied (target, snapshot N) by id
PASSED  4 keys agree; full table
        0 missing in target, 0 missing in source, 0 changed, 0 surplus rows
        4 rows in source, 4 in target; 4 keys on both sides
        method cells: sums of row hashes show whether and where the tables
        differ
""",
    )


def test_differences_stand_side_by_side_and_all_of_them_in_a_table(reconcile, spark):
    done = reconcile("orders", "moved", "--key", "id", "--output-table", "moved_differences")
    assert (done.exit_code, steady(done.stdout)) == (
        1,
        """\
Reconciled orders (source, snapshot N)
      with moved (target, snapshot N) by id
FAILED  3 of 5 keys differ: 1 missing in target, 1 missing in source, 1 changed
        (amount 1, customer 1); full table
        1 missing in target, 1 missing in source, 1 changed, 0 surplus rows
        4 rows in source, 4 in target; 3 keys on both sides
        method cells: sums of row hashes show whether and where the tables
        differ
        every difference is in iceberg.cli_pairs.moved_differences
Columns
        amount    66.66 % equal, 1 differ
        customer  66.66 % equal, 1 differ
        1 other column: 100 % equal
Changed
        id=3
          amount    30.0 -> 31.0
          customer   Eve -> NULL
Missing in target
        id=4
Missing in source
        id=9
""",
    )
    written = spark.table(f"{NAMESPACE}.moved_differences").orderBy("id").collect()
    assert [(row["id"], row["difference"], row["differing_columns"]) for row in written] == [
        (3, "changed", ["amount", "customer"]),
        (4, "missing_in_target", []),
        (9, "missing_in_source", []),
    ]
    assert written[0]["source_values"]["amount"] == "30.0"
    assert written[0]["target_values"]["customer"] is None


def test_json_is_one_document_and_progress_goes_to_stderr(reconcile):
    done = reconcile("orders", "moved", "--key", "id", "--format", "json", "--hash", "md5")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert list(found) == [
        "passed", "status", "metric_name", "metric_value", "failure_message", "metadata",
    ]  # fmt: skip
    assert (found["passed"], found["status"]) == (False, "failed")
    assert found["metric_value"] == {
        "missing_in_target": 1,
        "missing_in_source": 1,
        "hash_mismatches": 1,
        "total_compared": 5,
        "total_keys": 5,
        "mismatch_pct": 0.6,
        "shared_keys": 3,
        "duplicate_keys": 0,
        "surplus_rows": 0,
        "source_rows": 4,
        "target_rows": 4,
    }
    told = found["metadata"]
    assert told["column_mismatches"] == {"amount": 1, "customer": 1, "day": 0}
    assert {one["kind"]: one["key"] for one in told["samples"]} == {
        "changed": {"id": "3"},
        "missing_in_target": {"id": "4"},
        "missing_in_source": {"id": "9"},
    }
    assert "md5" in told["source_sql"]
    assert "compared with rows of" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--where", "id < 3"], 0, "PASSED  2 keys agree; source and target filtered"),
        (["--partition", "day=2024-03-01"], 0, "PASSED  2 keys agree; day=2024-03-01 only"),
        (["--partition", "day=2024-03-02"], 1, "FAILED  2 of 2 keys differ"),
        (["--columns", "day", "--absolute-tolerance", "2"], 0, "PASSED  2 of 5 keys differ"),
        (["--exclude", "cust*,amount", "--tolerance", "0.4"], 0, "PASSED  2 of 5 keys differ"),
        (["--key", "day", "--duplicate-policy", "multiset"], 1, "FAILED  3 of 5 rows differ"),
        (["--key", "day", "--duplicate-policy", "error"], 3, "ERROR   "),
    ],
)
def test_options_say_which_rows_and_what_may_differ(reconcile, options, code, said):
    key = [] if "--key" in options else ["--key", "id"]
    done = reconcile("orders", "moved", *key, *options)
    assert done.exit_code == code, done.output
    assert said in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere", "moved", "--key", "id"], 3, "Failed to query source table"),
        (["orders", "nowhere", "--key", "id"], 3, "Failed to query target table"),
        (["orders", "./nothing.parquet", "--key", "id"], 3, "Failed to query target table"),
        (["orders", "moved", "--key", "idd"], 3, "no column 'idd' in the source table"),
        (["orders", "moved", "--key", "id", "--columns", "amont"], 3, "Nearest: amount"),
        (["orders", "moved", "--key", "id", "--partition", "dday=1"], 3, "Nearest: day"),
        (["orders", "moved", "--key", "id", "--output-table", "moved"], 3, "name another one"),
        (["orders", "moved", "--key", "id", "--tolerance", "1.5"], 2, "tolerance"),
        (["orders", "moved", "--key", "id", "--tolerance", "nan"], 2, "tolerance"),
        (["orders", "moved", "--key", "id", "--absolute-tolerance", "-1"], 2, "-1"),
        (["orders", "moved", "--key", "id", "--sample", "0"], 2, "sample"),
        (["orders", "moved", "--key", "id", "--where", "id <"], 2, "where_clause"),
        (["orders", "moved", "--key", "id,id"], 2, "'id' twice"),
        (["orders", "moved", "--key", "id,"], 2, "a name is empty"),
        (["orders", "moved", "--key", "id", "--hash", "crc32"], 2, "crc32"),
        (["orders", "moved", "--key", "id", "--partition", "day"], 2, "COL=VALUE"),
        (["orders", "moved"], 2, "--key"),
        (["orders", "--key", "id"], 2, "TARGET"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_told_with_its_exit_code(reconcile, words, code, said):
    done = reconcile(*words)
    assert done.exit_code == code, done.output
    assert said in " ".join((done.stdout if code == 3 else done.stderr).split())


def test_paths_and_tables_are_compared_alike(reconcile, spark, folder):
    spark.table(f"{NAMESPACE}.orders").write.parquet(str(folder / "orders.parquet"))
    done = reconcile("./orders.parquet", "copied", "--key", "id")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Reconciled ./orders.parquet (source)\n")


def test_colour_marks_the_verdict_and_both_values(reconcile):
    done = reconcile("orders", "moved", "--key", "id")
    dressed = coloured_comparison(done.stdout)
    assert dressed.plain == done.stdout
    marked = {(str(one.style), dressed.plain[one.start : one.end]) for one in dressed.spans}
    assert {("red", "30.0"), ("green", "31.0"), ("red", "Eve"), ("green", "NULL")} <= marked
