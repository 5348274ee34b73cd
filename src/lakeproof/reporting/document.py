"""The result document: what `--format json` prints and every other report is a view of.

Its shape is published in `result-document.schema.json`, beside this file and in the package.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.log_commands import COMMAND_MARK
from lakeproof.reporting.run_report import Decision, RunReport

DOCUMENT_VERSION = 1
"""Grows when a reader of the old shape would misread the new one; a new key does not count."""

_SCHEMA = "result-document.schema.json"


def run_document(run_id: str, results: Sequence[CheckResult], gate: Decision) -> dict[str, object]:
    """One run as plain values; read back from the store it has the same results, by weight."""
    return {
        "document_version": DOCUMENT_VERSION,
        "run_id": run_id,
        "executed_at": results[0].executed_at if results else None,
        "gate": {"open": gate.is_open, "reasons": list(gate.reasons)},
        "counts": counts_of(results),
        "results": [result_document(result) for result in results],
    }


def result_document(result: CheckResult) -> dict[str, object]:
    """One result; numbers that JSON does not have are null, as the store keeps them.

    Measures are sorted by name: a map has no order that every reader of the store would keep.
    """
    return {
        **result.to_dict(),
        "measure": _number(result.measure),
        "measures": {name: _number(value) for name, value in sorted(result.measures.items())},
    }


def counts_of(results: Sequence[CheckResult]) -> dict[str, int]:
    """How many results have each status, all statuses listed."""
    return {
        status.value: sum(1 for result in results if result.status == status)
        for status in CheckStatus
    }


def document_text(document: object) -> str:
    """Indented JSON in plain ASCII, so that no encoding and no terminal can spoil it."""
    return _ascii_json(document, indent=2)


def moment_text(value: datetime) -> str:
    """As `executed_at` of a result is written."""
    return value.isoformat(sep=" ", timespec="microseconds")


def render_json(report: RunReport) -> str:
    return document_text(run_document(report.run_id, report.results, report.gate))


def render_jsonl(report: RunReport) -> str:
    """A line for the run, then one for each result; `kind` tells them apart."""
    document = run_document(report.run_id, report.results, report.gate)
    results = document.pop("results")
    assert isinstance(results, list)  # noqa: S101 (we have just made it)
    lines = [{"kind": "run", **document}, *({"kind": "result", **one} for one in results)]
    return "\n".join(_ascii_json(line) for line in lines)


def schema_text() -> str:
    """The published JSON Schema of the result document."""
    return (files("lakeproof.reporting") / _SCHEMA).read_text(encoding="utf-8").rstrip("\n")


def _ascii_json(document: object, indent: int | None = None) -> str:
    text = json.dumps(_plain(document), indent=indent, allow_nan=False)
    # Both are only ever inside strings here, where an escape means the same character.
    return COMMAND_MARK.sub(r"#\\u0023", text.replace("\x7f", "\\u007f"))


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _plain(value: object) -> object:
    """JSON has no infinity and no NaN; as text they survive and still cannot be mistaken."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, datetime):
        return moment_text(value)
    if isinstance(value, str):
        # Half of a pair has no UTF-8 form, and strict readers refuse it.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
