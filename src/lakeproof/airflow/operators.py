"""The tasks of a quality DAG: run, persist, gate, promote.

What passes between them is a run id and counts. Results are staged by the first, recorded by the
second, and read from their table by the others, so each may be tried again alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowFailException

from lakeproof.airflow.assets import PROMOTED, is_news, trusted_asset
from lakeproof.airflow.failures import call_with
from lakeproof.airflow.operator_base import ConnectedOperator, LakeproofOperator, RunOperator
from lakeproof.airflow.run_ids import run_id_of
from lakeproof.errors import ConfigError, LakeproofError

if TYPE_CHECKING:
    from airflow.sdk import Context

    from lakeproof.contracts.gathering import Checks
    from lakeproof.planning.partitions import Partition
    from lakeproof.running.progress import StepDone

_SHOWN_MAX = 20


class RunChecksOperator(RunOperator):
    """Runs the checks and stages their results; bad data and broken rules do not fail it.

    `checks` are what `lakeproof.run_checks` takes: QualityChecks, a contract or its path, a list
    of both. `partition`, `select`, `exclude`, `ledger` and `suite` are as there; `options` are its
    other arguments. Without `run_id` the task makes one, which its retries share.

    Returns `{"run_id": ..., "counts": {"passed": ..., ...}}`.
    """

    template_fields: Sequence[str] = (
        "run_id",
        "partition",
        "select",
        "exclude",
        "ledger",
        "suite",
        "options",
    )

    def __init__(
        self,
        *,
        checks: Checks,
        partition: Partition | None = None,
        select: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        ledger: str | None = None,
        suite: str = "",
        options: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.checks = checks
        self.partition = partition
        self.select = select
        self.exclude = exclude
        self.ledger = ledger
        self.suite = suite
        self.options = dict(options or {})

    def work(self, context: Context) -> dict[str, object]:
        from lakeproof.api import run_checks
        from lakeproof.reporting.document import counts_of
        from lakeproof.state.staging import StagingStore

        instance = context["ti"]
        run_id = self.name_run(self.run_id or run_id_of(instance, context["dag_run"]))
        stage, settings = self.hook.stage, self.hook.settings
        with self.session() as spark:
            run = partial(
                run_checks,
                spark,
                self.checks,
                store=StagingStore(spark, settings.store, stage, run_id),
                run_id=run_id,
                config=settings,
                dag_run_id=instance.run_id,
                try_number=instance.try_number,
                # Rules that a suite no longer has are resolved: two tasks must not share a name.
                suite=self.suite or f"{instance.dag_id}.{instance.task_id}",
                partition=self.partition,
                select=self.select,
                exclude=self.exclude,
                ledger=self.ledger,
                listener=self._tell,
            )
            outcome = call_with(self.options, run)
        staged = stage.read(run_id)
        if staged is None or len(staged) != len(outcome.results):
            raise LakeproofError(
                f"{len(outcome.results)} results were staged in {stage.address(run_id)}, and "
                f"{'none are' if staged is None else f'{len(staged)} are'} there"
            )
        for result in staged:  # without sample keys: logs are read by more people than tables
            self.log.info("%s %s: %s", result.status, result.check_name, result.details)
        return {"run_id": run_id, "counts": counts_of(staged)}

    def _tell(self, step: StepDone) -> None:
        self.log.info("%s (%.1f s)", step.text, step.seconds)


class PersistResultsOperator(RunOperator):
    """Records the staged results of a run in `_quality_results`, each once however often it runs.

    Returns `{"rows_inserted": ...}`: 0 where an earlier try had recorded them.
    """

    def work(self, context: Context) -> dict[str, int]:
        from lakeproof.state import open_store

        run_id = self.name_run(self.run_id)
        stage = self.hook.stage
        staged = stage.read(run_id)
        if staged is None:
            raise AirflowFailException(
                f"no results of run {run_id!r} are staged in {stage.address(run_id)}. Where "
                "workers share no disk, the extra `staging` of the connection names a place that "
                "all of them reach"
            )
        if not staged:
            return {"rows_inserted": 0}
        with self.session() as spark:
            store = open_store(spark, self.hook.settings.store)
            store.prepare()
            added = store.record_results(staged)
        self.log.info("%d of %d results are new in %s", added, len(staged), store.description)
        return {"rows_inserted": added}


class GateOperator(RunOperator):
    """Fails for good if a kept result of the run failed or is an error; warnings let it pass.

    `results_expected` is how many the run has: fewer in the table close the gate too.
    """

    template_fields: Sequence[str] = ("run_id", "results_expected")

    def __init__(
        self,
        *,
        results_expected: int | str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.results_expected = results_expected

    def work(self, context: Context) -> None:
        from lakeproof.gating.policy import decide

        expected = self._expected()
        results = self.kept_results(self.name_run(self.run_id))
        decision = decide(results, rules_expected=expected)
        if not decision.is_open:
            raise AirflowFailException(decision.summary)
        self.log.info("gate open: %d results", len(results))

    def _expected(self) -> int | None:
        try:
            return None if self.results_expected is None else int(self.results_expected)
        except ValueError as problem:
            raise ConfigError(
                f"{self.task_id}: results_expected must be a number, got {self.results_expected!r}"
            ) from problem


class PromoteOperator(RunOperator):
    """Lets the trusted rows of tables be exactly what the run has read, if its gate is open.

    `tables` are those to promote, all of the run if none are named. `ledger` are books that must
    balance, `options` the other arguments of `lakeproof.promote`. Each table whose trusted rows
    were moved has an event of its `trusted_asset`; one that was there already, or was promoted to
    another branch, has none. Airflow takes events of tasks that end well only: of a table that was
    moved before another one failed, or before the worker died, the next try or run tells.

    Returns what became of each: `{"iceberg.lakehouse.sales": "promoted"}`.
    """

    template_fields: Sequence[str] = ("run_id", "tables", "ledger", "options")

    def __init__(
        self,
        *,
        tables: str | Sequence[str] = (),
        ledger: str | None = None,
        options: Mapping[str, Any] | None = None,
        outlets: Sequence[Any] = (),
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(outlets=[PROMOTED, *outlets], **kwargs)
        self.tables = tables
        self.ledger = ledger
        self.options = dict(options or {})

    def work(self, context: Context) -> dict[str, str]:
        from lakeproof.promoting import promote

        run_id = self.name_run(self.run_id)
        with self.session() as spark:
            move = partial(
                promote,
                spark,
                run_id,
                tables=self.tables,
                ledger=self.ledger,
                config=self.hook.settings,
                dag_run_id=context["ti"].run_id,
            )
            outcome = call_with(self.options, move)
        self.log.info("%s", outcome)
        if outcome.gate is not None and not outcome.gate.is_open:
            raise AirflowFailException(outcome.gate.summary)
        for moved in outcome.tables:
            if is_news(moved):
                context["outlet_events"][PROMOTED].add(
                    trusted_asset(moved.table),
                    extra={
                        "run_id": run_id,
                        "target": moved.target,
                        "position": str(moved.after),
                        "counts": outcome.results_counted,
                    },
                )
            else:
                self.log.info("no event of %s: its trusted rows are those told before", moved.table)
        return {one.table: one.status.value for one in outcome.tables}


class ReconcileOperator(ConnectedOperator):
    """Compares two tables row by row; fails for good if they differ.

    `options` are the other arguments of `lakeproof.reconcile`. Returns the status and the numbers;
    the rows that differ are in its `output_table`, if one is named.
    """

    template_fields: Sequence[str] = ("source", "target", "partition", "options")

    def __init__(
        self,
        *,
        source: str,
        target: str,
        key: str | Sequence[str],
        partition: Partition | None = None,
        options: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.target = target
        self.key = key
        self.partition = partition
        self.options = dict(options or {})

    def work(self, context: Context) -> dict[str, object]:
        from lakeproof.model.outcome import CheckStatus
        from lakeproof.reconciliation import ChecksumReconciliationCheck, reconcile

        with self.session() as spark:
            compare = partial(
                reconcile,
                spark,
                self.source,
                self.target,
                key=self.key,
                partition=self.partition,
                config=self.hook.settings,
            )
            found = call_with(self.options, compare, ChecksumReconciliationCheck)
        self.log.info("%s", found.summary)
        if found.status in {CheckStatus.FAILED, CheckStatus.ERROR}:
            raise AirflowFailException(found.failure_message or found.summary)
        return {"status": str(found.status), "numbers": dict(found.metric_value)}


class VerifyLedgerOperator(LakeproofOperator):
    """Holds the ledger of a pipeline's run against storage, without Spark.

    Altered or unbalanced books fail it for good; what could merely not be read is tried again.
    """

    template_fields: Sequence[str] = ("ledger", "input_path")

    def __init__(
        self,
        *,
        ledger: str,
        input_path: str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.ledger = ledger
        self.input_path = input_path

    def work(self, context: Context) -> dict[str, object]:
        from lakeproof.accounting.without_spark.findings import UNREADABLE_EXIT
        from lakeproof.accounting.without_spark.verifying import verify_ledger

        report = verify_ledger(self.ledger, self.input_path)
        if not report.verified:
            told = "; ".join(found.message for found in report.findings[:_SHOWN_MAX])
            if report.exit_code == UNREADABLE_EXIT:
                raise LakeproofError(f"{self.ledger} cannot be verified: {told}")
            raise AirflowFailException(f"{self.ledger} is not verified: {told}")
        return {"balanced": report.balanced, "checked": len(report.checked)}
