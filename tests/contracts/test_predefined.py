"""Each predefined type becomes one draft: the check, its columns and parameters, the comparison."""

from __future__ import annotations

import pytest
from shop_contract import placed

from lakeproof.checks.catalogue import find_check
from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.odcs.forms import PREDEFINED_TYPES
from lakeproof.contracts.odcs.predefined import predefined_drafts
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

LESS = {"must_be_less_than": 5}


def less(unit: Unit = Unit.NONE) -> Comparison:
    return Comparison((Term(Operator.LESS, 5),), unit)


def none_of(unit: Unit = Unit.ROWS) -> Comparison:
    return Comparison((Term(Operator.MUST_BE, 0),), unit)


PERCENT = {"empty_percent": "skip"}
DUPLICATES = {"duplicates": "values"}
ROWS_PRESENT = Comparison((Term(Operator.GREATER, 0),), Unit.ROWS)
LENGTH = "length(`size_code`)"

TYPES = [
    ("rows_present", "", {}, Draft("row_count_range", comparison=ROWS_PRESENT)),
    ("row_count", "", LESS, Draft("row_count_range", comparison=less(Unit.ROWS))),
    ("no_missing_values", "size", {}, Draft("not_null", ("size_code",), comparison=none_of())),
    ("missing_count", "size", LESS, Draft("not_null", ("size_code",), comparison=less(Unit.ROWS))),
    (
        "missing_percent",
        "size",
        {**LESS, "missing_values": ["N/A", 0]},
        Draft(
            "missing_values",
            ("size_code",),
            {"missing_values": ["N/A", "0"]},
            comparison=less(Unit.PERCENT),
            choices=PERCENT,
        ),
    ),
    (
        "no_invalid_values",
        "size",
        {"valid_values": ["S", "M"], "filter_sql": "country = 'UK'"},
        Draft(
            "invalid_values",
            ("size_code",),
            {"valid_values": ["S", "M"]},
            filter="country = 'UK'",
            comparison=none_of(),
        ),
    ),
    (
        "invalid_count",
        "size",
        {**LESS, "valid_format": "date us"},
        Draft(
            "invalid_values",
            ("size_code",),
            {"valid_format": "date us"},
            comparison=less(Unit.ROWS),
        ),
    ),
    (
        "invalid_percent",
        "price",
        {**LESS, "valid_min": 0, "valid_max": "9.5"},
        Draft(
            "invalid_values",
            ("price_eur",),
            {"valid_min": 0, "valid_max": pytest.approx(9.5)},
            comparison=less(Unit.PERCENT),
            choices=PERCENT,
        ),
    ),
    (
        "no_duplicate_values",
        "id",
        {},
        Draft("uniqueness", ("order_id",), comparison=none_of(), choices=DUPLICATES),
    ),
    (
        "unique",
        "",
        {"columns": ["id", "size"]},
        Draft("uniqueness", ("order_id", "size_code"), comparison=none_of(), choices=DUPLICATES),
    ),
    (
        "duplicate_count",
        "id",
        LESS,
        Draft("uniqueness", ("order_id",), comparison=less(Unit.ROWS), choices=DUPLICATES),
    ),
    (
        "duplicate_percent",
        "id",
        LESS,
        Draft(
            "uniqueness",
            ("order_id",),
            comparison=less(Unit.PERCENT),
            choices={**PERCENT, **DUPLICATES},
        ),
    ),
    (
        "freshness",
        "at",
        {**LESS, "unit": "hours"},
        Draft("freshness", ("ordered_at",), comparison=less(Unit.HOURS)),
    ),
    *(
        (
            f"freshness_in_{unit}",
            "at",
            LESS,
            Draft("freshness", ("ordered_at",), comparison=less(Unit(unit))),
        )
        for unit in ("days", "hours", "minutes")
    ),
    *(
        (
            kind,
            "price",
            LESS,
            Draft("aggregate", ("price_eur",), {"function": function}, comparison=less()),
        )
        for kind, function in {
            "min": "min",
            "max": "max",
            "avg": "avg",
            "sum": "sum",
            "stddev": "stddev",
            "stddev_samp": "stddev",
            "stddev_pop": "stddev_pop",
            "variance": "variance",
            "var_samp": "variance",
            "var_pop": "variance_pop",
        }.items()
    ),
    *(
        (
            f"{function}_length",
            "size",
            LESS,
            Draft(
                "aggregate", params={"function": function, "expression": LENGTH}, comparison=less()
            ),
        )
        for function in ("min", "max", "avg")
    ),
    (
        "percentile",
        "price",
        {**LESS, "percentile": 0.95},
        Draft(
            "aggregate",
            ("price_eur",),
            {"function": "percentile", "percentile": 0.95},
            comparison=less(),
        ),
    ),
]


@pytest.mark.parametrize(("kind", "column", "entry", "draft"), TYPES, ids=[t[0] for t in TYPES])
def test_each_type_becomes_its_draft(kind, column, entry, draft):
    assert predefined_drafts(placed(column), kind, {"type": kind, **entry}) == [draft]


def test_every_predefined_type_is_in_the_table():
    assert {row[0] for row in TYPES} == set(PREDEFINED_TYPES)


VALIDITY = [
    ("missing_values", ["x"], "missing_values", ["x"]),
    ("missing_regex_sql", "^-$", "missing_pattern", "^-$"),
    ("valid_values", ["S"], "valid_values", ["S"]),
    ("invalid_values", ["X"], "invalid_values", ["X"]),
    ("valid_format", "email", "valid_format", "email"),
    ("invalid_format", "uuid", "invalid_format", "uuid"),
    ("valid_regex_sql", r"^\d{4}$", "pattern", r"^\d{4}$"),
    ("invalid_regex_sql", "x", "invalid_pattern", "x"),
    ("valid_min", 1, "valid_min", 1),
    ("valid_max", "2024-01-01", "valid_max", "2024-01-01"),
    ("valid_length", 3, "valid_length", 3),
    ("valid_min_length", 1, "valid_min_length", 1),
    ("valid_max_length", 9, "valid_max_length", 9),
]


@pytest.mark.parametrize(("key", "value", "parameter", "expected"), VALIDITY)
def test_each_validity_argument_is_a_parameter_that_the_check_takes(
    key, value, parameter, expected
):
    entry = {"valid_values": ["a"], key: value}
    (draft,) = predefined_drafts(placed("size"), "no_invalid_values", entry)
    assert draft.params == {"valid_values": ["a"], parameter: expected}
    assert not draft.notes
    assert find_check(draft.check).read(draft.columns, draft.params)


@pytest.mark.parametrize(
    ("reference", "params"),
    [
        (
            {"dataset": "customers", "column": "id"},
            {"accepted_table": "lake.sales.t_customers", "accepted_column": "cid"},
        ),
        (
            {"object": "customers", "property": "id"},
            {"accepted_table": "lake.sales.t_customers", "accepted_column": "cid"},
        ),
        (
            {"dataset": "ref.countries", "column": "iso"},
            {"accepted_table": "ref.countries", "accepted_column": "iso"},
        ),
    ],
)
def test_reference_data_is_the_table_of_an_object_or_one_of_that_name(reference, params):
    entry = {"must_be_less_than": 3, "valid_values_reference_data": reference}
    (draft,) = predefined_drafts(placed("customer"), "invalid_percent", entry)
    assert (draft.check, draft.columns, draft.params) == ("accepted_values", ("customer",), params)
    assert draft.comparison == Comparison((Term(Operator.LESS, 3),), Unit.PERCENT)


@pytest.mark.parametrize(
    ("kind", "column", "entry", "reason"),
    [
        ("missing_count", "size", {}, "needs a threshold, one of must_be, must_not_be"),
        ("missing_count", "", LESS, "needs 'column', for it stands on no property"),
        ("no_missing_values", "size", LESS, "takes no threshold, and has must_be_less_than"),
        ("rows_present", "", LESS, "use row_count for one"),
        ("missing_count", "", {**LESS, "columns": ["id", "size"]}, "takes one column"),
        ("no_invalid_values", "size", {}, "needs to know what is valid: valid_values"),
        ("invalid_count", "size", {**LESS, "valid_values": "S"}, "must be a list, got 'S'"),
        ("invalid_count", "size", {**LESS, "valid_length": 1.5}, "must be a whole number"),
        ("freshness", "at", LESS, "needs one: days, hours or minutes"),
        ("percentile", "price", LESS, "needs the argument percentile"),
        ("percentile", "price", {**LESS, "percentile": 101}, "such as 0.95"),
        ("row_cout", "", LESS, "Nearest known: row_count"),
        ("missing_percent", "size", {"must_be_less_than": 101}, "percent are from 0 to 100"),
        ("row_count", "", {"must_be_between": [3, 1]}, "must_be_between"),
        ("row_count", "", {"must_be_smaller": 3}, "must_be_smaller"),
        ("row_count", "", {**LESS, "filter_sql": "a)", "filter": "b"}, "bracket"),
        (
            "invalid_count",
            "size",
            {**LESS, "valid_regex": "a", "valid_regex_sql": "b"},
            "valid_regex_sql beside valid_regex",
        ),
        (
            "missing_count",
            "size",
            {**LESS, "missing_regex": "a", "missing_format": "email"},
            "missing_regex beside missing_format",
        ),
        (
            "no_invalid_values",
            "size",
            {"valid_values": ["a"], "valid_values_reference_data": {"dataset": "x", "column": "y"}},
            "split it into two rules",
        ),
        (
            "no_invalid_values",
            "size",
            {"valid_values_reference_data": {"dataset": "x"}},
            "needs dataset and column, or object and property",
        ),
    ],
)
def test_a_bad_entry_is_one_draft_with_the_reason(kind, column, entry, reason):
    (draft,) = predefined_drafts(placed(column), kind, entry)
    assert reason in draft.error
    assert not draft.check


def test_a_table_level_rule_names_its_column_by_any_of_its_names():
    for name in ("address.zip", "zip", "zip_code", "addr.zip_code"):
        (draft,) = predefined_drafts(placed(), "no_missing_values", {"column": name})
        assert draft.columns == ("addr.zip_code",)


def test_a_column_that_the_contract_does_not_list_is_one_of_the_table():
    entry = {"columns": ["id", "warehouse"], "must_be_less_than": 1.0}
    (draft,) = predefined_drafts(placed("id"), "duplicate_percent", entry)
    assert (draft.error, draft.columns) == ("", ("order_id", "warehouse"))


def test_the_length_of_a_field_is_asked_by_its_quoted_path():
    (draft,) = predefined_drafts(placed("zip"), "max_length", LESS)
    assert draft.params["expression"] == "length(`addr`.`zip_code`)"


def test_a_percentile_above_one_is_read_as_percent():
    (draft,) = predefined_drafts(placed("price"), "percentile", {**LESS, "percentile": 95})
    assert draft.params["percentile"] == pytest.approx(0.95)


def test_a_count_with_the_unit_percent_is_a_percentage():
    (draft,) = predefined_drafts(placed("size"), "missing_count", {**LESS, "unit": "percent"})
    assert draft.comparison == less(Unit.PERCENT)


def test_a_percentage_may_be_written_with_its_sign():
    (draft,) = predefined_drafts(placed("size"), "missing_percent", {"must_be_less_than": "5%"})
    assert draft.comparison == less(Unit.PERCENT)


def test_several_thresholds_must_all_hold_and_are_noted():
    entry = {"must_be_greater_than": 1, "must_be_less_than_or_equal": 9}
    (draft,) = predefined_drafts(placed(), "row_count", entry)
    terms = (Term(Operator.GREATER, 1), Term(Operator.LESS_OR_EQUAL, 9))
    assert draft.comparison == Comparison(terms, Unit.ROWS)
    assert "must all hold" in draft.notes[0]


def test_what_says_nothing_to_the_type_is_noted_and_the_rest_runs():
    entry = {**LESS, "valid_valus": ["S"], "missing_values": [""], "name": "n", "severity": "low"}
    (draft,) = predefined_drafts(placed("id"), "duplicate_count", entry)
    assert draft.notes == (
        "valid_valus says nothing to duplicate_count; did you mean valid_values?",
        "missing_values says nothing to duplicate_count",
    )
    assert draft.check == "uniqueness"


def test_the_settings_choices_are_in_the_comparison_and_recorded():
    settings = ContractSettings(between="open", duplicates="surplus", empty_percent="pass")
    entry = {"must_be_between": [1, 5]}
    (draft,) = predefined_drafts(placed("id", settings), "duplicate_percent", entry)
    assert draft.comparison == Comparison(
        (Term(Operator.BETWEEN, 1, 5),),
        Unit.PERCENT,
        open_ranges=True,
        duplicates="surplus",
        empty_passes=True,
    )
    assert draft.choices == {"between": "open", "empty_percent": "pass", "duplicates": "surplus"}
