"""Results in the form that is proposed to the contract standard (RFC 18, observability results).

Its words for statuses belong here only. It must not hold row data, so neither keys nor values of
rows are in it, nor the words of checks that quote values out of the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Operator, Unit
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.document import document_text
from lakeproof.reporting.run_report import RunReport

if TYPE_CHECKING:
    from lakeproof.checks.kinds import Check

API_VERSION = "v0.1.0"
KIND = "ObservabilityResults"
VENDOR = "lakeproof"
STANDARD = "ODCS"

_STATUS = {
    CheckStatus.PASSED: "pass",
    CheckStatus.FAILED: "fail",
    CheckStatus.WARNED: "warn",
    CheckStatus.ERROR: "error",
    CheckStatus.SKIPPED: "skip",
}
_NO_TOLERANCE = "0 rows"
_SIGNS = {
    "": Operator.MUST_BE,
    "not": Operator.MUST_NOT_BE,
    ">": Operator.GREATER,
    ">=": Operator.GREATER_OR_EQUAL,
    "<": Operator.LESS,
    "<=": Operator.LESS_OR_EQUAL,
    "between": Operator.BETWEEN,
    "not between": Operator.NOT_BETWEEN,
}
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_VALUE = rf"(?:{_NUMBER}|true|false)"
_SIGN = r"(?:not|[<>]=?)"
# As `model.comparison.Comparison` writes itself: terms joined by "and", then the unit.
_TERM = rf"(?:(?:not )?between {_NUMBER} and {_NUMBER}|(?:{_SIGN} )?{_VALUE})"
_LIMIT = re.compile(
    rf"{_TERM}(?: and {_TERM})*(?: \(ends excluded\))?(?: (%|rows|days|hours|minutes))?"
)
_PARTS = re.compile(rf"((?:not )?between) ({_NUMBER}) and ({_NUMBER})|(?:({_SIGN}) )?({_VALUE})")


def render_observability(report: RunReport) -> str:
    """The run as one document; results of several contracts name theirs each."""
    contracts = [_contract_of(result) for result in report.results]
    shared = contracts[0] if contracts and all(one == contracts[0] for one in contracts) else {}
    document: dict[str, object] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "id": report.run_id,
        "observedAt": report.executed_at.replace(" ", "T") + "Z" if report.executed_at else None,
        "source": {"process": _process(report), "runID": report.run_id, "vendor": VENDOR},
        "contract": shared,
        "results": [
            {**_result(result), **({} if shared else _present({"contract": contract}))}
            for result, contract in zip(report.results, contracts, strict=True)
        ],
    }
    return document_text(_present(document) | {"results": document["results"]})


def _process(report: RunReport) -> str:
    return next((result.suite for result in report.results if result.suite), VENDOR)


def _contract_of(result: CheckResult) -> dict[str, object]:
    if not result.declared.get("contract"):
        return {}
    return _present(
        {
            "contractID": result.declared["contract"],
            "standard": STANDARD,
            "version": result.declared.get("contract_version", ""),
        }
    )


def _result(result: CheckResult) -> dict[str, object]:
    table = result.table_fqn or result.table_name
    return _present(
        {
            "id": result.rule_key or result.check_name,
            "type": "check",
            "name": result.declared.get("name") or result.check_name,
            "status": _STATUS[result.status],
            "severity": result.severity,
            "dimension": result.dimension,
            "target": {
                "resourceType": "property" if result.column_name else "object",
                "resourceIdentifier": ".".join(filter(None, (table, result.column_name))),
            },
            "measure": _measure(result),
            "message": _message(result),
        }
    )


def _measure(result: CheckResult) -> dict[str, object]:
    """The number that was held against the threshold; there is none if nothing was judged."""
    if result.status in {CheckStatus.ERROR, CheckStatus.SKIPPED}:
        return {}
    limit, unit = _limit(result.threshold)
    value: float | None = result.measure
    if (not limit or result.threshold == _NO_TOLERANCE) and _counts_rows(result):
        # A tolerance has no operators; its rows are told rather than their share.
        value, unit = result.failing_rows, Unit.ROWS.value
    if value is None or not math.isfinite(value):
        return {}
    threshold = limit or {"description": result.threshold}
    return _present(
        {"metric": result.check_type, "value": value, "threshold": threshold, "unit": unit}
    )


def _limit(text: str) -> tuple[dict[str, object], str]:
    """The operators in a limit as results write it, and its unit; none if it is not of that form.

    A check's own bound may stand before it, with a semicolon between.
    """
    last = text.rpartition("; ")[2]
    whole = _LIMIT.fullmatch(last)
    if whole is None:
        return {}, ""
    found: dict[str, object] = {}
    for word, low, high, sign, value in _PARTS.findall(last):
        found[_SIGNS[word or sign].value] = (
            [_number(low), _number(high)] if word else _number(value)
        )
    unit = whole[1] or ""
    return found, Unit.PERCENT.value if unit == "%" else unit


def _number(text: str) -> bool | int | float:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _message(result: CheckResult) -> str:
    """The result's details, unless its check may quote values out of the data there."""
    judged = result.status not in {CheckStatus.ERROR, CheckStatus.SKIPPED}
    check = _check_of(result)
    if judged and (check is None or check.shows_values):
        return f"held against {result.threshold}" if result.threshold else ""
    return result.details


def _counts_rows(result: CheckResult) -> bool:
    from lakeproof.checks.kinds import MeasureCheck

    return not isinstance(_check_of(result), MeasureCheck)


def _check_of(result: CheckResult) -> Check | None:
    from lakeproof.checks.catalogue import find_check  # it loads sqlglot, which --help must not

    try:
        return find_check(result.check_type)
    except CheckDefinitionError:
        return None


def _present(values: Mapping[str, object]) -> dict[str, object]:
    """Without what says nothing; zero and false do say something."""
    return {key: value for key, value in values.items() if value not in (None, "", {}, [])}
