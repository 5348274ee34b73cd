"""The gate: whether these results may be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeproof.errors import GateClosedError
from lakeproof.model.outcome import CheckResult, CheckStatus

EXIT_OPEN = 0
EXIT_CLOSED_BY_DATA = 1
EXIT_USAGE = 2
EXIT_NOT_EVALUATED = 3
EXIT_FENCED = 4
EXIT_NOTHING = 5

_KNOWN = frozenset(CheckStatus)
EVALUATED = frozenset({CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.WARNED})


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Open or closed, with every reason; `failures` are the results that closed it."""

    is_open: bool
    reasons: tuple[str, ...]
    failures: tuple[CheckResult, ...] = ()

    @property
    def summary(self) -> str:
        """The seed's text: "N quality check(s) failed: name: details; ..."."""
        if self.failures:
            listed = "; ".join(f"{item.check_name}: {item.details}" for item in self.failures)
            return f"{len(self.failures)} quality check(s) failed: {listed}"
        return "; ".join(self.reasons) or "gate open"

    def raise_for_status(self) -> None:
        """Raise GateClosedError unless the gate is open."""
        if not self.is_open:
            raise GateClosedError(self.summary)

    def to_dict(self) -> dict[str, object]:
        return {"open": self.is_open, "reasons": list(self.reasons)}


def decide(results: Sequence[CheckResult], rules_expected: int | None = None) -> GateDecision:
    """Closed unless it is certain that everything was evaluated and nothing of weight failed.

    An unknown status, a missing result and an empty list close it: doubt is not a pass.
    """
    failures = tuple(result for result in results if closes(result))
    reasons = [f"{item.check_name}: {item.status}: {item.details}" for item in failures]
    if not any(result.status in EVALUATED or result in failures for result in results):
        reasons.append("nothing was evaluated")
    if rules_expected is not None and rules_expected != len(results):
        reasons.append(f"{rules_expected} rules gave {len(results)} results")
    return GateDecision(is_open=not reasons, reasons=tuple(reasons), failures=failures)


def closes(result: CheckResult) -> bool:
    """Whether this result alone closes the gate."""
    if result.status not in _KNOWN:
        return True
    if result.status == CheckStatus.ERROR:
        return True
    return result.status == CheckStatus.FAILED and result.severity == "error"


def exit_code(results: Sequence[CheckResult], decision: GateDecision, fail_on: str) -> int:
    """The process's exit code; `fail_on` shifts it, the decision stays as it is."""
    if not any(result.status in EVALUATED for result in results):
        has_errors = any(result.status == CheckStatus.ERROR for result in results)
        return EXIT_NOT_EVALUATED if has_errors else EXIT_NOTHING
    if fail_on == "never":
        return EXIT_OPEN
    if any(result.status == CheckStatus.FAILED for result in decision.failures):
        return EXIT_CLOSED_BY_DATA
    if not decision.is_open:
        return EXIT_NOT_EVALUATED
    if fail_on == "warning" and any(result.status == CheckStatus.WARNED for result in results):
        return EXIT_CLOSED_BY_DATA
    return EXIT_OPEN
