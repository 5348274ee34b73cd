"""Rules of version 2 and names of version 3.0 run by their name, whatever the tool."""

import json

import pytest
from drafted_rules import ORDERS, contract_of, draft, drafts, must

from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.odcs.metadata import read_metadata
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

TOOL = {"toolName": "Elevate", "toolRuleName": "DQ.rw.tab1.Check"}
SETTINGS = ContractSettings()


ONE = "the schema of the standard allows one operator"
BOTH = (f"mustBeGreaterThan and mustBeGreaterOrEqualTo must all hold; {ONE}",)
UNDER_TWO = must("mustBeLessThan", 2, unit=Unit.PERCENT)
STRICT = ("tolerance 2 % is strict: exactly 2 % of rows fails",)
SKIP = {"empty_percent": "skip"}


def properties(**given):
    return {"customProperties": [{"property": key, "value": of} for key, of in given.items()]}


@pytest.mark.parametrize(
    ("raw", "on", "expected"),
    [
        (
            {"code": "nullCheck", "templateName": "NullCheck"},
            "id",
            Draft("not_null", ("order_id",)),
        ),
        ({"templateName": "NullCheck"}, "id", Draft("not_null", ("order_id",))),
        ({"code": "chk-1", "templateName": "NullCheck"}, "id", Draft("not_null", ("order_id",))),
        (
            properties(FIELD_NAME=None, COMPARE_TO=None, COMPARISON_TYPE="Greater than")
            | {"code": "nullCheck", "type": "dataQuality"},
            "id",
            Draft("not_null", ("order_id",)),
        ),
        (
            properties(FIELD_NAME="quantity", FILTER_CONDITIONS="1>0") | {"code": "nullCheck"},
            "",
            Draft("not_null", ("qty",), filter="1>0"),
        ),
        (
            properties(COMPARE_TO="5", COMPARISON_TYPE="Less than") | {"code": "NullCheck"},
            "id",
            Draft("not_null", ("order_id",), comparison=must("mustBeLessThan", 5)),
        ),
        (
            {"rule": "nullCheck", "mustBeLessThan": 1, "unit": "percent"},
            "id",
            Draft(
                "not_null",
                ("order_id",),
                comparison=must("mustBeLessThan", 1, unit=Unit.PERCENT),
                choices={"empty_percent": "skip"},
            ),
        ),
        (
            properties(min=100, max="200") | {"code": "countCheck"},
            "",
            Draft(
                "row_count_range",
                comparison=Comparison(
                    (Term(Operator.GREATER_OR_EQUAL, 100), Term(Operator.LESS_OR_EQUAL, 200)),
                    Unit.ROWS,
                ),
            ),
        ),
        (
            properties(COMPARE_TO=7, COMPARISON_TYPE="greater_than") | {"code": "CountCheck"},
            "",
            Draft("row_count_range", comparison=must("mustBeGreaterThan", 7)),
        ),
        (
            properties(min=0, max=500) | {"templateName": "RangeCheck"},
            "price",
            Draft("range", ("price",), {"min_value": 0, "max_value": 500}),
        ),
        (
            properties(min=0, max=500) | {"type": "library", "rule": "between"},
            "price",
            Draft("range", ("price",), {"min_value": 0, "max_value": 500}),
        ),
        (
            properties(min="2024-01-01") | {"rule": "minCheck"},
            "price",
            Draft("range", ("price",), {"min_value": "2024-01-01"}),
        ),
        (
            properties(min=1) | {"rule": "minCheck", "mustBeLessThan": 9},
            "price",
            Draft("range", ("price",), {"min_value": 1}, comparison=must("mustBeLessThan", 9)),
        ),
        (
            {"rule": "between", "mustBeBetween": [0, 500]},
            "price",
            Draft(
                *("range", ("price",), {"min_value": 0, "max_value": 500}),
                choices={"between": "closed"},
            ),
        ),
        (
            {"code": "RangeCheck", "mustBeGreaterThan": 5, "mustBeGreaterOrEqualTo": 3},
            "price",
            Draft("range", ("price",), {"min_value": 5, "min_exclusive": True}, notes=BOTH),
        ),
        (
            properties(min=0, max=9, COMPARE_TO=5, COMPARISON_TYPE="Less than")
            | {"code": "RangeCheck"},
            "price",
            Draft("range", ("price",), {"min_value": 0, "max_value": 5, "max_exclusive": True}),
        ),
        (
            properties(max=3, COMPARE_TO=5, COMPARISON_TYPE="Less than") | {"code": "maxCheck"},
            "price",
            Draft("range", ("price",), {"max_value": 3}),
        ),
        (
            {"rule": "minCheck", "arguments": {"min": 5}},
            "price",
            Draft("range", ("price",), {"min_value": 5}),
        ),
        (
            {"code": "nullCheck", "parameters": [{"parameter": "tolerance", "value": "2%"}]},
            "id",
            Draft("not_null", ("order_id",), comparison=UNDER_TWO, notes=STRICT, choices=SKIP),
        ),
        (
            properties(min=1) | {"code": "minCheck", "tolerance": 0.02},
            "price",
            Draft(
                *("range", ("price",), {"min_value": 1}),
                comparison=UNDER_TWO,
                notes=STRICT,
                choices=SKIP,
            ),
        ),
        (
            properties(FILTER_CONDITIONS="price > 1")
            | {"code": "nullCheck", "filter_sql": "id > 2"},
            "id",
            Draft("not_null", ("order_id",), filter="(\nprice > 1\n) AND (\nid > 2\n)"),
        ),
        (
            properties(COMPARE_TO=5, COMPARISON_TYPE="Greater than") | {"code": "RangeCheck"},
            "price",
            Draft("range", ("price",), {"min_value": 5, "min_exclusive": True}),
        ),
        (
            {"rule": "duplicateCount", "mustBeLessThan": 10, "unit": "rows"},
            "quantity",
            Draft(
                "uniqueness",
                ("qty",),
                comparison=must("mustBeLessThan", 10),
                choices={"duplicates": "values"},
            ),
        ),
        (
            {"code": "duplicateCount", "columns": "id, price", "mustBe": 0},
            "",
            Draft(
                "uniqueness",
                ("order_id", "price"),
                comparison=must("mustBe", 0),
                choices={"duplicates": "values"},
            ),
        ),
        (
            {"rule": "validValues", "validValues": ["a", "b"]},
            "price",
            Draft(
                "invalid_values",
                ("price",),
                {"valid_values": ("a", "b")},
                comparison=must("mustBe", 0),
                notes=("validValues is read as one of the arguments",),
            ),
        ),
    ],
)
def test_a_rule_runs_by_its_name_whatever_the_tool(raw, on, expected):
    assert draft({**raw, **TOOL}, on) == expected
    assert draft(raw, on) == expected


@pytest.mark.parametrize("between", ["open", "closed"])
def test_a_range_holds_its_ends_as_the_settings_say(between):
    found = draft(
        {"rule": "between", "mustBeBetween": [1, 5]},
        "price",
        settings=ContractSettings(between=between),
    )
    assert found.params.get("min_exclusive", False) is (between == "open")
    assert found.params.get("max_exclusive", False) is (between == "open")
    assert found.choices == {"between": between}


@pytest.mark.parametrize("name", ["countCheck", "RangeCheck", "between", "minCheck"])
def test_a_check_without_bounds_is_skipped_and_says_so(name):
    found = draft({"code": name}, "price")
    assert "has no bounds" in found.skipped
    assert not found.error


def test_comparing_with_a_property_is_a_relation_in_each_row():
    given = properties(COMPARE_TO="quantity", COMPARISON_TYPE="Less than or equal to")
    pair = Draft("column_pair", ("price", "qty"), {"operator": "<="}, label="price COMPARE_TO")
    assert drafts({"code": "RangeCheck", **given}, "price") == [pair]
    assert drafts({"code": "nullCheck", **given}, "price") == [
        Draft("not_null", ("price",)),
        pair,
    ]


def test_several_columns_are_several_drafts():
    assert drafts({"code": "nullCheck", "columns": ["id", "price"]}) == [
        Draft("not_null", ("order_id",), label="order_id"),
        Draft("not_null", ("price",), label="price"),
    ]


@pytest.mark.parametrize(
    ("raw", "on", "told"),
    [
        ({"code": "nullCheck"}, "", "into the `quality` of that property"),
        (properties(FIELD_NAME="prise") | {"code": "nullCheck"}, "", "Nearest known: price"),
        (properties(COMPARE_TO=5) | {"code": "nullCheck"}, "id", "COMPARISON_TYPE"),
        (
            properties(COMPARE_TO=5, COMPARISON_TYPE="Greater then") | {"code": "nullCheck"},
            "id",
            "greater than",
        ),
        (
            properties(COMPARE_TO="nowhere", COMPARISON_TYPE="Equal to") | {"code": "nullCheck"},
            "id",
            "no property 'nowhere'",
        ),
        (properties(min="many") | {"code": "countCheck"}, "", "min needs a number"),
        (properties(min=[1]) | {"code": "RangeCheck"}, "price", "min needs a number"),
        ({"rule": "between", "mustNotBe": 5}, "price", "takes bounds"),
        ({"code": "countCheck", "mustBe": 5, "unit": "percent"}, "", "it has no percent"),
        (
            {"rule": "nullCheck", "tolerance": 0.1, "mustBe": 0},
            "id",
            "tolerance beside an operator",
        ),
        (properties(min=5) | {"code": "countCheck", "tolerance": 0.1}, "", "tolerance beside"),
        (
            properties(min="2024-01-01", COMPARE_TO=5, COMPARISON_TYPE=">") | {"code": "minCheck"},
            "price",
            "the tighter is not known",
        ),
        ({"templateName": "NulCheck", "toolName": "Elevate"}, "id", "nullCheck"),
    ],
)
def test_a_bad_legacy_rule_is_one_error(raw, on, told):
    assert told in draft(raw, on).error


# ----------------------------------------------------------------------- what it says of itself


def metadata(raw, part=None, settings=SETTINGS, **more):
    return read_metadata(raw, contract_of(**more), settings, part)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (None, "error"),
        ("none", "error"),
        ("error", "error"),
        ("High", "error"),
        ("critical", "error"),
        ("warning", "warning"),
        ("warn", "warning"),
        ("low", "warning"),
        ("info", "info"),
    ],
)
def test_severities_have_one_map(word, expected):
    found = metadata({"severity": word})
    assert (found.severity, found.notes) == (expected, ())


def test_an_unknown_severity_is_an_error_and_says_so():
    found = metadata({"severity": "blocker"})
    assert found.severity == "error"
    (note,) = found.notes
    assert "'blocker' is not known" in note


def test_the_map_of_severities_is_configurable():
    settings = ContractSettings(severities={"blocker": "error", "low": "info"})
    assert metadata({"severity": "Blocker"}, settings=settings).notes == ()
    assert metadata({"severity": "low"}, settings=settings).severity == "info"


@pytest.mark.parametrize(
    ("word", "expected", "told"),
    [
        ("ac", "accuracy", ""),
        ("CP", "completeness", ""),
        ("cf", "conformity", ""),
        ("cs", "consistency", ""),
        ("cv", "coverage", ""),
        ("tm", "timeliness", ""),
        ("uq", "uniqueness", ""),
        ("uniqueness", "uniqueness", ""),
        ("validity", "conformity", "called conformity"),
        ("completness", "completness", "near: completeness"),
    ],
)
def test_dimensions_have_synonyms(word, expected, told):
    found = metadata({"dimension": word})
    assert found.dimension == expected
    assert told in "".join(found.notes)
    assert bool(told) is bool(found.notes)


def test_only_what_is_given_is_declared():
    raw = {
        "id": "q1",
        "name": "n",
        "description": "d",
        "tags": ["x", "y"],
        "businessImpact": "operational",
        "method": "reconciliation",
        "schedule": "0 20 * * *",
        "scheduler": "cron",
        "unit": "percent",
        "customProperties": [{"property": "a", "value": 1}],
        "metric": "rowCount",
        "mustBe": 0,
    }
    found = metadata(raw)
    assert (found.name, found.description, found.tags) == ("n", "d", ("x", "y"))
    assert json.loads(found.declared["customProperties"]) == [{"property": "a", "value": 1}]
    assert {key: text for key, text in found.declared.items() if key != "customProperties"} == {
        "id": "q1",
        "name": "n",
        "description": "d",
        "businessImpact": "operational",
        "method": "reconciliation",
        "schedule": "0 20 * * *",
        "scheduler": "cron",
        "unit": "percent",
    }


def test_version_two_has_defaults_and_renamed_keys():
    on_table = metadata({"code": "countCheck"})
    assert on_table.declared == {
        "method": "reconciliation",
        "schedule": "0 10 * * *",
        "scheduler": "cron",
    }
    on_column = metadata({"code": "nullCheck", **TOOL}, ORDERS.properties[0])
    assert on_column.declared["method"] == "dataQuality"
    assert on_column.declared["toolName"] == "Elevate"
    given = metadata(
        {"templateName": "X", "type": "reconciliation", "scheduleCronExpression": "0 20 * * *"},
        ORDERS.properties[0],
    )
    assert given.declared == {
        "templateName": "X",
        "method": "reconciliation",
        "schedule": "0 20 * * *",
        "scheduler": "cron",
    }


def test_a_rule_of_version_three_has_no_default_schedule():
    assert "schedule" not in metadata({"rule": "nullCheck"}).declared
    assert metadata("no mapping").severity == "error"
