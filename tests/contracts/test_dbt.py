"""Every dbt test becomes the check that means the same, with its configuration."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from placed_rules import placed

from lakeproof.checks.catalogue import find_check
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.dbt import drafts
from lakeproof.contracts.engines.dbt_tests import DBT_TESTS
from lakeproof.contracts.engines.expectations import EXPECTATIONS
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

NOT_NULL = Draft("not_null", ("amt",))
STALE = "a table without any value fails here; dbt lets it pass"


def of_dbt(implementation, at="amount", **rule) -> list[Draft]:
    entry = {"type": "custom", "engine": "dbt", "implementation": implementation, **rule}
    return drafts(placed(at), entry)


def condition(text) -> Draft:
    return Draft("row_expression", params={"expression": text})


def null_percent(*terms) -> Draft:
    share = Comparison(tuple(terms), unit=Unit.PERCENT, empty_passes=True)
    return Draft("not_null", ("amt",), comparison=share)


def foreign_key(table, column) -> Draft:
    return Draft("foreign_key", ("amt",), {"references": table, "referenced_columns": [column]})


def fresh(**limits) -> Draft:
    return Draft("freshness", ("placed_at",), limits, notes=(STALE,))


def recency(**more):
    return {"dbt_utils.recency": {"field": "placed", "datepart": "day", "interval": 2, **more}}


MEANINGS = [
    ("not_null", NOT_NULL),
    ("unique", Draft("uniqueness", ("amt",))),
    (
        {"accepted_values": {"values": [1, "2"]}},
        Draft("accepted_values", ("amt",), {"accepted": [1, 2]}),
    ),
    (
        {"accepted_values": {"values": ["1", "x"], "quote": False}},
        Draft("accepted_values", ("amt",), {"accepted": [1, "x"]}),
    ),
    (
        {"dbt_utils.not_accepted_values": {"values": [1]}},
        Draft("invalid_values", ("amt",), {"invalid_values": [1]}),
    ),
    (
        {"relationships": {"to": "ref('customers')", "field": "id"}},
        foreign_key("iceberg.shop.customers_v1", "customer_id"),
    ),
    (
        {"relationships": {"to": '{{ source("raw", "customers") }}', "field": "id"}},
        foreign_key("iceberg.shop.customers_v1", "customer_id"),
    ),
    (
        {"relationships": {"to": "source('raw', 'people')", "field": "id"}},
        foreign_key("raw.people", "id"),
    ),
    ({"relationships": {"to": "ref('pkg', 'people')", "field": "id"}}, foreign_key("people", "id")),
    (
        {"dbt_utils.unique_combination_of_columns": {"combination_of_columns": ["id", "status"]}},
        Draft("unique_key", ("order_id", "status_cd"), {"nulls": "equal"}),
    ),
    ({"dbt_utils.expression_is_true": {"expression": ">= 0"}}, condition("`amt` >= 0")),
    (
        {"dbt_utils.accepted_range": {"min_value": 0, "max_value": 9}},
        Draft("range", ("amt",), {"min_value": 0, "max_value": 9}),
    ),
    (
        {"dbt_utils.accepted_range": {"min_value": 0, "inclusive": False}},
        Draft("range", ("amt",), {"min_value": 0, "min_exclusive": True}),
    ),
    (
        {"dbt_utils.accepted_range": {"min_value": 0, "max_value": "net + tax"}},
        condition("`amt` >= (0) AND `amt` <= (net + tax)"),
    ),
    (
        {"dbt_utils.not_null_proportion": {"at_least": 0.95}},
        null_percent(Term(Operator.LESS_OR_EQUAL, Fraction(5))),
    ),
    (
        {"dbt_utils.not_null_proportion": {"at_least": 0.3, "at_most": 0.9}},
        null_percent(
            Term(Operator.LESS_OR_EQUAL, Fraction(70)),
            Term(Operator.GREATER_OR_EQUAL, Fraction(10)),
        ),
    ),
    (recency(), fresh(max_age="2d")),
    (recency(datepart="hour", interval=36), fresh(max_age="36h")),
    (recency(datepart="quarter"), fresh(max_age="6mo")),
    (recency(ignore_time_component=True), fresh(max_age="2d", by_day=True)),
    (
        {"dbt_expectations.expect_column_values_to_be_between": {"min_value": 0, "strictly": True}},
        Draft("range", ("amt",), {"min_value": 0, "min_exclusive": True}),
    ),
    (
        {"dbt_expectations.expect_column_values_to_match_regex": {"regex": "a", "flags": "i"}},
        Draft("matches_pattern", ("amt",), {"pattern": "(?i)a"}),
    ),
    (
        {
            "dbt_expectations.expect_column_values_to_not_be_null": {
                "row_condition": "status_cd = 'A'"
            }
        },
        Draft("not_null", ("amt",), filter="status_cd = 'A'"),
    ),
    (
        {
            "dbt_expectations.expect_column_pair_values_to_be_equal": {
                "column_A": "shipped",
                "column_B": "placed",
            }
        },
        Draft("column_pair", ("shipped_at", "placed_at"), {"operator": "="}),
    ),
    (
        {
            "dbt_expectations.expect_column_quantile_values_to_be_between": {
                "quantile": 0.5,
                "min_value": 1,
            }
        },
        Draft("aggregate", ("amt",), {"function": "percentile", "percentile": 0.5, "min_value": 1}),
    ),
    (
        {"dbt_expectations.expect_column_values_to_be_of_type": {"column_type": "bigint"}},
        Draft("column_type", params={"column": "amt", "types": ["bigint"]}),
    ),
]


@pytest.mark.parametrize(("implementation", "wanted"), MEANINGS)
def test_a_dbt_test_is_the_check_that_means_the_same(implementation, wanted):
    assert of_dbt(implementation) == [wanted]


@pytest.mark.parametrize(("implementation", "wanted"), MEANINGS)
def test_the_check_accepts_what_it_is_given(implementation, wanted):
    find_check(wanted.check).read(wanted.columns, wanted.params)


def test_every_test_that_runs_is_tested_here_or_as_an_expectation():
    names = {one if isinstance(one, str) else next(iter(one)) for one, _ in MEANINGS}
    twins = {f"dbt_expectations.{name}" for name in EXPECTATIONS}
    assert names | twins == set(DBT_TESTS)


def test_on_a_table_an_expression_stands_by_itself():
    found = of_dbt({"dbt_utils.expression_is_true": {"expression": "net <= gross"}}, at="")
    assert found == [condition("net <= gross")]


# ------------------------------------------------------------------------------------------ forms


@pytest.mark.parametrize(
    "implementation",
    [
        "not_null",
        "- not_null",
        "tests:\n  - not_null\n",
        {"test": "not_null"},
        {"test": {"not_null": None}},
        {"test_name": "not_null", "name": "amount_is_there"},
        {"tests": ["not_null"]},
        {"data_tests": [{"not_null": {}}]},
        {"not_null": {"config": {"store_failures": True}}},
        ["dbt.not_null"],
        json.dumps({"not_null": {}}),
        {"columns": [{"name": "amount", "data_tests": ["not_null"]}]},
    ],
)
def test_every_way_of_writing_a_test_means_the_same(implementation):
    assert of_dbt(implementation) == [NOT_NULL]


def test_a_rule_may_hold_the_test_itself():
    assert drafts(placed("amount"), {"engine": "dbt", "test": "not_null"}) == [NOT_NULL]
    entry = {"engine": "dbt", "code": "accepted_values", "parameters": {"values": [1]}}
    assert drafts(placed("amount"), entry) == [
        Draft("accepted_values", ("amt",), {"accepted": [1]})
    ]


def test_arguments_may_stand_in_a_mapping_of_their_own():
    assert of_dbt({"accepted_values": {"arguments": {"values": [1]}}}) == [
        Draft("accepted_values", ("amt",), {"accepted": [1]})
    ]


def test_several_tests_are_labelled_by_name_and_column():
    implementation = {
        "tests": [{"dbt_utils.expression_is_true": {"expression": "true"}}, "surrogate_key"],
        "columns": [{"name": "id", "tests": ["unique", "not_null"]}],
    }
    found = of_dbt(implementation, at="")
    assert [draft.label for draft in found] == [
        "dbt_utils.expression_is_true",
        "surrogate_key",
        "unique(id)",
        "not_null(id)",
    ]
    assert [draft.columns for draft in found] == [(), (), ("order_id",), ("order_id",)]
    assert found[1].error


# ---------------------------------------------------------------------------------- configuration


def test_where_is_the_filter():
    (draft,) = of_dbt({"not_null": {"config": {"where": "status_cd = 'A'"}}})
    assert draft.filter == "status_cd = 'A'"


def test_where_and_a_row_condition_both_hold():
    (draft,) = of_dbt(
        {
            "dbt_expectations.expect_column_values_to_not_be_null": {
                "row_condition": "a = 1 OR b = 1",
                "where": "c = 1",
            }
        }
    )
    assert draft.filter == "(\nc = 1\n) AND (\na = 1 OR b = 1\n)"


def of_rows(operator, value, high=None) -> Comparison:
    return Comparison((Term(operator, value, high),), unit=Unit.ROWS)


@pytest.mark.parametrize(
    ("warn_if", "wanted"),
    [
        (">10", of_rows(Operator.LESS_OR_EQUAL, 10)),
        (">= 10", of_rows(Operator.LESS, 10)),
        ("< 5", of_rows(Operator.GREATER_OR_EQUAL, 5)),
        ("<= 5", of_rows(Operator.GREATER, 5)),
        ("= 3", of_rows(Operator.MUST_NOT_BE, 3)),
        ("<> 3", of_rows(Operator.MUST_BE, 3)),
        ("between 2 and 4", of_rows(Operator.NOT_BETWEEN, 2, 4)),
        ("NOT BETWEEN 2 AND 4", of_rows(Operator.BETWEEN, 2, 4)),
        ("!=0", None),
        ("> 0", None),
        (">= 1", None),
    ],
)
def test_a_condition_of_warning_is_what_must_not_hold(warn_if, wanted):
    (draft,) = of_dbt({"not_null": {"severity": "warn", "warn_if": warn_if}})
    assert (draft.comparison, draft.severity) == (wanted, "warning")


def test_error_if_leaves_the_rest_to_warn():
    fails, warns = of_dbt({"not_null": {"config": {"error_if": ">100", "warn_if": ">10"}}})
    assert fails.comparison == of_rows(Operator.LESS_OR_EQUAL, 100)
    assert warns.comparison == of_rows(Operator.LESS_OR_EQUAL, 10)
    assert (fails.severity, warns.severity) == ("error", "warning")
    assert (fails.label, warns.label) == ("error_if", "warn_if")


def test_without_warn_if_any_failing_row_warns():
    fails, warns = of_dbt({"not_null": {"config": {"error_if": ">100"}}})
    assert (fails.severity, fails.comparison.terms[0].value) == ("error", 100)
    assert (warns.severity, warns.comparison) == ("warning", None)


def test_what_fails_anyway_does_not_warn_too():
    (draft,) = of_dbt({"not_null": {"config": {"warn_if": ">10"}}})
    assert draft == NOT_NULL


def test_a_bound_on_duplicates_counts_values_as_dbt_does():
    (draft,) = of_dbt({"unique": {"severity": "warn", "warn_if": ">10"}})
    assert draft.comparison.duplicates == "values"


def test_a_bound_on_unaccepted_values_counts_rows_and_says_so():
    (draft,) = of_dbt({"accepted_values": {"values": [1], "severity": "warn", "warn_if": ">1"}})
    assert draft.notes == ("warn_if counts rows here, in dbt the different values among them",)


@pytest.mark.parametrize("beside", [{"mustBeLessThan": 3}, {"unit": "percent"}])
def test_operators_beside_a_test_are_an_error(beside):
    entry = {"engine": "dbt", "implementation": "not_null", **beside}
    (draft,) = drafts(placed("amount"), entry)
    assert "would be ignored" in draft.error
    assert "error_if" in draft.error


def test_a_disabled_test_is_skipped():
    (draft,) = of_dbt({"not_null": {"config": {"enabled": False}}})
    assert "not enabled" in draft.skipped


@pytest.mark.parametrize(
    "name", ["not_null", "dbt_expectations.expect_column_values_to_not_be_null"]
)
def test_unknown_arguments_are_told(name):
    (draft,) = of_dbt({name: {"modus": "x"}})
    assert draft.notes == (f"modus of {name} is unknown and not read",)


def test_a_test_that_cannot_be_read_leaves_its_neighbours():
    bad, good = of_dbt([{"not_null": {}, "unique": {}}, "not_null"])
    assert "one test must be named" in bad.error
    assert (good.check, good.columns) == ("not_null", ("amt",))


# ----------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("implementation", "told"),
    [
        ("notnull", "Nearest known: not_null"),
        ({"dbt_utils.recencyy": {}}, "dbt_utils.recency"),
        ({"other_package.not_null": {}}, "has no check of ours"),
        ({"accepted_values": {}}, "needs 'values'"),
        ({"relationships": {"to": "ref('x')"}}, "needs 'field'"),
        ({"relationships": {"to": "ref()", "field": "id"}}, "names no table"),
        ({"accepted_values": [1, 2]}, "must be a mapping"),
        ({"not_null": {}, "unique": {}}, "one test must be named"),
        ({"not_null": {"severity": "fatal"}}, "error or warn"),
        ({"not_null": {"error_if": "> many"}}, "must compare the failing rows with a number"),
        ({"not_null": {"fail_calc": "sum(n)"}}, "fail_calc"),
        ({"not_null": {"where": 7}}, "'where' must be SQL"),
        ({"not_null": {"where": "1; DROP TABLE x"}}, "several statements"),
        (recency(group_by_columns=["id"]), "judges its table as a whole"),
        (recency(error_if="> 5"), "as a whole"),
        (recency(datepart="fortnight"), "must be one of second"),
        (recency(datepart="hour", ignore_time_component=True), "a day or longer"),
        ({"dbt_utils.accepted_range": {}}, "min_value, max_value"),
        ({"columns": [{"tests": ["unique"]}]}, "no name"),
        ({"columns": [{"name": "amount"}]}, "no test is named"),
        ("- [", "implementation"),
        ([], "no dbt test"),
    ],
)
def test_what_cannot_be_run_says_why(implementation, told):
    (draft,) = of_dbt(implementation)
    assert told in draft.error
