"""What all tasks of a quality DAG have in common."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout

from lakeproof.airflow.failures import failing_at_once
from lakeproof.airflow.hooks import DEFAULT_CONNECTION, LakeproofHook
from lakeproof.airflow.links import RunLink

if TYPE_CHECKING:
    from airflow.sdk import Context
    from pyspark.sql import SparkSession

    from lakeproof.model.outcome import CheckResult

RUN_TASK = "run_quality_checks"


class LakeproofOperator(BaseOperator):
    """What may be tried again, and what fails at once."""

    ui_color: ClassVar[str] = "#e8f5e9"

    def execute(self, context: Context) -> Any:  # noqa: ANN401 (what XCom takes)
        with failing_at_once():
            return self.work(context)

    @abstractmethod
    def work(self, context: Context) -> object:
        """What the task does; errors of configuration are told apart around it."""


class ConnectedOperator(LakeproofOperator):
    """A task that uses the Spark of a connection."""

    def __init__(
        self,
        *,
        conn_id: str = DEFAULT_CONNECTION,
        **kwargs: Any,  # noqa: ANN401 (those of BaseOperator)
    ) -> None:
        super().__init__(**kwargs)
        self.conn_id = conn_id
        self._session: SparkSession | None = None

    @cached_property
    def hook(self) -> LakeproofHook:
        return LakeproofHook(self.conn_id)

    def on_kill(self) -> None:
        """Cancel what Spark does for this task, wherever it does it.

        A statement that was cancelled would be taken for the error of one rule, and the run would
        go on: so the task is left at once. A timeout of Airflow is on its way out already; any
        other error that is being handled just now may be that of one rule too.
        """
        if self._session is None:
            return
        from lakeproof.engines.spark.interrupting import cancel_all

        with suppress(Exception):  # whatever is broken by now, the kill must not be lost
            cancel_all(self._session)
        if not isinstance(sys.exception(), AirflowTaskTimeout):
            raise KeyboardInterrupt

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        self.hook.require_lakehouse()
        with self.hook.session() as spark:
            self._session = spark
            try:
                yield spark
            finally:
                self._session = None


class RunOperator(ConnectedOperator):
    """A task about one run, with the link to it."""

    template_fields: Sequence[str] = ("run_id",)
    operator_extra_links = (RunLink(),)

    def __init__(
        self,
        *,
        run_id: str = "",
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.run_id = run_id
        self.run_link = ""

    def name_run(self, run_id: str) -> str:
        """The run that this task is about; a template that found nothing gives none."""
        if not run_id or run_id == "None":
            raise AirflowFailException(
                f"{self.task_id}: no run id. It is that of the task which ran the checks: "
                f"run_id=\"{{{{ ti.xcom_pull(task_ids='{RUN_TASK}')['run_id'] }}}}\""
            )
        self.run_link = self.hook.run_url(run_id)
        return run_id

    def kept_results(self, run_id: str) -> list[CheckResult]:
        """What the table of results has of this run, the gravest first."""
        from lakeproof.reporting.kept import heaviest_first
        from lakeproof.state.kept_runs import results_of_run

        self.hook.require_lakehouse()
        with self.hook.reader(self.session) as reader:
            return heaviest_first(results_of_run(reader, run_id))
