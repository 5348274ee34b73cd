"""Results as the observability document proposed to the contract standard."""

from __future__ import annotations

import json

import pytest
from made_results import RUN, failed, made, report

from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.outcome import CheckStatus
from lakeproof.reporting.observability import render_observability

OF_SHOP = {"contract": "shop", "contract_version": "1.2.0", "origin": "quality"}


def document(*results):
    return json.loads(render_observability(report(*results)))


def test_a_run_of_one_contract_names_it_once():
    found = document(made("a", declared=OF_SHOP, suite="shop.yaml"), made("b", declared=OF_SHOP))
    results = found.pop("results")
    assert found == {
        "apiVersion": "v0.1.0",
        "kind": "ObservabilityResults",
        "id": RUN,
        "observedAt": "2025-01-02T03:04:05.000000Z",
        "source": {"process": "shop.yaml", "runID": RUN, "vendor": "lakeproof"},
        "contract": {"contractID": "shop", "standard": "ODCS", "version": "1.2.0"},
    }
    assert not [one for one in results if "contract" in one]


def test_results_of_several_contracts_name_theirs_each():
    other = {**OF_SHOP, "contract": "stock"}
    found = document(made("a", declared=OF_SHOP), made("b", declared=other), made("of_a_suite"))
    assert "contract" not in found
    named = [one.get("contract", {}).get("contractID") for one in found["results"]]
    assert named == ["shop", "stock", None]


def test_a_result_says_what_was_measured_and_against_what():
    named = {**OF_SHOP, "name": "Few NULLs"}
    (found,) = document(
        failed("shop/few", declared=named, threshold="< 2 %", measure=2.5, failing_rows=25)
    )["results"]
    assert found == {
        "id": "shop/few",
        "type": "check",
        "name": "Few NULLs",
        "status": "fail",
        "severity": "error",
        "dimension": "completeness",
        "target": {
            "resourceType": "property",
            "resourceIdentifier": "iceberg.lakehouse.sales.amount",
        },
        "measure": {
            "metric": "not_null",
            "value": 2.5,
            "threshold": {"mustBeLessThan": 2},
            "unit": "percent",
        },
        "message": "5 of 1000 rows have NULL in amount",
    }


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (CheckStatus.PASSED, "pass"),
        (CheckStatus.FAILED, "fail"),
        (CheckStatus.WARNED, "warn"),
        (CheckStatus.ERROR, "error"),
        (CheckStatus.SKIPPED, "skip"),
    ],
)
def test_its_words_for_statuses_are_its_own(status, word):
    (found,) = document(made("r", status))["results"]
    assert found["status"] == word
    assert ("measure" in found) is (word in {"pass", "fail", "warn"})


def term(operator, value, high=None):
    return Term(operator, value, high)


@pytest.mark.parametrize(
    ("comparison", "threshold", "unit"),
    [
        (Comparison((term(Operator.MUST_BE, 0),), Unit.ROWS), {"mustBe": 0}, "rows"),
        (Comparison((term(Operator.MUST_BE, True),)), {"mustBe": True}, None),
        (Comparison((term(Operator.MUST_NOT_BE, -1.5),)), {"mustNotBe": -1.5}, None),
        (
            Comparison((term(Operator.BETWEEN, 1, 3),), Unit.PERCENT, open_ranges=True),
            {"mustBeBetween": [1, 3]},
            None,
        ),
        (
            Comparison((term(Operator.NOT_BETWEEN, 1, 3),), Unit.HOURS),
            {"mustNotBeBetween": [1, 3]},
            "hours",
        ),
        (
            Comparison((term(Operator.GREATER, 1), term(Operator.LESS_OR_EQUAL, 9)), Unit.PERCENT),
            {"mustBeGreaterThan": 1, "mustBeLessOrEqualTo": 9},
            "percent",
        ),
    ],
    ids=str,
)
def test_a_comparison_is_told_by_the_operators_of_the_standard(comparison, threshold, unit):
    (found,) = document(failed("r", threshold=f"rows 1 to 2; {comparison}", measure=2.0))["results"]
    assert found["measure"]["threshold"] == threshold
    if unit is not None:
        assert found["measure"]["unit"] == unit


def test_a_tolerance_is_told_in_rows():
    strict, share = document(failed("a"), failed("b", threshold="share <= 0.01"))["results"]
    assert strict["measure"] == {
        "metric": "not_null",
        "value": 5,
        "threshold": {"mustBe": 0},
        "unit": "rows",
    }
    assert share["measure"]["threshold"] == {"description": "share <= 0.01"}


def test_it_never_holds_what_a_row_holds():
    row_value = "4711-of-a-row"
    shown = failed(
        "newest",
        check_type="aggregate",
        details=f"max of iban is {row_value}",
        sample_keys=(row_value,),
        sample_values=(row_value,),
        threshold="= 3",
    )
    unknown = failed("plugged", check_type="no_such_check", details=row_value)
    told = render_observability(report(shown, unknown))
    assert row_value not in told
    assert "held against = 3" in told


def test_a_run_of_nothing_is_still_a_document():
    assert document()["results"] == []
