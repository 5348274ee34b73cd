"""What a hostile reader found in the everyday checks, each as a claim that it stays mended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof import CheckDefinitionError, EngineUnavailableError, QualityCheck, run_checks, split
from lakeproof.config import Config, StoreSettings, TableSettings
from lakeproof.contracts.suite import rules_of
from lakeproof.planning.settings import table_settings, with_keys

PEOPLE = "iceberg.everyday.people"
STORE = StoreSettings(namespace="everyday_state")


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.everyday")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.everyday")
    spark.sql(
        f"CREATE OR REPLACE TABLE {PEOPLE} USING iceberg AS SELECT * FROM VALUES "
        "(1, 'SECRET-1', 1), (2, 'SECRET-2', 0), (2, 'SECRET-1', -1) AS t(id, ssn, x)"
    )


def everything_said(outcome) -> str:
    hits = [str(row) for row in outcome.violations().collect()]
    return "\n".join([str(outcome), str(outcome.to_dict()), *hits])


HIDDEN = Config(tables={PEOPLE: TableSettings(sensitive=("ssn",))})
TELLING = [
    QualityCheck("unique", "uniqueness", PEOPLE, "ssn"),
    QualityCheck("shape", "matches_pattern", PEOPLE, "ssn", {"pattern": "^[0-9]+$"}),
    QualityCheck("set", "value_set", PEOPLE, "ssn", {"values": ["a"], "mode": "within"}),
    QualityCheck(
        "largest", "aggregate", PEOPLE, params={"function": "max", "expression": "length(ssn)",
                                                "max_value": 1}
    ),
    QualityCheck("named", "custom_sql", PEOPLE, params={"sql": f"SELECT ssn AS id FROM {PEOPLE}"}),
]  # fmt: skip


def test_a_key_named_in_the_call_leaves_sensitive_columns_hidden(spark):
    outcome = run_checks(spark, TELLING, config=HIDDEN, keys={PEOPLE: ["id"]})
    said = everything_said(outcome)
    assert [result.status for result in outcome.results] == ["failed"] * 5
    assert "SECRET" not in said
    assert "withheld" in said
    shown = everything_said(run_checks(spark, TELLING, keys={PEOPLE: ["id"]}))
    assert "SECRET-1" in shown  # what is hidden above is there to be found


def test_settings_of_a_table_are_found_by_any_of_its_names():
    config = Config(
        tables={
            "Sales": TableSettings(sensitive=("a",)),
            "iceberg.lakehouse.sales": TableSettings(("k",), ("b",)),
        }
    )
    (rule,) = rules_of([QualityCheck("x", "not_null", "sales", "a")], config)
    assert table_settings(config, rule.table) == TableSettings(("k",), ("a", "b"))
    keyed = with_keys(config, {"sales": "id"})
    assert table_settings(keyed, rule.table) == TableSettings(("id",), ("a", "b"))


def test_a_run_without_bad_rows_lists_none(spark):
    check = QualityCheck("there", "not_null", PEOPLE, "id")
    assert run_checks(spark, [check]).violations().count() == 0


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ("CAST(1.4 AS DECIMAL(38,10))", "CAST(1 AS DECIMAL(38,0))", "more than 38 digits"),
        ("CAST(0.1 AS FLOAT)", "CAST(0.1 AS DOUBLE)", "another number"),
        ("1", "'1'", "not alike"),
    ],
)
@pytest.mark.parametrize("check", ["foreign_key", "accepted_values"])
def test_columns_that_cannot_be_compared_exactly_are_refused(spark, ours, theirs, told, check):
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.everyday.ours USING iceberg AS SELECT {ours} AS v")
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.everyday.them USING iceberg AS SELECT {theirs} AS v"
    )
    name = "references" if check == "foreign_key" else "accepted_table"
    rule = QualityCheck("x", check, "iceberg.everyday.ours", "v", {name: "iceberg.everyday.them"})
    (result,) = run_checks(spark, [rule]).results
    assert result.status == "error"
    assert told in result.details


def test_another_table_is_one_rule_by_its_short_and_its_full_name():
    def rule_id(other, namespace="lakehouse"):
        config = Config(default_namespace=namespace)
        table = "iceberg.lakehouse.sales"
        checks = [
            QualityCheck("fk", "foreign_key", table, "c", {"references": other}),
            QualityCheck("in", "accepted_values", table, "c", {"accepted_table": other}),
        ]
        return [rule.rule_id for rule in rules_of(checks, config)]

    assert rule_id("customers") == rule_id("iceberg.lakehouse.customers")
    assert rule_id("customers") != rule_id("customers", "dev")


def test_columns_in_another_unicode_form_are_found_by_every_check(spark):
    table, nfd = "iceberg.everyday.forms", "e\u0301"
    spark.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT 1 AS id, 1 AS `{nfd}`")
    checks = [
        QualityCheck("rising", "is_increasing", table, "id", {"order_by": "é"}),
        QualityCheck("known", "foreign_key", table, "é", {"references": table}),
        QualityCheck("columns", "schema", table, params={"columns": ["É"]}),
    ]
    assert [result.status for result in run_checks(spark, checks).results] == ["passed"] * 3


def test_a_count_is_compared_with_the_run_before_even_if_repeated_later(spark):
    table = "iceberg.everyday.growing"
    checks = [QualityCheck("rows", "row_count_change", table, params={"max_increase": 0.5})]

    def run(run_id, rows, limit=0.5):
        spark.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT id FROM range({rows})")
        again = [QualityCheck("rows", "row_count_change", table, params={"max_increase": limit})]
        return run_checks(spark, again, store=STORE, run_id=run_id).results[0]

    assert run("first", 100).status == "skipped"
    assert run("second", 140).status == "passed"
    assert run("stricter", 200, limit=0.1).status == "failed"  # against 140: the history goes on
    (repeated,) = run_checks(spark, checks, store=STORE, run_id="first").results
    assert repeated.status == "skipped"


def test_a_stream_refuses_what_depends_on_the_moment(spark, tmp_path):
    spark.sql("SELECT current_timestamp() AS at").write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("at timestamp").parquet(str(tmp_path / "in"))
    with pytest.raises(CheckDefinitionError, match="the present moment: late"):
        split(stream, [QualityCheck("late", "no_future_dates", "t", "at")])


def test_a_frame_is_not_taken_for_the_table_it_stands_for(spark):
    spark.sql("SELECT 7 AS id").createOrReplaceTempView("the_frame")
    frame = spark.sql("SELECT 1 AS id, 1 AS parent")
    own = QualityCheck("parent", "foreign_key", "t", "parent",
                       {"references": "t", "referenced_columns": "id"})  # fmt: skip
    with pytest.raises(CheckDefinitionError, match="for which the frame stands"):
        split(frame, [own])


def test_settings_that_change_answers_are_refused_by_split_too(spark):
    name = "spark.sql.ansi.doubleQuotedIdentifiers"
    spark.conf.set(name, "true")
    try:
        with pytest.raises(EngineUnavailableError, match=name):
            split(spark.range(1), [QualityCheck("x", "not_null", "t", "id")])
    finally:
        spark.conf.unset(name)


def test_positions_in_a_map_are_the_same_in_every_zone(spark):
    table = "iceberg.everyday.maps"
    spark.sql(
        f"CREATE OR REPLACE TABLE {table} USING iceberg AS "
        "SELECT 1 AS id, map(TIMESTAMP'2020-01-01 00:00:00Z', -1) AS m"
    )
    before = spark.conf.get("spark.sql.session.timeZone")
    found = []
    for zone in ("UTC", "America/New_York"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        outcome = run_checks(spark, [QualityCheck("m", "positive", table, "m{}")])
        found.append(outcome.results[0].sample_keys)
    spark.conf.set("spark.sql.session.timeZone", before)
    assert found[0] == found[1] != ()


def test_the_clock_of_a_run_is_one_moment_for_row_checks(spark):
    frame = spark.sql("SELECT DATE'2024-01-02' AS day")
    check = QualityCheck("day", "no_future_dates", "t", "day")
    early = split(frame, [check], clock=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    late = split(frame, [check], clock=lambda: datetime(2024, 1, 3, tzinfo=UTC))
    assert (early.bad.count(), late.bad.count()) == (1, 0)
