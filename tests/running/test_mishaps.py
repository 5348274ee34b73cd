"""What goes wrong beside a rule must not touch it: queries, tables, schemas, other runs."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from lakeproof import ConfigError, QualityCheck, run_check, run_checks
from lakeproof.config import Config, StoreSettings

NAMESPACE = "iceberg.mishaps"
CONFIG = Config(default_namespace="mishaps")
STORE = StoreSettings(namespace="mishaps_state")


@pytest.fixture(scope="module", autouse=True)
def namespace(spark):
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")


def write(spark, name: str, rows: str) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE {NAMESPACE}.{name} USING iceberg AS SELECT * FROM {rows}")


def query(name: str, sql: str, **options) -> QualityCheck:
    return QualityCheck(name, "custom_sql", "sales", params={"sql": sql}, **options)


def run(spark, checks, **options):
    return {r.check_name: r for r in run_checks(spark, checks, config=CONFIG, **options).results}


SALES = "VALUES (1, 'a', 0.1F), (1, NULL, 0.2F), (2, 'b', 0.3F) AS t(id, code, share)"


def test_a_query_that_breaks_only_when_rows_are_listed_is_its_own_error(spark):
    write(spark, "sales", SALES)
    checks = [
        QualityCheck("unique", "uniqueness", "sales", "id"),
        QualityCheck("present", "not_null", "sales", "code"),
        query("cast", "SELECT CAST(code AS INT) AS x FROM sales WHERE code IS NOT NULL"),
        query("regex", "SELECT regexp_extract(code, '(', 1) AS x FROM sales"),
        query("twice", "SELECT a.id, b.id FROM sales a JOIN sales b ON a.id = b.id"),
    ]
    found = run(spark, checks, store=STORE, keys={"sales": ["id"]})
    assert (found["unique"].status, found["unique"].failing_rows) == ("failed", 1)
    assert (found["present"].status, found["present"].new_violations) == ("failed", 1)
    assert {name: found[name].status for name in ("cast", "regex", "twice")} == {
        "cast": "error",
        "regex": "error",
        "twice": "error",
    }
    assert "two columns named 'id'" in found["twice"].details
    assert "'a'" not in found["cast"].details, "a row's value must not reach the result"


def test_the_limit_of_a_query_holds_for_listing_its_rows_too(spark):
    write(spark, "sales", SALES)
    slow = (
        "SELECT sha2(repeat(a.code, 200000), 512) AS x FROM sales a, sales b, sales c, sales d, "
        "sales e, sales f, sales g, sales h, sales i WHERE a.code IS NOT NULL"
    )
    started = time.monotonic()
    found = run(spark, [query("slow", slow, timeout_seconds=3), query("ok", "SELECT 1 FROM sales")])
    assert found["slow"].status == "error"
    assert found["slow"].details == "timed out after 3 s"
    assert (found["ok"].status, found["ok"].failing_rows) == ("failed", 3)
    assert time.monotonic() - started < 120


def test_columns_added_or_dropped_since_the_last_snapshot_are_seen(spark):
    write(spark, "moved", "VALUES (1, 2) AS t(a, b)")
    spark.sql(f"ALTER TABLE {NAMESPACE}.moved ADD COLUMN c INT")
    spark.sql(f"ALTER TABLE {NAMESPACE}.moved DROP COLUMN b")
    names = ("a", "b", "c")
    found = run(spark, [QualityCheck(name, "not_null", "moved", name) for name in names])
    assert [found[name].status for name in names] == ["passed", "error", "failed"]
    assert "schema changed" in found["a"].mode_reason


def test_one_unreadable_table_leaves_the_others_alone(spark):
    write(spark, "sales", SALES)
    checks = [
        QualityCheck("fine", "not_null", "sales", "id"),
        query("branch", "SELECT * FROM iceberg.mishaps.sales.branch_gone"),
    ]
    found = run(spark, checks)
    assert (found["fine"].status, found["branch"].status) == ("passed", "error")


def test_a_float_column_holds_the_bound_that_people_wrote(spark):
    write(spark, "sales", SALES)
    checks = [
        QualityCheck("within", "range", "sales", "share", {"min_value": 0.1, "max_value": 0.3}),
        QualityCheck("known", "accepted_values", "sales", "share", {"accepted": [0.1, 0.2, 0.3]}),
    ]
    assert {result.status for result in run(spark, checks).values()} == {"passed"}


def test_decomposed_text_in_the_data_is_accepted(spark):
    write(spark, "texts", "VALUES ('e\u0301'), ('\u00e9') AS t(s)")
    check = QualityCheck("known", "accepted_values", "texts", "s", {"accepted": ["\u00e9"]})
    assert run_check(spark, check, config=CONFIG).status == "passed"


def test_tables_that_differ_in_case_have_rules_of_their_own(spark):
    write(spark, "Cased", "VALUES (CAST(NULL AS INT)) AS t(id)")
    write(spark, "cased", "VALUES (1) AS t(id)")
    checks = [QualityCheck(name, "not_null", name, "id") for name in ("Cased", "cased")]
    found = run(spark, checks, store=STORE)
    assert (found["Cased"].status, found["cased"].status) == ("failed", "passed")
    assert (found["Cased"].new_violations, found["cased"].new_violations) == (1, 0)


def test_a_filter_that_is_no_condition_is_told_so(spark):
    write(spark, "sales", SALES)
    result = run_check(
        spark, QualityCheck("f", "not_null", "sales", "code", filter="id"), config=CONFIG
    )
    assert result.status == "error"
    assert "must be a condition" in result.details


def test_a_key_for_a_table_that_no_rule_is_on_is_refused(spark):
    write(spark, "sales", SALES)
    check = QualityCheck("c", "not_null", "sales", "code")
    with pytest.raises(ConfigError, match=r"'sale'.*no rule is on that table"):
        run_checks(spark, [check], config=CONFIG, keys={"sale": ["id"]})


def test_a_repeated_run_reads_joined_tables_where_it_read_them_first(spark):
    write(spark, "sales", SALES)
    write(spark, "codes", "VALUES ('a'), ('b') AS t(code)")
    orphans = query(
        "orphans",
        "SELECT s.id FROM sales s LEFT JOIN codes c ON s.code = c.code "
        "WHERE s.code IS NOT NULL AND c.code IS NULL",
    )
    first = run(spark, [orphans], store=STORE, run_id="joined")
    spark.sql(f"DELETE FROM {NAMESPACE}.codes WHERE code = 'b'")
    again = run(spark, [orphans], store=STORE, run_id="joined")
    later = run(spark, [orphans], store=STORE, run_id="later")
    found = [result["orphans"].failing_rows for result in (first, again, later)]
    assert found == [0, 0, 1]


def test_a_run_id_is_refused_for_other_logic_under_the_same_name(spark):
    write(spark, "sales", SALES)
    run(spark, [QualityCheck("c", "not_null", "sales", "id")], store=STORE, run_id="once")
    with pytest.raises(ConfigError, match="'once' was used before"):
        run(spark, [QualityCheck("c", "not_null", "sales", "code")], store=STORE, run_id="once")


def test_a_past_clock_moves_the_rules_and_not_the_lease(spark):
    write(spark, "days", "VALUES (DATE'2020-01-02') AS t(day)")
    check = QualityCheck("past", "no_future_dates", "days", "day")
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    found = run(spark, [check], store=STORE, run_id="backfill", clock=lambda: long_ago)
    assert (found["past"].status, found["past"].executed_at[:10]) == ("failed", "2020-01-01")
    lease = spark.sql(
        "SELECT max(lease_until) AS until FROM iceberg.mishaps_state._quality_intents "
        "WHERE run_id = 'backfill'"
    ).first()["until"]
    assert lease > datetime.now(UTC).replace(tzinfo=None)


def test_the_orphan_query_of_the_seed_runs_as_written(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    for name, rows in {
        "sales": "VALUES (1, 'c1'), (2, 'c2'), (3, NULL) AS t(order_id, customer_id)",
        "customers": "VALUES ('c1') AS t(id)",
    }.items():
        table = f"iceberg.lakehouse.{name}"
        spark.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT * FROM {rows}")
    check = QualityCheck(
        name="sales_no_orphan_customers",
        check_type="custom_sql",
        table_name="sales",
        params={
            "sql": (
                "SELECT s.customer_id "
                "FROM iceberg.lakehouse.sales s "
                "LEFT JOIN iceberg.lakehouse.customers c "
                "  ON s.customer_id = c.id "
                "WHERE c.id IS NULL"
            )
        },
    )
    result = run_check(spark, check)
    assert (result.status, result.failing_rows, result.total_rows) == ("failed", 2, 3)
