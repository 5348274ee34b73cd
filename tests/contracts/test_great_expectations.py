"""Every expectation becomes the check that means the same, in whatever form it is written."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from placed_rules import placed

from lakeproof.checks.catalogue import find_check
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.expectations import EXPECTATIONS
from lakeproof.contracts.engines.great_expectations import drafts
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

NO_ROWS = Comparison((Term(Operator.MUST_BE, 0),), unit=Unit.ROWS, duplicates="rows")
BY_ROWS = {"duplicates": "rows"}


def at_most(percent) -> Comparison:
    return Comparison(
        (Term(Operator.LESS_OR_EQUAL, Fraction(percent)),),
        unit=Unit.PERCENT,
        duplicates="rows",
        empty_passes=True,
    )


def expected(name, at="amount", **kwargs) -> list[Draft]:
    entry = {
        "type": "custom",
        "engine": "greatExpectations",
        "implementation": {"type": f"expect_{name}", "kwargs": kwargs},
    }
    return drafts(placed(at), entry)


def condition(text, **more) -> Draft:
    return Draft("row_expression", params={"expression": text}, **more)


def value_check(check, **params) -> Draft:
    return Draft(check, ("amt",), params)


def key_check(check, columns, filter_=None, **params) -> Draft:
    return Draft(check, columns, params, filter_, NO_ROWS, choices=BY_ROWS)


PAIR = {"column_A": "shipped", "column_B": "placed"}
BOTH = ("shipped_at", "placed_at")
STRICT = Comparison((Term(Operator.GREATER, 1), Term(Operator.LESS_OR_EQUAL, 5)))

MEANINGS = [
    ("column_values_to_not_be_null", {}, value_check("not_null")),
    ("column_values_to_be_null", {}, condition("`amt` IS NULL")),
    ("column_values_to_be_unique", {}, key_check("uniqueness", ("amt",))),
    (
        "column_values_to_be_in_set",
        {"value_set": [1, "2"]},
        value_check("accepted_values", accepted=[1, 2]),
    ),
    (
        "column_values_to_not_be_in_set",
        {"value_set": [1]},
        value_check("invalid_values", invalid_values=[1]),
    ),
    (
        "column_values_to_be_between",
        {"min_value": 1, "max_value": 5},
        value_check("range", min_value=1, max_value=5),
    ),
    (
        "column_values_to_be_between",
        {"min_value": 1, "strict_min": True},
        value_check("range", min_value=1, min_exclusive=True),
    ),
    (
        "column_values_to_be_between",
        {"max_value": "2024-01-01", "strict_max": True},
        value_check("range", max_value="2024-01-01", max_exclusive=True),
    ),
    (
        "column_values_to_match_regex",
        {"regex": "^[a-z]{3}$"},
        value_check("matches_pattern", pattern="^[a-z]{3}$"),
    ),
    (
        "column_values_to_not_match_regex",
        {"regex": "x"},
        value_check("not_matches_pattern", pattern="x"),
    ),
    (
        "column_values_to_match_regex_list",
        {"regex_list": ["^a", r"\d"]},
        condition(r"`amt` RLIKE '^a' OR `amt` RLIKE '\\d'"),
    ),
    (
        "column_values_to_match_regex_list",
        {"regex_list": ["^a", "b$"], "match_on": "all"},
        condition("`amt` RLIKE '^a' AND `amt` RLIKE 'b$'"),
    ),
    (
        "column_values_to_not_match_regex_list",
        {"regex_list": ["a", "b"]},
        condition("NOT (`amt` RLIKE 'a' OR `amt` RLIKE 'b')"),
    ),
    (
        "column_values_to_match_like_pattern",
        {"like_pattern": "O'%"},
        condition(r"`amt` LIKE 'O\'%'"),
    ),
    (
        "column_values_to_not_match_like_pattern",
        {"like_pattern": "a%"},
        condition("NOT (`amt` LIKE 'a%')"),
    ),
    (
        "column_values_to_match_like_pattern_list",
        {"like_pattern_list": ["a%", "b%"]},
        condition("`amt` LIKE 'a%' OR `amt` LIKE 'b%'"),
    ),
    (
        "column_values_to_not_match_like_pattern_list",
        {"like_pattern_list": ["a%", "b%"]},
        condition("NOT (`amt` LIKE 'a%' OR `amt` LIKE 'b%')"),
    ),
    (
        "column_values_to_be_of_type",
        {"type_": "DecimalType(10,2)"},
        Draft("column_type", params={"column": "amt", "types": ["decimal(10,2)"]}),
    ),
    (
        "column_values_to_be_in_type_list",
        {"type_list": ["IntegerType", "int64", "VARCHAR(10)", "DecimalType", "NoSuchType"]},
        Draft(
            "column_type",
            params={
                "column": "amt",
                "types": ["int", "bigint", "string"],
                "families": ["decimal"],
            },
        ),
    ),
    (
        "column_value_lengths_to_be_between",
        {"min_value": 1, "max_value": 5},
        value_check("length_range", min_length=1, max_length=5),
    ),
    (
        "column_value_lengths_to_be_between",
        {"min_value": 1, "strict_min": True, "max_value": 5, "strict_max": True},
        value_check("length_range", min_length=2, max_length=4),
    ),
    (
        "column_value_lengths_to_equal",
        {"value": 3},
        value_check("length_range", min_length=3, max_length=3),
    ),
    (
        "column_pair_values_a_to_be_greater_than_b",
        PAIR,
        Draft("column_pair", BOTH, {"operator": ">"}),
    ),
    (
        "column_pair_values_A_to_be_greater_than_B",
        {**PAIR, "or_equal": True},
        Draft("column_pair", BOTH, {"operator": ">="}),
    ),
    ("column_pair_values_to_be_equal", PAIR, condition("`shipped_at` <=> `placed_at`")),
    (
        "column_pair_values_to_be_equal",
        {**PAIR, "ignore_row_if": "either_value_is_missing"},
        Draft("column_pair", BOTH, {"operator": "="}),
    ),
    (
        "compound_columns_to_be_unique",
        {"column_list": ["id", "status"]},
        key_check(
            "unique_key",
            ("order_id", "status_cd"),
            "`order_id` IS NOT NULL OR `status_cd` IS NOT NULL",
            nulls="equal",
        ),
    ),
    (
        "compound_columns_to_be_unique",
        {"column_list": ["id", "status"], "ignore_row_if": "any_value_is_missing"},
        key_check("uniqueness", ("order_id", "status_cd")),
    ),
    (
        "compound_columns_to_be_unique",
        {"column_list": ["id", "status"], "ignore_row_if": "never"},
        key_check("unique_key", ("order_id", "status_cd"), nulls="equal"),
    ),
    *(
        (
            f"column_{word}_to_be_between",
            {"min_value": 1, "max_value": "5"},
            value_check("aggregate", function=function, min_value=1, max_value=5),
        )
        for word, function in [
            ("min", "min"),
            ("max", "max"),
            ("mean", "avg"),
            ("sum", "sum"),
            ("stdev", "stddev"),
            ("median", "median"),
            ("unique_value_count", "distinct_count"),
            ("proportion_of_unique_values", "distinct_share"),
        ]
    ),
    (
        "column_mean_to_be_between",
        {"min_value": 1, "max_value": 5, "strict_min": True},
        Draft("aggregate", ("amt",), {"function": "avg"}, comparison=STRICT),
    ),
    (
        "column_distinct_values_to_be_in_set",
        {"value_set": [1, 2]},
        value_check("value_set", values=[1, 2], mode="within"),
    ),
    (
        "column_distinct_values_to_contain_set",
        {"value_set": [1]},
        value_check("value_set", values=[1], mode="contains"),
    ),
    (
        "column_distinct_values_to_equal_set",
        {"value_set": [1]},
        value_check("value_set", values=[1], mode="equals"),
    ),
    (
        "table_row_count_to_be_between",
        {"minValue": 10},
        Draft("row_count_range", params={"min_count": 10}),
    ),
    (
        "table_row_count_to_equal",
        {"value": 7},
        Draft("row_count_range", params={"min_count": 7, "max_count": 7}),
    ),
    (
        "table_column_count_to_be_between",
        {"max_value": 7},
        Draft("column_count_range", params={"max_count": 7}),
    ),
    (
        "table_column_count_to_equal",
        {"value": 7},
        Draft("column_count_range", params={"min_count": 7, "max_count": 7}),
    ),
    ("column_to_exist", {}, Draft("schema", params={"columns": ["amt"]})),
    ("column_to_exist", {"column": "status"}, Draft("schema", params={"columns": ["status_cd"]})),
    (
        "table_columns_to_match_set",
        {"column_set": ["id", "other"]},
        Draft("schema", params={"columns": ["order_id", "other"], "extra": False}),
    ),
    (
        "table_columns_to_match_set",
        {"column_set": ["id"], "exact_match": False},
        Draft("schema", params={"columns": ["order_id"], "extra": True}),
    ),
    (
        "table_columns_to_contain_set",
        {"column_list": ["id"]},
        Draft("schema", params={"columns": ["order_id"]}),
    ),
    (
        "table_columns_to_match_ordered_list",
        {"column_list": ["id", "amount"]},
        Draft("schema", params={"columns": ["order_id", "amt"], "order": True, "extra": False}),
    ),
]


@pytest.mark.parametrize(("name", "kwargs", "wanted"), MEANINGS)
def test_an_expectation_is_the_check_that_means_the_same(name, kwargs, wanted):
    assert expected(name, **kwargs) == [wanted]


@pytest.mark.parametrize(("name", "kwargs", "wanted"), MEANINGS)
def test_the_check_accepts_what_it_is_given(name, kwargs, wanted):
    check = find_check(wanted.check)
    arguments = check.read(wanted.columns, wanted.params)
    if wanted.comparison is None:
        check.require_limits(arguments)


def test_every_expectation_that_runs_is_tested():
    tested = {f"expect_{name}".lower() for name, _, _ in MEANINGS}
    assert {*tested, "expect_column_quantile_values_to_be_between"} == set(EXPECTATIONS)


def test_each_quantile_is_a_result_of_its_own():
    ranges = {"quantiles": [0.1, 0.9], "value_ranges": [[None, 3], [4, 9]]}
    low, high = expected("column_quantile_values_to_be_between", quantile_ranges=ranges)
    assert (low.label, high.label) == ("quantile 0.1", "quantile 0.9")
    assert low.params == {"function": "percentile", "percentile": 0.1, "max_value": 3}
    assert high.params == {
        "function": "percentile",
        "percentile": 0.9,
        "min_value": 4,
        "max_value": 9,
    }


# ----------------------------------------------------------------------------------------- mostly


@pytest.mark.parametrize(
    ("mostly", "percent"), [(0.9, 10), ("0.95", 5), (0, 100), (0.7, 30), (2 / 3, None)]
)
def test_mostly_is_a_share_of_the_values_that_are_there(mostly, percent):
    (draft,) = expected("column_values_to_be_between", min_value=0, mostly=mostly)
    exact = 100 * (1 - Fraction(str(mostly))) if percent is None else percent
    assert draft.comparison == at_most(exact)
    assert draft.filter == "`amt` IS NOT NULL"


def test_exactly_a_tenth_bad_fulfils_mostly_nine_tenths():
    (draft,) = expected("column_values_to_be_between", min_value=0, mostly=0.9)
    assert draft.comparison.holds(Fraction(100 * 3, 30))
    assert not draft.comparison.holds(Fraction(100 * 4, 30))


def test_mostly_one_needs_no_share():
    (draft,) = expected("column_values_to_be_between", min_value=0, mostly=1.0)
    assert draft == value_check("range", min_value=0)


@pytest.mark.parametrize("name", ["column_values_to_not_be_null", "column_values_to_be_null"])
def test_what_asks_about_null_counts_all_rows(name):
    (draft,) = expected(name, mostly=0.5)
    assert (draft.filter, draft.comparison) == (None, at_most(50))


def test_mostly_unique_counts_every_row_that_shares_a_value():
    (draft,) = expected("column_values_to_be_unique", mostly=0.99)
    assert draft.comparison == at_most(1)
    assert draft.comparison.duplicates == "rows"


@pytest.mark.parametrize(
    ("ignored", "counted"),
    [
        (None, "`shipped_at` IS NOT NULL OR `placed_at` IS NOT NULL"),
        ("either_value_is_missing", "`shipped_at` IS NOT NULL AND `placed_at` IS NOT NULL"),
        ("neither", None),
    ],
)
def test_mostly_of_a_pair_leaves_out_the_ignored_rows(ignored, counted):
    name = "column_pair_values_a_to_be_greater_than_b"
    (draft,) = expected(name, **PAIR, ignore_row_if=ignored, mostly=0.5)
    assert draft.filter == counted


def test_mostly_inside_an_array_counts_rows_and_says_so():
    (draft,) = expected("column_values_to_be_between", "items[].price", min_value=0, mostly=0.5)
    assert (draft.columns, draft.filter) == (("items[].price",), None)
    assert draft.notes == ("mostly counts rows here, for items[].price has several values in each",)


def test_a_field_of_a_struct_is_quoted_part_by_part():
    (draft,) = expected("column_values_to_be_null", "address.city")
    assert draft.params == {"expression": "`address`.`city` IS NULL"}


# ----------------------------------------------------------------------------------- row condition


def test_a_row_condition_is_the_filter():
    (draft,) = expected(
        "column_values_to_be_between",
        min_value=0,
        row_condition="status_cd = 'A' OR status_cd = 'B'",
        condition_parser="spark",
        mostly=0.5,
    )
    joined = "(\nstatus_cd = 'A' OR status_cd = 'B'\n) AND (\n`amt` IS NOT NULL\n)"
    assert draft.filter == joined
    assert draft.notes == ()


def test_a_row_condition_without_parser_is_read_as_sql_with_a_note():
    (draft,) = expected("column_values_to_not_be_null", row_condition="amt > 1")
    assert (draft.filter, draft.notes) == ("amt > 1", ("row_condition is read as Spark SQL",))


@pytest.mark.parametrize("parser", ["pandas", "great_expectations__experimental__"])
def test_a_row_condition_for_another_engine_is_an_error(parser):
    (draft,) = expected(
        "column_values_to_not_be_null", row_condition='col("a") == 1', condition_parser=parser
    )
    assert parser in draft.error
    assert "condition_parser: spark" in draft.error


def test_a_row_condition_cannot_break_out_of_its_brackets():
    (draft,) = expected(
        "column_values_to_be_between",
        min_value=0,
        mostly=0.5,
        row_condition="a > 1) OR (b > 1",
        condition_parser="spark",
    )
    assert draft.error


# ------------------------------------------------------------------------------------------ forms

ROWS_AT_LEAST_10 = [Draft("row_count_range", params={"min_count": 10})]
WRITTEN = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 10}}


@pytest.mark.parametrize(
    "entry",
    [
        {"implementation": {**WRITTEN, "meta": {"notes": "n"}, "id": "7"}},
        {"implementation": json.dumps(WRITTEN)},
        {"implementation": "type: ExpectTableRowCountToBeBetween\nkwargs:\n  min_value: 10\n"},
        {"implementation": {"expectation_type": WRITTEN["type"], "kwargs": {"minValue": 10}}},
        {"implementation": {"type": WRITTEN["type"], "min_value": 10}},
        {"implementation": {WRITTEN["type"]: {"min_value": 10}}},
        {"implementation": {"expectation_suite_name": "s", "expectations": [WRITTEN]}},
        {"implementation": [WRITTEN]},
        {"expectation_type": WRITTEN["type"], "kwargs": {"min_value": 10}},
        {"expectation_type": WRITTEN["type"], "min_value": 10, "name": "n", "severity": "info"},
        {"expectation_type": WRITTEN["type"], "implementation": {"min_value": 10}},
        {"code": WRITTEN["type"], "parameters": [{"parameter": "min_value", "value": 10}]},
    ],
)
def test_every_way_of_writing_an_expectation_means_the_same(entry):
    assert drafts(placed(), {"type": "custom", "engine": "great-expectations", **entry}) == (
        ROWS_AT_LEAST_10
    )


@pytest.mark.parametrize("beside", [{"mustBe": 0}, {"unit": "percent"}])
def test_operators_beside_an_expectation_are_an_error(beside):
    entry = {"implementation": "expect_column_values_to_not_be_null", **beside}
    (draft,) = drafts(placed("amount"), entry)
    assert "would be ignored" in draft.error
    assert "`mostly`" in draft.error


def test_an_expectation_may_be_its_name_alone():
    entry = {"implementation": "expect_column_values_to_not_be_null"}
    assert drafts(placed("amount"), entry) == [value_check("not_null")]


def test_a_suite_gives_a_labelled_draft_or_more_per_expectation():
    suite = {
        "expectations": [
            {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "id"}},
            {"type": "expect_no_such_thing"},
            WRITTEN,
            {"kwargs": {}},
        ]
    }
    first, second, third, fourth = drafts(placed(), {"implementation": suite})
    assert first.label == "expect_column_values_to_not_be_null(id)"
    assert first.columns == ("order_id",)
    assert second.error
    assert third.label == "expect_table_row_count_to_be_between"
    assert "no expectation is named" in fourth.error


@pytest.mark.parametrize(("word", "ours"), [("critical", "error"), ("warning", "warning")])
def test_the_severity_of_an_expectation_is_kept(word, ours):
    (draft,) = drafts(placed(), {"implementation": {**WRITTEN, "severity": word}})
    assert draft.severity == ours


def test_a_column_is_found_by_its_physical_name_too():
    (draft,) = expected("column_values_to_not_be_null", "", column="status_cd")
    assert draft.columns == ("status_cd",)


def test_arguments_of_the_report_are_ignored_and_others_are_told():
    (draft,) = expected("column_values_to_not_be_null", result_format="BASIC", modus="x")
    assert draft.notes == ("modus of expect_column_values_to_not_be_null is unknown and not read",)


# ----------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("implementation", "told"),
    [
        ({"type": "expect_column_values_to_be_uniq"}, "expect_column_values_to_be_unique"),
        ({"type": "expect_column_kl_divergence_to_be_less_than"}, "has no check of ours"),
        ({"type": "expect_column_values_to_be_between", "kwargs": {}}, "min_value, max_value"),
        ({"type": "expect_column_values_to_be_in_set"}, "needs 'value_set'"),
        (
            {"type": "expect_column_values_to_be_in_set", "kwargs": {"value_set": "a"}},
            "must be a list, got 'a'",
        ),
        (
            {"type": "expect_column_values_to_not_be_null", "kwargs": {"mostly": 95}},
            "a share from 0 to 1",
        ),
        (
            {
                "type": "expect_table_row_count_to_equal",
                "kwargs": {"value": {"$PARAMETER": "upstream"}},
            },
            "must be a number",
        ),
        (
            {
                "type": "expect_column_max_to_be_between",
                "kwargs": {"max_value": "2024-01-01", "strict_max": True},
            },
            "only a number",
        ),
        (
            {"type": "expect_column_values_to_be_of_type", "kwargs": {"type_": "Blob9"}},
            "no type of Spark",
        ),
        ({"type": "expect_column_to_exist", "kwargs": {"column_index": 2}}, "column_index"),
        ({"kwargs": {"min_value": 1}}, "no expectation is named"),
        ({"type": "expect_column_to_exist", "kwargs": [1]}, "must be a mapping"),
        ({"expectations": []}, "no expectation"),
        ("type: [", "implementation"),
        (17, "no expectation"),
    ],
)
def test_what_cannot_be_run_says_why(implementation, told):
    (draft,) = drafts(placed("amount"), {"implementation": implementation})
    assert told in draft.error


def test_a_column_expectation_on_a_table_needs_its_column():
    (draft,) = drafts(placed(), {"implementation": {"type": "expect_column_values_to_be_unique"}})
    assert "needs 'column'" in draft.error
