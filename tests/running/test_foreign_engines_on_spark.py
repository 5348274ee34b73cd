"""Expectations and dbt tests on Spark: each passes on good data and fails on bad.

One contract over three tables, one run: `good` and `bad` have the same rules, `counted` those
that depend on how many values are bad.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof import run_checks
from lakeproof.contracts.loading import load_contract

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
COLUMNS = ("id", "same_id", "amount", "status", "code", "placed", "shipped", "nothing")

GOOD = """
  SELECT 1 AS id, 1 AS same_id, 10 AS amount, 'open' AS status, 'A01' AS code,
    TIMESTAMP'2024-03-09 10:00:00Z' AS placed, TIMESTAMP'2024-03-09 11:00:00Z' AS shipped,
    CAST(NULL AS STRING) AS nothing
  UNION ALL SELECT 2, 2, 20, 'paid', 'A02',
    TIMESTAMP'2024-03-08 10:00:00Z', TIMESTAMP'2024-03-08 10:00:01Z', NULL
  UNION ALL SELECT 3, 3, 30, 'open', 'A03', TIMESTAMP'2024-03-07 10:00:00Z', NULL, NULL
  UNION ALL SELECT 4, 4, NULL, NULL, NULL, NULL, NULL, NULL
"""
BAD = """
  SELECT CAST(1 AS BIGINT) AS id, CAST(1 AS BIGINT) AS same_id, -1 AS amount, 'open' AS status,
    'x' AS code, TIMESTAMP'2024-03-08 11:59:59Z' AS placed,
    TIMESTAMP'2024-03-07 10:00:00Z' AS shipped, 'x' AS nothing, 1 AS surplus
  UNION ALL SELECT 1, 2, 200, 'lost', 'B999', TIMESTAMP'2024-03-01 10:00:00Z',
    TIMESTAMP'2024-03-01 09:00:00Z', 'x', 1
  UNION ALL SELECT NULL, 3, 200, 'lost', 'B999', NULL, TIMESTAMP'2024-03-01 09:00:00Z', 'x', 1
"""
COUNTED = """
  SELECT n AS id, if(n >= 10, NULL, n - 1) AS amount, if(n >= 10, NULL, greatest(n, 1)) AS twin,
    if(n = 0, 'b', 'a') AS side, CAST(NULL AS INT) AS nothing
  FROM (SELECT CAST(id AS INT) AS n FROM range(12))
"""


def between(low, high, **more):
    return {"min_value": low, "max_value": high, **more}


PAIR = {"column_A": "shipped", "column_B": "placed"}
EXPECTATIONS = [
    ("column_values_to_not_be_null", {"column": "id"}),
    ("column_values_to_be_null", {"column": "nothing"}),
    ("column_values_to_be_unique", {"column": "id"}),
    ("column_values_to_be_in_set", {"column": "status", "value_set": ["open", "paid"]}),
    ("column_values_to_not_be_in_set", {"column": "status", "value_set": ["lost", "left"]}),
    ("column_values_to_be_between", {"column": "amount", **between(10, 30)}),
    ("column_values_to_be_between", {"column": "amount", **between(-1, 31), "strict_min": True}),
    ("column_values_to_be_between", {"column": "amount", "max_value": 200, "strict_max": True}),
    ("column_values_to_match_regex", {"column": "code", "regex": r"^A\d{2}$"}),
    ("column_values_to_not_match_regex", {"column": "code", "regex": "^B"}),
    ("column_values_to_match_regex_list", {"column": "code", "regex_list": [r"\d1", r"A\d"]}),
    (
        "column_values_to_match_regex_list",
        {"column": "code", "regex_list": ["A", "0"], "match_on": "all"},
    ),
    ("column_values_to_not_match_regex_list", {"column": "code", "regex_list": ["x", "y"]}),
    ("column_values_to_match_like_pattern", {"column": "code", "like_pattern": "A__"}),
    ("column_values_to_not_match_like_pattern", {"column": "code", "like_pattern": "B%"}),
    ("column_values_to_match_like_pattern_list", {"column": "code", "like_pattern_list": ["A%"]}),
    (
        "column_values_to_not_match_like_pattern_list",
        {"column": "code", "like_pattern_list": ["x", "B%"]},
    ),
    ("column_values_to_be_of_type", {"column": "id", "type_": "IntegerType"}),
    ("column_values_to_be_in_type_list", {"column": "id", "type_list": ["INT", "StringType"]}),
    ("column_value_lengths_to_be_between", {"column": "code", **between(2, 3)}),
    ("column_value_lengths_to_equal", {"column": "code", "value": 3}),
    ("column_pair_values_a_to_be_greater_than_b", PAIR),
    ("column_pair_values_to_be_equal", {"column_A": "id", "column_B": "same_id"}),
    ("compound_columns_to_be_unique", {"column_list": ["status", "code"]}),
    (
        "compound_columns_to_be_unique",
        {"column_list": ["status", "code"], "ignore_row_if": "never"},
    ),
    ("column_min_to_be_between", {"column": "amount", **between(10, 10)}),
    ("column_max_to_be_between", {"column": "amount", **between(30, 30)}),
    ("column_max_to_be_between", {"column": "placed", "min_value": "2024-03-09T00:00:00Z"}),
    ("column_mean_to_be_between", {"column": "amount", **between(20, 20)}),
    ("column_sum_to_be_between", {"column": "amount", "max_value": 61, "strict_max": True}),
    ("column_stdev_to_be_between", {"column": "amount", **between(10, 10)}),
    ("column_median_to_be_between", {"column": "amount", **between(20, 20)}),
    (
        "column_quantile_values_to_be_between",
        {
            "column": "amount",
            "quantile_ranges": {"quantiles": [0.5, 1], "value_ranges": [[20, 20], [None, 30]]},
        },
    ),
    ("column_unique_value_count_to_be_between", {"column": "amount", **between(3, 3)}),
    ("column_proportion_of_unique_values_to_be_between", {"column": "amount", **between(1, 1)}),
    ("column_distinct_values_to_be_in_set", {"column": "status", "value_set": ["open", "paid"]}),
    ("column_distinct_values_to_contain_set", {"column": "status", "value_set": ["paid"]}),
    ("column_distinct_values_to_equal_set", {"column": "status", "value_set": ["open", "paid"]}),
    ("table_row_count_to_be_between", {"min_value": 4}),
    ("table_row_count_to_equal", {"value": 4}),
    ("table_column_count_to_equal", {"value": len(COLUMNS)}),
    ("table_columns_to_match_set", {"column_set": list(reversed(COLUMNS))}),
    ("table_columns_to_match_ordered_list", {"column_list": list(COLUMNS)}),
]
RECENT = {"field": "placed", "datepart": "day", "interval": 1}
TESTS = [
    {"not_null": {"column_name": "id"}},
    {"unique": {"column_name": "id"}},
    {"accepted_values": {"column_name": "status", "values": ["open", "paid"]}},
    {"relationships": {"column_name": "amount", "to": "ref('amounts')", "field": "value"}},
    {"dbt_utils.unique_combination_of_columns": {"combination_of_columns": ["status", "code"]}},
    {"dbt_utils.expression_is_true": {"expression": "shipped > placed"}},
    {"dbt_utils.accepted_range": {"column_name": "amount", **between(0, 30)}},
    {"dbt_utils.accepted_range": {"column_name": "shipped", "min_value": "placed"}},
    {"dbt_utils.not_accepted_values": {"column_name": "status", "values": ["lost"]}},
    {"dbt_utils.not_null_proportion": {"column_name": "placed", "at_least": 0.75}},
    {"dbt_utils.recency": {**RECENT, "interval": 2}},
    {"dbt_utils.recency": {**RECENT, "ignore_time_component": True}},
    {"dbt_expectations.expect_column_values_to_be_between": {"column": "amount", **between(0, 30)}},
    {
        "dbt_expectations.expect_column_pair_values_to_be_equal": {
            "column_A": "id",
            "column_B": "same_id",
        }
    },
]
SHARES = [
    # Of 10 values (-1 to 8) one is below 0; two values of `twin` are equal; 2 of 12 rows are NULL.
    ("column_values_to_be_between", {"column": "amount", "min_value": 0, "mostly": 0.9}, True),
    ("column_values_to_be_between", {"column": "amount", "min_value": 0, "mostly": 0.91}, False),
    ("column_values_to_not_be_null", {"column": "amount", "mostly": 0.83}, True),
    ("column_values_to_not_be_null", {"column": "amount", "mostly": 0.84}, False),
    ("column_values_to_be_null", {"column": "amount", "mostly": 0.16}, True),
    ("column_values_to_be_null", {"column": "amount", "mostly": 0.17}, False),
    ("column_values_to_be_unique", {"column": "twin", "mostly": 0.8}, True),
    ("column_values_to_be_unique", {"column": "twin", "mostly": 0.81}, False),
    ("column_values_to_be_between", {"column": "nothing", "min_value": 0, "mostly": 0.9}, True),
    ("compound_columns_to_be_unique", {"column_list": ["twin", "nothing"], "mostly": 0.8}, True),
    ("compound_columns_to_be_unique", {"column_list": ["twin", "nothing"], "mostly": 0.81}, False),
    (
        "column_values_to_be_between",
        {
            "column": "amount",
            "min_value": 0,
            "row_condition": "side = 'a'",
            "condition_parser": "spark",
        },
        True,
    ),
]
COUNTS = [
    ({"not_null": {"column_name": "amount", "severity": "warn", "warn_if": "> 2"}}, True),
    ({"not_null": {"column_name": "amount", "severity": "warn", "warn_if": "> 1"}}, False),
    ({"unique": {"column_name": "twin", "severity": "warn", "warn_if": "> 1"}}, True),
    ({"not_null": {"column_name": "amount", "where": "id < 10"}}, True),
    ({"dbt_utils.not_null_proportion": {"column_name": "amount", "at_least": 0.84}}, False),
]
"""What holds where, as (test, whether it passes)."""


def expectation(number, name, kwargs):
    implementation = {"type": f"expect_{name}", "kwargs": kwargs}
    return rule(f"ge{number}", "greatExpectations", implementation)


def rule(name, engine, implementation):
    return {"id": name, "type": "custom", "engine": engine, "implementation": implementation}


def schema_of(name, columns, quality):
    properties = [{"name": column} for column in columns]
    return {"name": name, "properties": properties, "quality": quality}


def contract():
    same = [
        *(expectation(number, *one) for number, one in enumerate(EXPECTATIONS)),
        *(rule(f"dbt{number}", "dbt", one) for number, one in enumerate(TESTS)),
    ]
    shares = [
        *(expectation(number, name, kwargs) for number, (name, kwargs, _) in enumerate(SHARES)),
        *(rule(f"dbt{number}", "dbt", test) for number, (test, _) in enumerate(COUNTS)),
    ]
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "foreign",
        "version": "1.0.0",
        "schema": [
            schema_of("good", COLUMNS, with_prefix("good", same)),
            schema_of("bad", COLUMNS, with_prefix("bad", same)),
            schema_of(
                "counted",
                ["id", "amount", "twin", "side", "nothing"],
                with_prefix("counted", shares),
            ),
            schema_of("amounts", ["value"], []),
        ],
    }


def with_prefix(prefix, rules):
    return [{**one, "id": f"{prefix}-{one['id']}"} for one in rules]


@pytest.fixture(scope="module")
def statuses(spark):
    """Each rule's status by its key."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.foreign_engines")
    tables = {
        "good": GOOD,
        "bad": BAD,
        "counted": COUNTED,
        "amounts": "SELECT CAST(id AS INT) AS value FROM range(0, 40, 10)",
    }
    for name, query in tables.items():
        spark.sql(
            f"CREATE OR REPLACE TABLE iceberg.foreign_engines.{name} USING iceberg AS {query}"
        )
    outcome = run_checks(
        spark,
        load_contract(contract()),
        tables={name: f"iceberg.foreign_engines.{name}" for name in tables},
        clock=lambda: NOW,
    )
    return {result.check_name: (result.status, result.details) for result in outcome.results}


def of(statuses, key):
    """The statuses of a rule that may have become several."""
    found = [
        told
        for name, told in statuses.items()
        if name.removeprefix("foreign/").split(":")[0] == key
    ]
    assert found, f"no result for {key}"
    return found


def named(number, one):
    return pytest.param(
        number, id=f"{number}-{one[0] if isinstance(one, tuple) else next(iter(one))}"
    )


@pytest.mark.parametrize("number", [named(*one) for one in enumerate(EXPECTATIONS)])
def test_an_expectation_passes_on_good_data_and_fails_on_bad(statuses, number):
    assert {status for status, _ in of(statuses, f"good-ge{number}")} == {"passed"}
    assert {status for status, _ in of(statuses, f"bad-ge{number}")} == {"failed"}


@pytest.mark.parametrize("number", [named(*one) for one in enumerate(TESTS)])
def test_a_dbt_test_passes_on_good_data_and_fails_on_bad(statuses, number):
    assert {status for status, _ in of(statuses, f"good-dbt{number}")} == {"passed"}
    assert {status for status, _ in of(statuses, f"bad-dbt{number}")} == {"failed"}


@pytest.mark.parametrize("number", [named(*one) for one in enumerate(SHARES)])
def test_mostly_is_exact(statuses, number):
    wanted = "passed" if SHARES[number][2] else "failed"
    assert {status for status, _ in of(statuses, f"counted-ge{number}")} == {wanted}


@pytest.mark.parametrize("number", [named(number, one) for number, (one, _) in enumerate(COUNTS)])
def test_a_bound_on_failing_rows_is_exact(statuses, number):
    wanted = "passed" if COUNTS[number][1] else "failed"
    found = of(statuses, f"counted-dbt{number}")
    assert {status for status, _ in found} <= {wanted, "warned"}, found
