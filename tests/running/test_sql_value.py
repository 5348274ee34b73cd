"""A query that returns one value, and the rows that it counts where they are bad ones."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakeproof import QualityCheck, plan, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.contracts.suite import rules_of
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.rule import Rule
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.explain import plan_sql
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Runner

TABLE = "iceberg.sql_value.stock_v1"
DELTA = "spark_catalog.default.stock_delta"
NOW = datetime(2026, 1, 15, tzinfo=UTC)

ROWS = """
SELECT * FROM VALUES
  (1, 5, 'IT'), (2, -1, 'IT'), (3, -2, 'XX'), (4, 0, NULL), (5, NULL, 'DE')
AS t(id, qty, country)
"""


@pytest.fixture(scope="module")
def stock(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.sql_value")
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS {ROWS}")
    spark.sql(f"CREATE OR REPLACE TABLE {DELTA} USING delta AS {ROWS}")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.sql_value.countries USING iceberg AS "
        "SELECT * FROM VALUES ('IT'), ('DE') AS t(code)"
    )
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.sql_value.none_yet USING iceberg AS "
        f"SELECT * FROM ({ROWS}) WHERE false"
    )
    return TABLE


def judged(spark, sql, comparison=None, table=TABLE, where=None, **bounds):
    """The result of one query, in a contract's way with a comparison and in Python's without."""
    check = QualityCheck("value", "sql_value", table, params={"sql": sql, **bounds}, filter=where)
    rules = rules_of([check], Config())
    if comparison is not None:
        rules = [
            replace(rule, comparison=comparison) if isinstance(rule, Rule) else rule
            for rule in rules
        ]
    defaults = Defaults(
        resolve=lambda name: name.resolve("iceberg", "sql_value"),
        key_of=lambda table: () if table.short == "countries" else ("id",),
    )
    engine = SparkEngine(spark)
    made = build_plan(rules, engine, defaults, NOW)
    (result,) = Runner(engine).run(made, RunLabels("run"), lambda _positions: made).results
    return result


def is_(operator, value, unit=Unit.NONE):
    return Comparison((Term(operator, value),), unit)


NONE = is_(Operator.MUST_BE, 0)
TRUTH = Comparison()


def keys(result):
    return sorted(int(json.loads(key)["id"][1]) for key in result.sample_keys)


VALUES = {
    "a count that is not zero is true": ("SELECT count(*) FROM stock_v1", TRUTH, "passed"),
    "a count of zero is false": ("SELECT count(*) FROM stock_v1 WHERE id > 9", TRUTH, "failed"),
    "true": ("SELECT max(qty) = 5 FROM stock_v1;", TRUTH, "passed"),
    "false": ("SELECT max(qty) = 6 FROM stock_v1", TRUTH, "failed"),
    "mustBe true": ("SELECT max(qty) = 5 FROM stock_v1", is_(Operator.MUST_BE, True), "passed"),
    "a decimal": ("SELECT 1.10BD", is_(Operator.MUST_BE, 1.1), "passed"),
    "a double": ("SELECT avg(id) FROM stock_v1", is_(Operator.MUST_BE, 3), "passed"),
    "a text": ("SELECT min(country) FROM stock_v1", is_(Operator.MUST_BE, "DE"), "passed"),
    "NULL fails": ("SELECT max(qty) FROM none_yet", is_(Operator.MUST_NOT_BE, 7), "failed"),
    "NULL is not true": ("SELECT NULL", TRUTH, "failed"),
    "a lower bound": ("SELECT count(*) FROM stock_v1", is_(Operator.GREATER, 5), "failed"),
    "a CTE": ("WITH a AS (SELECT 1 AS x) SELECT x FROM a", is_(Operator.MUST_BE, 1), "passed"),
}


@pytest.mark.parametrize("case", VALUES)
def test_the_value_is_held_against_the_comparison(spark, stock, case):
    sql, comparison, status = VALUES[case]
    result = judged(spark, sql, comparison)
    assert (result.status, result.sample_keys) == (status, ()), result.details


ERRORS = {
    "two rows": ("SELECT id FROM stock_v1", "more than one row"),
    "no row": ("SELECT id FROM stock_v1 WHERE id > 9", "no row"),
    "two columns": ("SELECT count(*), 1 FROM stock_v1", "2 columns"),
    "a date": ("SELECT DATE'2024-01-01'", "DATE"),
    "an array": ("SELECT array(1)", "ARRAY<INT>"),
    "no such column": ("SELECT max(nope) FROM stock_v1", "nope"),
    "no query": ("DROP TABLE stock_v1", "begins with SELECT"),
    "two statements": ("SELECT 1; SELECT 2", "several statements"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_is_not_one_value_is_an_error(spark, stock, case):
    sql, told = ERRORS[case]
    result = judged(spark, sql, NONE)
    assert result.status == "error"
    assert told in result.details


UNKNOWN_COUNTRY = """
SELECT count(*) FROM stock_v1 s LEFT JOIN countries c ON s.country = c.code
WHERE c.code IS NULL AND s.country IS NOT NULL -- unknown
"""
COUNTED = {
    "count(*)": ("SELECT COUNT(*) AS bad FROM stock_v1 WHERE qty < 0", [2, 3]),
    "count of a column": ("SELECT count(country) FROM stock_v1 WHERE qty <= 0", [2, 3]),
    "count_if": ("SELECT count_if(qty < 0) FROM stock_v1 AS s WHERE country = 'IT'", [2]),
    "sum": ("SELECT sum(CASE WHEN qty < 0 THEN 1 ELSE 0 END) FROM stock_v1", [2, 3]),
    "FILTER": ("SELECT count(*) FILTER (WHERE qty < 0) FROM stock_v1", [2, 3]),
    "a join": (UNKNOWN_COUNTRY, [3]),
    "a subquery": (
        "SELECT count(1) FROM stock_v1 WHERE country NOT IN (SELECT code FROM countries)",
        [3],
    ),
}


@pytest.mark.parametrize("case", COUNTED)
def test_rows_that_must_not_be_counted_are_listed(spark, stock, case):
    sql, bad = COUNTED[case]
    for table in (TABLE, DELTA):
        result = judged(spark, sql.replace("stock_v1", table), NONE, table)
        assert (result.status, keys(result)) == ("failed", bad), result.details


UNLISTED = {
    "a lower bound": ("SELECT count(*) FROM stock_v1 WHERE qty < 0", is_(Operator.GREATER, 5)),
    "truth": ("SELECT count(*) = 0 FROM stock_v1 WHERE qty < 0", TRUTH),
    "a range": (
        "SELECT count(*) FROM stock_v1",
        Comparison((Term(Operator.BETWEEN, 7, 9),)),
    ),
    "groups": ("SELECT count(*) FROM (SELECT country FROM stock_v1 GROUP BY country)", NONE),
    "a self join": (
        "SELECT count(*) FROM stock_v1 a JOIN stock_v1 b ON a.id = b.id",
        NONE,
    ),
    "another table": ("SELECT count(*) FROM countries", NONE),
    "no count": ("SELECT max(id) FROM stock_v1", NONE),
    "the far side of a semi join": (
        "SELECT count(*) FROM countries c LEFT SEMI JOIN stock_v1 s ON s.country = c.code",
        NONE,
    ),
}


@pytest.mark.parametrize("case", UNLISTED)
def test_other_values_fail_without_rows(spark, stock, case):
    result = judged(spark, *UNLISTED[case])
    assert (result.status, result.sample_keys) == ("failed", ()), result.details


def test_a_passing_count_lists_what_it_tolerates(spark, stock):
    sql = "SELECT count(*) FROM stock_v1 WHERE qty < 0"
    result = judged(spark, sql, is_(Operator.LESS, 5))
    assert (result.status, keys(result)) == ("passed", [2, 3])


def test_a_count_in_percent_is_one_of_the_rows_in_scope(spark, stock):
    sql = "SELECT count(*) FROM stock_v1 WHERE qty < 0"
    percent = is_(Operator.LESS_OR_EQUAL, 40, Unit.PERCENT)
    assert judged(spark, sql, percent).status == "passed"
    assert judged(spark, sql, percent, where="qty IS NOT NULL").status == "failed"


def test_a_filter_narrows_the_checked_table_and_its_rows(spark, stock):
    sql = "SELECT count(*) FROM stock_v1 WHERE stock_v1.qty < 0"
    result = judged(spark, sql, NONE, where="country = 'IT' -- only")
    assert (keys(result), result.total_rows) == ([2], 2)


def test_a_query_with_its_own_time_travel_keeps_it(spark, stock):
    table = "iceberg.sql_value.moving"
    spark.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT 1 AS id")
    first = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").first()[0]
    spark.sql(f"INSERT INTO {table} VALUES (2), (3)")
    now = judged(spark, "SELECT count(*) FROM moving", is_(Operator.MUST_BE, 3), table)
    then = f"SELECT count(*) FROM moving VERSION AS OF {first} m WHERE m.id > 0"
    listed = judged(spark, then, NONE, table)
    assert (now.status, listed.status, keys(listed)) == ("passed", "failed", [1])


def test_python_suites_bound_the_value(spark, stock):
    sql = "SELECT count(*) FROM stock_v1 WHERE qty < 0"
    most = judged(spark, sql, max_value=1)
    least = judged(spark, sql, min_value=3)
    true = judged(spark, sql)
    assert (most.status, most.failing_rows, keys(most)) == ("failed", 2, [2, 3])
    assert (least.status, least.failing_rows, least.sample_keys) == ("failed", 1, ())
    assert (true.status, true.failing_rows, true.sample_keys) == ("passed", 0, ())
    assert "outside value <= 1" in most.details


def test_rows_that_are_not_as_many_as_counted_are_not_shown(spark, stock, monkeypatch):
    from lakeproof.planning.bind import RuleBinder

    counted = RuleBinder._counted_rows

    def one_row_more(self, text, pinned, scope):
        return counted(self, text.replace("qty < 0", "qty <= 0"), pinned, scope)

    monkeypatch.setattr(RuleBinder, "_counted_rows", one_row_more)
    result = judged(spark, "SELECT count(*) FROM stock_v1 WHERE qty < 0", NONE)
    assert (result.status, result.sample_keys) == ("failed", ())
    assert "bad rows were not listed: the query counted 2, and 3 were found" in result.details


def test_a_broken_listing_leaves_the_verdict(spark, stock, monkeypatch):
    from lakeproof.planning.bind import RuleBinder

    broken = (
        "SELECT raise_error('x') AS violation_key, 1 AS occurrences, 1 AS excess, '' AS observed"
    )
    monkeypatch.setattr(RuleBinder, "_counted_rows", lambda *_: broken)
    result = judged(spark, "SELECT count(*) FROM stock_v1 WHERE qty < 0", NONE)
    assert (result.status, result.sample_keys) == ("failed", ())
    assert "bad rows were not listed" in result.details


def test_the_plan_shows_the_query_and_the_rows_it_lists(spark, stock):
    checks = [
        QualityCheck(
            "bad",
            "sql_value",
            TABLE,
            params={"sql": f"SELECT count(*) FROM {TABLE} WHERE qty < 0", "max_value": 0},
        ),
        QualityCheck("one", "sql_value", TABLE, params={"sql": "SELECT 1"}),
    ]
    config = Config(tables={TABLE: TableSettings(key=("id",))})
    planned = plan(spark, checks, config=config)
    assert planned.tables[0].actions == 3
    text = plan_sql(planned)
    assert "value for bad" in text
    assert "SELECT `stock_v1`.*" in text
    assert text.count("any_value(value)") == 2
    outcome = run_checks(spark, checks, config=config)
    assert [result.status for result in outcome.results] == ["failed", "passed"]
    assert outcome.violations().count() == 2
