"""Each form that a rule may be written in becomes exactly these drafts."""

from fractions import Fraction

import pytest
from drafted_rules import EMPTY, contract_of, draft, drafts, must
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.choice import chosen_engine
from lakeproof.contracts.odcs import predefined
from lakeproof.contracts.odcs.forms import METADATA_KEYS, PREDEFINED_TYPES, TYPES, codes
from lakeproof.contracts.odcs.metadata import read_metadata
from lakeproof.contracts.odcs.operators import OPERATOR_KEYS
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.threshold import Threshold

PERCENT = {"empty_percent": "skip"}
VALUES = {"duplicates": "values"}
NONE_BAD = must("mustBe", 0)


def missing(values, *, null):
    return {"missing_values": values, "null_is_missing": null}


LIBRARY = [
    (
        {"metric": "nullValues", "mustBe": 0},
        "id",
        Draft("not_null", ("order_id",), {}, None, NONE_BAD),
    ),
    (
        {"type": "library", "metric": "nullValues", "mustBeLessThan": 5, "unit": "percent"},
        "address.city",
        Draft(
            "not_null",
            ("addr.city",),
            comparison=must("mustBeLessThan", 5, unit=Unit.PERCENT),
            choices=PERCENT,
        ),
    ),
    (
        {
            "metric": "missingValues",
            "arguments": {"missingValues": [None, "", "N/A"]},
            "mustBeLessOrEqualTo": 3,
        },
        "price",
        Draft(
            "missing_values",
            ("price",),
            missing((None, "", "N/A"), null=True),
            comparison=must("mustBeLessOrEqualTo", 3),
            choices={"null_is_missing": "always"},
        ),
    ),
    (
        {"metric": "invalidValues", "arguments": {"validValues": ["S", None, "M"]}, "mustBe": 0},
        "price",
        Draft(
            "invalid_values",
            ("price",),
            {"valid_values": ("S", "M")},
            comparison=NONE_BAD,
            notes=("NULL is never invalid, listed or not",),
        ),
    ),
    (
        {"metric": "invalidValues", "arguments": None, "pattern": "[A-Z]+", "mustBe": 0},
        "price",
        Draft(
            "invalid_values",
            ("price",),
            {"pattern": "[A-Z]+", "full": False},
            comparison=NONE_BAD,
            notes=("pattern is read as one of the arguments",),
            choices={"regex": "find"},
        ),
    ),
    (
        {"metric": "duplicateValues", "mustBe": 0},
        "quantity",
        Draft("uniqueness", ("qty",), comparison=NONE_BAD, choices=VALUES),
    ),
    (
        {
            "metric": "duplicateValues",
            "arguments": {"properties": ["id", "quantity"]},
            "mustBeBetween": [0, 10],
        },
        "",
        Draft(
            "uniqueness",
            ("order_id", "qty"),
            comparison=must("mustBeBetween", 0, 10),
            choices={**VALUES, "between": "closed"},
        ),
    ),
    (
        {"metric": "rowCount", "mustBeGreaterThan": 1000},
        "",
        Draft("row_count_range", comparison=must("mustBeGreaterThan", 1000)),
    ),
    (
        {"type": "library", "rule": "rowCount", "mustBe": 3},
        "",
        Draft(
            "row_count_range",
            comparison=must("mustBe", 3),
            notes=("`rule` is the old name of `metric`",),
        ),
    ),
    (
        {"metric": "rowCount", "mustBe": 3, "colour": "red"},
        "price",
        Draft(
            "row_count_range",
            comparison=must("mustBe", 3),
            notes=(
                "rowCount counts the rows of the table, on whatever property it stands",
                "key 'colour' is kept but not used",
            ),
        ),
    ),
]


@pytest.mark.parametrize(("raw", "on", "expected"), LIBRARY)
def test_a_library_metric_is_one_check_with_its_comparison(raw, on, expected):
    assert draft(raw, on) == expected


def test_the_switches_decide_and_are_recorded():
    settings = ContractSettings(null_is_missing="listed", regex="full", duplicates="surplus")
    found = draft(
        {"metric": "missingValues", "arguments": {"missingValues": [""]}, "mustBe": 0},
        "price",
        settings=settings,
    )
    assert found.params == missing(("",), null=False)
    assert found.choices == {"null_is_missing": "listed"}
    invalid = {"metric": "invalidValues", "arguments": {"pattern": "x"}, "mustBe": 0}
    assert draft(invalid, "price", settings=settings).params == {"pattern": "x", "full": True}
    duplicates = draft({"metric": "duplicateValues", "mustBe": 0}, "price", settings=settings)
    assert duplicates.comparison.duplicates == "surplus"
    assert duplicates.choices == {"duplicates": "surplus"}


@pytest.mark.parametrize(
    ("raw", "on", "told"),
    [
        ("price > 0", "", "a rule is a mapping"),
        (None, "", "a rule is a mapping"),
        ({}, "", "nothing says what to check"),
        ({"mustBe": 0}, "price", "mustBe of what?"),
        ({"type": "library", "mustBe": 0}, "price", "a library rule needs `metric`"),
        ({"type": "libary"}, "price", "Nearest known: library."),
        ({"metric": "nullValue", "mustBe": 0}, "price", "Nearest known: nullValues"),
        ({"metric": 7, "mustBe": 0}, "price", "metric must be a text"),
        ({"rule": "nulls", "mustBe": 0}, "price", "no metric 'nulls'"),
        ({"metric": "nullValues"}, "price", "needs an operator: one of mustBe, mustNotBe"),
        ({"metric": "nullValues", "mustBe": 0}, "", "into the `quality` of that property"),
        ({"metric": "invalidValues", "mustBe": 0}, "price", "which values are valid"),
        (
            {"metric": "invalidValues", "mustBe": 0, "arguments": {"validValues": "S"}},
            "price",
            "validValues must be a list",
        ),
        ({"metric": "duplicateValues", "mustBe": 0}, "", "needs arguments.properties"),
        (
            {"metric": "duplicateValues", "mustBe": 0, "arguments": {"properties": ["prise"]}},
            "",
            "no property 'prise'. Nearest known: price.",
        ),
        ({"metric": "rowCount", "mustBe": 9, "unit": "percent"}, "", "rowCount has no percent"),
        ({"metric": "rowCount", "mustBe": 9, "arguments": [1]}, "", "arguments must be a mapping"),
        ({"type": "sql", "mustBe": 0}, "", "needs `query`"),
        ({"type": "metric_expression", "mustBe": 0}, "", "`type: sql`"),
        ({"metric_expression": "max(price)", "mustBe": 0}, "", "`type: sql`"),
        ({"type": "custom", "engine": "soda"}, "", "needs `implementation`"),
        ({"code": "requierd"}, "price", "Nearest known: required"),
        ({"code": "required", "parameters": {"tolerence": "2%"}}, "price", "tolerance"),
        ({"code": "required", "parameters": "2%"}, "price", "a list or a mapping"),
        ({"code": "required", "parameters": [{"tolerance": 1}]}, "price", "`parameter: name`"),
        ({"code": "required", "parameters": {"tolerance": 2}}, "price", "write a share"),
        ({"code": "row_count", "parameters": {"tolerance": "2%"}}, "", "must_be_... thresholds"),
        (
            {"code": "freshness", "parameters": {"max_age": "1d", "tolerance": "2%"}},
            "price",
            "no percent of rows",
        ),
        ({"type": "custom", "implementation": {"colour": 1}}, "", "needs `check`"),
    ],
)
def test_a_bad_rule_is_one_error_that_says_what_next(raw, on, told):
    found = draft(raw, on)
    assert told in found.error
    assert not found.skipped
    assert not found.check


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "text", "description": "Addresses were verified"},
        {"description": "Addresses were verified", "dimension": "accuracy", "tags": ["a"]},
        {"type": "text"},
    ],
)
def test_a_text_is_skipped(raw):
    found = draft(raw, "price")
    assert found.skipped.startswith("a text for people")
    assert not found.error


SQL = "SELECT count(*) FROM ${table} WHERE price < 0"


@pytest.mark.parametrize(
    ("raw", "comparison"),
    [
        ({"type": "sql", "query": SQL, "mustBe": 0}, must("mustBe", 0, unit=Unit.NONE)),
        (
            {"type": "metric_query", "query": SQL, "must_be_less_than": 3},
            must("mustBeLessThan", 3, unit=Unit.NONE),
        ),
        ({"query": SQL}, Comparison()),
        ({"code": "sql", "query": f"{SQL};"}, Comparison()),
        (
            {"code": "sql", "query": SQL, "parameters": [{"parameter": "must_be", "value": 0}]},
            must("mustBe", 0, unit=Unit.NONE),
        ),
    ],
)
def test_a_query_is_one_value_with_its_comparison(raw, comparison):
    found = draft(raw)
    assert (found.check, found.error) == ("sql_value", "")
    assert "`iceberg`.`lake`.`orders`" in found.params["sql"]
    assert found.comparison == comparison


def test_raw_sql_in_rule_is_a_row_predicate_with_a_note():
    found = draft({"rule": "price > 0"}, "price")
    assert (found.check, found.params) == ("row_expression", {"expression": "price > 0"})
    assert any("deprecated" in note for note in found.notes)


def test_the_predefined_types_are_those_that_are_recognised():
    assert set(predefined._KINDS) == PREDEFINED_TYPES


@pytest.mark.parametrize(
    ("raw", "on"),
    [
        ({"type": "duplicate_count", "must_be_less_than": 10, "name": "few"}, "quantity"),
        ({"code": "duplicate_count", "parameters": {"must_be_less_than": 10}}, "quantity"),
        ({"code": "duplicate_count", "engine": "soda", "must_be_less_than": 10}, "quantity"),
        ({"code": "duplicate_count", "must_be_less_than": 10, "columns": ["quantity"]}, ""),
    ],
)
def test_a_predefined_type_is_the_same_by_type_and_by_code(raw, on):
    assert draft(raw, on) == Draft(
        "uniqueness", ("qty",), comparison=must("mustBeLessThan", 10), choices=VALUES
    )


def test_the_seeds_named_parameters_run():
    found = draft(
        {
            "code": "invalid_count",
            "engine": "soda",
            "parameters": [
                {"parameter": "valid_values", "value": ["S", "M", "L"]},
                {"parameter": "must_be_greater_than_or_equal", "value": 10},
            ],
        },
        "price",
    )
    assert (found.check, found.columns) == ("invalid_values", ("price",))
    assert list(found.params["valid_values"]) == ["S", "M", "L"]
    assert found.comparison == must("mustBeGreaterOrEqualTo", 10)


def test_required_on_a_property_is_its_column():
    assert draft({"code": "required"}, "id") == Draft("not_null", ("order_id",))


def test_required_on_an_object_is_every_required_property():
    assert drafts({"code": "required"}) == [
        Draft("not_null", ("order_id",), label="id"),
        Draft("not_null", ("addr.city",), {"parent_optional": True}, label="address.city"),
    ]


def test_required_without_required_properties_is_skipped():
    for owner in (EMPTY, None):
        found = draft({"code": "required"}, owner=owner)
        assert "no property here is required" in found.skipped


@pytest.mark.parametrize("given", ["2%", " 2 %", 0.02, "0.02"])
def test_a_tolerance_is_strict_percent_of_null_rows(given):
    raw = {"code": "required", "parameters": [{"parameter": "tolerance", "value": given}]}
    found = draft(raw, "id")
    assert found == Draft(
        "not_null",
        ("order_id",),
        comparison=must("mustBeLessThan", Fraction(2), unit=Unit.PERCENT),
        notes=("tolerance 2 % is strict: exactly 2 % of rows fails",),
        choices=PERCENT,
    )
    assert not found.comparison.holds(2)
    assert found.comparison.holds(Fraction(199, 100))


def test_a_tolerance_of_zero_tolerates_nothing():
    found = draft({"code": "required", "tolerance": 0}, "id")
    assert found.comparison == NONE_BAD
    assert found.notes == ("tolerance 0: no row may be bad",)


@pytest.mark.parametrize(
    ("raw", "on", "expected"),
    [
        (
            {"code": "nullValues", "parameters": {"mustBe": 0}},
            "id",
            Draft("not_null", ("order_id",), comparison=NONE_BAD),
        ),
        (
            {"code": "range", "parameters": {"min_value": 0, "max_value": 9}},
            "price",
            Draft("range", ("price",), {"min_value": 0, "max_value": 9}),
        ),
        (
            {"code": "is_unique", "columns": ["id", "price"], "colour": "red"},
            "",
            Draft(
                "uniqueness", ("order_id", "price"), notes=("key 'colour' is kept but not used",)
            ),
        ),
        (
            {"code": "freshness", "parameters": {"max_age": "1d"}},
            "price",
            Draft("freshness", ("price",), {"max_age": "1d"}),
        ),
        (
            {"code": "foreign_key", "parameters": {"references": "events"}},
            "price",
            Draft("foreign_key", ("price",), {"references": "iceberg.lake.events"}),
        ),
    ],
)
def test_a_code_may_be_a_metric_or_a_check_of_ours(raw, on, expected):
    assert draft(raw, on) == expected


@pytest.mark.parametrize(
    ("raw", "on", "expected"),
    [
        (
            {"engine": "lakeproof", "implementation": {"check": "not_null", "tolerance": "2%"}},
            "id",
            Draft("not_null", ("order_id",), threshold=Threshold(0.02)),
        ),
        (
            {"type": "custom", "engine": "lakeproof", "implementation": "not_null"},
            "id",
            Draft("not_null", ("order_id",)),
        ),
        (
            {
                "engine": "lakeproof",
                "check": "range",
                "column": "quantity",
                "params": {"min_value": 1},
                "filter": "price > 0",
                "absolute_tolerance": 3,
            },
            "",
            Draft("range", ("qty",), {"min_value": 1}, "price > 0", threshold=Threshold(rows=3)),
        ),
        (
            {
                "engine": "lakeproof",
                "implementation": "check: row_count_range\nmustBeGreaterThan: 5\n",
            },
            "price",
            Draft("row_count_range", comparison=must("mustBeGreaterThan", 5)),
        ),
        (
            {
                "engine": "lakeproof",
                "implementation": {"check": "freshness", "unit": "hours", "must_be_less_than": 2},
            },
            "price",
            Draft("freshness", ("price",), comparison=must("mustBeLessThan", 2, unit=Unit.HOURS)),
        ),
    ],
)
def test_engine_lakeproof_gives_every_check_of_ours(raw, on, expected):
    assert draft(raw, on) == expected


def test_an_unknown_check_of_ours_is_an_error_with_the_nearest():
    found = draft({"engine": "lakeproof", "implementation": {"check": "not_nul"}}, "id")
    assert "not_null" in found.error


def test_a_tolerance_beside_operators_is_an_error():
    raw = {"engine": "lakeproof", "check": "not_null", "tolerance": 0.1, "mustBe": 0}
    assert "not both" in draft(raw, "id").error


def test_an_engine_of_the_seed_takes_inline_keys():
    found = draft(
        {
            "type": "custom",
            "engine": "great-expectations",
            "expectation_type": "expect_table_row_count_to_be_between",
            "kwargs": {"min_value": 10000, "max_value": 50000},
        }
    )
    assert found.check == "row_count_range"


def test_a_code_of_an_engine_is_a_name_in_its_words():
    found = draft(
        {"code": "expect_column_values_to_not_be_null", "engine": "greatExpectations"}, "id"
    )
    assert (found.check, found.columns) == ("not_null", ("order_id",))
    assert draft({"code": "not_null", "engine": "dbt"}, "id").check == "not_null"


KEYS = st.sampled_from(
    sorted(
        {
            *METADATA_KEYS,
            *OPERATOR_KEYS,
            *("type", "metric", "rule", "code", "templateName", "toolName", "engine", "query"),
            *("implementation", "parameters", "arguments", "columns", "column", "unit", "colour"),
            *("validValues", "pattern", "filter_sql", "tolerance", "check", "kwargs"),
        }
    )
)
WORDS = st.sampled_from(
    sorted({*TYPES, *codes(), "soda", "dbt", "greatExpectations", "lakeproof", "SELECT 1", "x"})
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS
VALUES_OF_ANY_KIND = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(
    raw=st.dictionaries(KEYS, VALUES_OF_ANY_KIND, max_size=6) | VALUES_OF_ANY_KIND,
    on=st.sampled_from(["", "price"]),
)
def test_no_rule_raises_and_none_is_dropped(raw, on):
    found = drafts(raw, on)
    assert found
    assert all(one.check or one.error or one.skipped for one in found)
    contract = contract_of(raw)
    assert chosen_engine(raw, contract, ContractSettings()).name
    assert read_metadata(raw, contract, ContractSettings()).severity in {"error", "warning", "info"}


def test_a_rule_has_the_time_zone_of_its_custom_properties():
    raw = {
        "schedule": "0 9 * * *",
        "customProperties": [{"property": "timezone", "value": "Asia/Tokyo"}],
    }
    found = read_metadata(raw, contract_of(raw), ContractSettings()).declared
    assert found["timezone"] == "Asia/Tokyo"
