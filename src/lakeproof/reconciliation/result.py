"""What a comparison of two tables says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.pairing import PairFound, Sample

_PLAIN = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class QualityCheckResult:
    """Whether two tables agree, by which numbers, and where they do not.

    `metric_value` is empty where there is no verdict. `metadata` says how it was found: the
    statements, positions, method, and samples of what differs. `failure_message` is there unless
    it passed. `status` tells bad data (`failed`) from a comparison that could not be made
    (`error`), which no tolerance covers, and from one that had nothing to compare (`skipped`).
    """

    passed: bool
    metric_name: str
    metric_value: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    failure_message: str | None = None
    status: str = ""

    def __post_init__(self) -> None:
        if not self.status:
            status = CheckStatus.PASSED if self.passed else CheckStatus.FAILED
            object.__setattr__(self, "status", status)

    @property
    def summary(self) -> str:
        """What was found, in a sentence; also where it passed."""
        return str(self.metadata.get("details") or self.failure_message or "")

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return {
            "passed": self.passed,
            "status": str(self.status),
            "metric_name": self.metric_name,
            "metric_value": _plain(self.metric_value),
            "failure_message": self.failure_message,
            "metadata": _plain(self.metadata),
        }


def result_of(
    metric_name: str,
    title: str,
    metric_value: Mapping[str, int | float | None],
    result: CheckResult,
    found: PairFound | None,
) -> QualityCheckResult:
    """The result of a run, in the words of a comparison."""
    passed = result.status is CheckStatus.PASSED
    is_known = result.status not in {CheckStatus.ERROR, CheckStatus.SKIPPED}
    told = f"{title} failed: {result.details}" if is_known else result.details
    return QualityCheckResult(
        passed=passed,
        metric_name=metric_name,
        metric_value=metric_value if is_known else {},
        metadata={"details": result.details, **({} if found is None else _metadata(found))},
        failure_message=None if passed else told,
        status=CheckStatus.FAILED if result.status is CheckStatus.WARNED else result.status,
    )


def _metadata(found: PairFound) -> dict[str, object]:
    """What the engine says; samples and columns as it found them where it does not."""
    return {
        "samples": [_sample(one) for one in found.samples],
        "column_mismatches": {one.name: one.mismatches for one in found.columns},
        **found.metadata,
    }


def _sample(one: Sample) -> dict[str, object]:
    return {
        "kind": str(one.kind),
        "key": dict(one.key),
        "differing_columns": list(one.differing),
        "source": dict(one.source),
        "target": dict(one.target),
    }


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or type(value) in _PLAIN else str(value)
