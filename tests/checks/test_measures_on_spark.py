"""The measuring checks on real tables: what generated numbers do not show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lakeproof import QualityCheck, run_checks

NOW = datetime(2024, 3, 10, 12, 0, tzinfo=UTC)
ROWS = """
SELECT * FROM VALUES
  (1L, 2D, 5, 99999999999999999999999999999999999999BD, DATE'2024-03-09',
   TIMESTAMP'2024-03-10 11:00:00Z', TIMESTAMP_NTZ'2024-03-10 07:00:00', 3, 'a'),
  (2L, 4D, 5, 99999999999999999999999999999999999999BD, DATE'+20204-01-01',
   TIMESTAMP'+20204-01-01 00:00:00Z', TIMESTAMP_NTZ'2024-03-10 07:30:00', 9, 'b'),
  (9223372036854775807L, 6D, 5, NULL, NULL, NULL, NULL, NULL, NULL)
AS t(id, price, constant, wide, day, at, local, km, code)
"""
TABLE = f"SELECT * EXCEPT (km), named_struct('km', km) AS trip FROM ({ROWS})"


@pytest.fixture(scope="module")
def results(spark):
    """Results by the rule's name, of one run over one table."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.lakehouse.measured USING iceberg AS {TABLE}")
    outcome = run_checks(spark, CHECKS, clock=lambda: NOW)
    return {result.check_name: result for result in outcome.results}


def aggregate(name, function, column, **params):
    return QualityCheck(name, "aggregate", "measured", column, {"function": function, **params})


def rule(name, kind, column=None, **params):
    return QualityCheck(name, kind, "measured", column, params)


CHECKS = [
    aggregate("bigint_sum", "sum", "id", min_value=2**63 + 2, max_value=2**63 + 2),
    aggregate("wide_sum", "sum", "wide", max_value=1),
    aggregate("neighbour", "sum", "price", min_value=12, max_value=12),
    aggregate("of_a_product", "max", None, expression="price * id % 7 -- odd", max_value=100),
    aggregate("of_a_broken_one", "max", None, expression="price * nope", max_value=100),
    aggregate("constant", "correlation", ["price", "constant"], min_value=-1),
    aggregate("correlated", "correlation", ["price", "trip.km"], min_value=1, max_value=1),
    aggregate("last_day", "max", "day", max_value="2100-01-01"),
    aggregate("last_moment", "max", "at", max_value="2100-01-01"),
    aggregate("about", "percentile", "price", percentile=0.5, approximate=True, max_value=4),
    aggregate("about_distinct", "approx_distinct_count", "code", min_value=2, max_value=2),
    aggregate("in_a_struct", "max", "trip.km", min_value=9, max_value=9),
    rule("local_time", "freshness", "local", max_age="30m", timezone="America/New_York"),
    rule("filled", "ratio", condition="code IS NULL OR code = 'a'", max_share=0.5),
    rule("codes", "value_set", "code", values=["a", "c"]),
    rule("first_count", "row_count_change", max_decrease=0.1),
    rule("types", "schema", columns={"id": "long", "trip": "struct<km:int>", "local": "date"}),
]


def told(results, name):
    return results[name].status.value, results[name].details


def test_a_total_beyond_bigint_is_exact(results):
    assert told(results, "bigint_sum")[0] == "passed"


def test_a_total_beyond_38_digits_is_the_error_of_its_own_rule(results):
    status, details = told(results, "wide_sum")
    assert status == "error"
    assert "more than 38 digits" in details
    assert told(results, "neighbour") == ("passed", "12.0, within 12 <= sum(price) <= 12")


def test_an_expression_is_aggregated_like_a_column(results):
    status, details = told(results, "of_a_product")
    assert status == "passed"
    assert "max(price * id % 7" in details
    assert told(results, "of_a_broken_one")[0] == "error"


def test_a_constant_column_correlates_with_nothing(results):
    assert told(results, "constant")[0] == "failed"
    assert told(results, "constant")[1].startswith("no value, outside ")
    assert told(results, "correlated")[0] == "passed"


@pytest.mark.parametrize("name", ["last_day", "last_moment"])
def test_a_year_beyond_9999_fails_its_bound(results, name):
    status, details = told(results, name)
    assert status == "failed"
    assert details.startswith("a moment after the year 9999, outside ")


def test_sketches_and_fields_of_structs_are_measured(results):
    assert [told(results, name)[0] for name in ("about", "about_distinct", "in_a_struct")] == [
        "passed"
    ] * 3


def test_the_age_of_a_local_time_is_taken_in_its_zone(results):
    # 07:30 in New York was 11:30 UTC: the clocks had gone forward that night.
    assert results["local_time"].measure == timedelta(minutes=30).total_seconds()
    assert told(results, "local_time")[0] == "passed"


def test_a_ratio_and_a_value_set_count_what_they_say(results):
    filled, codes = results["filled"], results["codes"]
    assert (filled.status.value, filled.failing_rows, filled.measures["fulfilled"]) == (
        "failed",
        1,
        2,
    )
    assert (codes.failing_rows, codes.measures) == (2, {"missing_values": 1, "unexpected_rows": 1})
    assert codes.details == "1 of 2 values missing (c); 1 of 3 rows have another value, such as b"


def test_a_schema_is_read_from_the_table(results):
    assert told(results, "types") == ("failed", "local is timestamp_ntz, not date")


def test_a_first_count_has_nothing_to_compare_with(results):
    status, details = told(results, "first_count")
    assert (status, details) == ("skipped", "3 rows, no earlier run to compare with")


@pytest.mark.parametrize("using", ["iceberg", "delta"])
def test_not_null_columns_are_known_as_such(spark, using):
    catalog = {"iceberg": "iceberg.lakehouse", "delta": "spark_catalog.default"}[using]
    spark.sql(f"DROP TABLE IF EXISTS {catalog}.strict")
    spark.sql(f"CREATE TABLE {catalog}.strict (id BIGINT NOT NULL, name STRING) USING {using}")
    columns = [
        {"name": "id", "nullable": False},
        {"name": "name", "nullable": True},
    ]
    checks = [
        QualityCheck("fits", "schema", f"{catalog}.strict", params={"columns": columns}),
        QualityCheck(
            "not", "schema", f"{catalog}.strict", params={"columns": {"name": {"nullable": False}}}
        ),
    ]
    fits, wrong = run_checks(spark, checks).results
    assert (fits.status.value, wrong.details) == ("passed", "name is nullable")
    spark.sql(f"DROP TABLE {catalog}.strict")


def test_each_count_is_compared_with_that_of_the_run_before(spark):
    table = "iceberg.lakehouse.growing"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT id FROM range(10)")
    check = QualityCheck(
        "growth", "row_count_change", table, params={"max_increase": 0.5, "max_decrease": 0}
    )
    seen = []
    for day, more in enumerate([0, 5, 8]):
        spark.sql(f"INSERT INTO {table} SELECT id FROM range({more})")
        clock = NOW + timedelta(days=day)
        outcome = run_checks(
            spark, [check], store="iceberg", run_id=f"growth_{day}", clock=lambda at=clock: at
        )
        seen += [(result.status.value, result.measure) for result in outcome.results]
    assert seen == [("skipped", 10.0), ("passed", 15.0), ("failed", 23.0)]
