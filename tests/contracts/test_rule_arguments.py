"""What stands beside a rule counts in every form: filters, units, operators, written values."""

from datetime import UTC, datetime

import pytest
from drafted_rules import draft, must
from reading_contracts import only_property

from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.model.comparison import Unit

OURS = {"type": "custom", "engine": "lakeproof"}
UNDER_THREE = {"mustBeLessThan": 3, "unit": "percent"}


@pytest.mark.parametrize(
    "raw",
    [
        {**OURS, "check": "not_null", **UNDER_THREE},
        {**OURS, "implementation": {"check": "not_null"}, **UNDER_THREE},
        {**OURS, "implementation": {"check": "not_null", **UNDER_THREE}},
        {**OURS, "implementation": {"rule": {"metric": "nullValues"}}, **UNDER_THREE},
    ],
)
def test_operators_and_unit_judge_a_check_of_ours_wherever_they_stand(raw):
    found = draft(raw, "id")
    assert (found.check, found.error) == ("not_null", "")
    assert found.comparison == must("mustBeLessThan", 3, unit=Unit.PERCENT)


def test_an_operator_that_is_given_twice_is_an_error():
    inside = {"check": "not_null", "mustBe": 1}
    found = draft({**OURS, "implementation": inside, "mustBe": 0}, "id")
    assert "keep one" in found.error


@pytest.mark.parametrize("key", ["filter_sql", "filter"])
@pytest.mark.parametrize(
    "raw",
    [
        {"metric": "nullValues", "mustBe": 0},
        {"code": "nullValues", "mustBe": 0},
        {"code": "required"},
        {"code": "not_null"},
        {"code": "nullCheck"},
        {"type": "missing_count", "must_be": 0},
        {**OURS, "check": "not_null"},
    ],
)
def test_a_filter_is_the_rules_filter_in_every_form(raw, key):
    found = draft({**raw, key: "price > 1"}, "id")
    assert (found.check, found.filter, found.notes) == ("not_null", "price > 1", ())


def test_a_filter_may_be_a_parameter_or_an_argument():
    listed = {"parameters": [{"parameter": "filter_sql", "value": "price > 1"}]}
    assert draft({"code": "required", **listed}, "id").filter == "price > 1"
    inside = {"arguments": {"filter_sql": "price > 1"}}
    assert draft({"metric": "nullValues", "mustBe": 0, **inside}, "id").filter == "price > 1"


def test_filters_are_joined_before_their_placeholders_are_filled():
    raw = {"type": "row_count", "must_be": 1, "filter_sql": "${column} > 1 -- many"}
    found = draft({**raw, "filter": "price < 9 OR price > 10"}, "id")
    joined = "(\n`order_id` > 1 -- many\n) AND (\nprice < 9 OR price > 10\n)"
    assert (found.error, found.filter) == ("", joined)


def test_a_filter_that_is_no_text_is_an_error():
    assert "must be SQL" in draft({"metric": "rowCount", "mustBe": 1, "filter": 7}).error


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"code": "required", "tolerance": "2%", "mustBe": 0}, "tolerance beside an operator"),
        ({"metric": "nullValues", "tolerance": 0.1, "mustBe": 0}, "tolerance beside an operator"),
        (
            {
                "code": "sql",
                "query": "SELECT 1",
                "parameters": [{"parameter": "tolerance", "value": "2%"}],
            },
            "no tolerance",
        ),
        ({"type": "metric_query", "query": "SELECT 1", "query_sql": "SELECT 2"}, "keep one"),
    ],
)
def test_what_says_two_things_is_an_error(raw, told):
    assert told in draft(raw, "id").error


def test_query_sql_is_the_query():
    raw = {"type": "metric_query", "query_sql": "SELECT count(*) FROM ${table}", "mustBe": 0}
    assert draft(raw) == draft({"type": "sql", "query": raw["query_sql"], "mustBe": 0})


@pytest.mark.parametrize("code", ["required", "nullValues"])
def test_soda_runs_the_codes_of_the_standard(code):
    operator = {} if code == "required" else {"mustBe": 0}
    assert draft({"code": code, "engine": "soda", **operator}, "id").check == "not_null"


RULES = {
    "{metric: invalidValues, arguments: {validValues: [LIST]}, mustBe: 0}": "valid_values",
    "{metric: missingValues, arguments: {missingValues: [LIST]}, mustBe: 0}": "missing_values",
    "{metric: invalidValues, validValues: [LIST], mustBe: 0}": "valid_values",
    "{type: no_invalid_values, valid_values: [LIST]}": "valid_values",
    "{code: invalid_count, must_be: 0, parameters: {valid_values: [LIST]}}": "valid_values",
}


@pytest.mark.parametrize(("rule", "parameter"), RULES.items())
def test_numbers_listed_for_a_text_are_the_text_that_the_file_has(rule, parameter):
    written = rule.replace("LIST", "1.10, 007, true, a")
    contract, _ = only_property(f"logicalType: string\nquality:\n- {written}")
    found = gather([contract], Config(), datetime(2026, 1, 1, tzinfo=UTC)).rules[0]
    assert sorted(found.arguments[parameter]) == ["007", "1.10", "a", "true"]
