"""Results, written from a rule and what was found about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lakeproof.checks.kinds import Verdict
from lakeproof.model.outcome import DETAILS_CHARACTERS_MAX, CheckResult, CheckStatus
from lakeproof.model.rule import RejectedRule, Rule, Severity
from lakeproof.model.standing import KeyTotals
from lakeproof.planning.withholding import is_withheld
from lakeproof.running.findings import TableFindings
from lakeproof.running.holding import held_against
from lakeproof.running.judging import Evaluation

NOTHING = KeyTotals()


@dataclass(frozen=True, slots=True)
class RunLabels:
    """What a run is called, by us and by whoever started it.

    `may_repeat` is false for an id that was just made up: nothing can be recorded under it.
    """

    run_id: str
    dag_run_id: str = ""
    suite: str = ""
    try_number: int = 1
    may_repeat: bool = True


@dataclass(frozen=True, slots=True)
class ResultDraft:
    """Makes results; holds what all results of a run have in common."""

    labels: RunLabels
    executed_at: str

    def of(
        self,
        rule: Rule,
        found: TableFindings,
        evaluation: Evaluation,
        suppressed: KeyTotals = NOTHING,
    ) -> CheckResult:
        """The result of a rule that was planned: judged, or in error.

        `suppressed` are open violations that somebody has taken upon themselves.
        """
        pinned = found.plan.pinned
        unjudged = replace(
            self._unjudged(rule, evaluation.error),
            threshold=rule.limit,
            position=pinned.position.to_json() if pinned.position else "",
            duration=round(evaluation.seconds, 3),
            table_rows=found.table_rows,
            mode=found.plan.mode,
            mode_reason=found.plan.mode_reason,
        )
        verdict = evaluation.verdict
        if verdict is None:
            return unjudged
        held = held_against(rule, verdict, suppressed)
        verdict = replace(verdict, details=held.details, measure=held.measure)
        if held.skipped:
            return replace(
                unjudged,
                status=CheckStatus.SKIPPED,
                total_rows=verdict.total,
                details=_cut(verdict.details),
                measure=verdict.measure,
                measures=dict(verdict.measures),
            )
        if is_withheld(rule, found.plan):
            verdict = _withheld(verdict, passed=held.passed)
        failed = CheckStatus.FAILED if rule.severity is Severity.ERROR else CheckStatus.WARNED
        hits = evaluation.hits if rule.lists_rows else None
        unlisted = found.unlisted.get(rule.rule_id)
        note = f" (bad rows were not listed: {unlisted})" if unlisted else ""
        bound = f"{verdict.bound}; {rule.limit}" if verdict.bound else rule.limit
        return replace(
            unjudged,
            status=CheckStatus.PASSED if held.passed else failed,
            failing_rows=held.failing,
            suppressed_rows=held.suppressed,
            total_rows=verdict.total,
            details=_cut(verdict.details + note),
            measure=verdict.measure,
            measures=dict(verdict.measures),
            threshold=bound,
            sample_keys=hits.sample_keys if hits else (),
            sample_values=hits.sample_values if hits else (),
        )

    def rejected(self, rule: RejectedRule) -> CheckResult:
        """The result of a rule that could not even be planned."""
        status = CheckStatus.SKIPPED if rule.is_skipped else CheckStatus.ERROR
        return replace(self._unjudged(rule, rule.reason), status=status, mode="")

    def _unjudged(self, rule: Rule | RejectedRule, reason: str) -> CheckResult:
        return CheckResult(
            check_name=rule.key,
            check_type=rule.check,
            table_name=rule.table_label,
            column_name=rule.column_label,
            status=CheckStatus.ERROR,
            failing_rows=0,
            total_rows=0,
            details=_cut(reason),
            executed_at=self.executed_at,
            run_id=self.labels.run_id,
            rule_id=rule.rule_id,
            rule_key=rule.key,
            table_fqn=str(rule.table) if rule.table else "",
            severity=rule.severity.value,
            dimension=rule.dimension,
            tags=rule.tags,
            suite=self.labels.suite,
            try_number=self.labels.try_number,
            dag_run_id=self.labels.dag_run_id,
            source=rule.source,
            declared=dict(rule.declared),
        )


def _withheld(verdict: Verdict, *, passed: bool) -> Verdict:
    told = "within its bounds" if passed else "outside its bounds"
    details = f"{told}; the values are withheld, for a column is declared sensitive"
    return replace(verdict, details=details, measure=None, measures={})


def _cut(details: str) -> str:
    return details[:DETAILS_CHARACTERS_MAX]
