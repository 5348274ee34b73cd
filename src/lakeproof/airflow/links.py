"""From a task to its run."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperatorLink


class RunLink(BaseOperatorLink):
    """The page of the run.

    Airflow asks on the worker, when the task has ended, and keeps the answer: the hook and its
    connection are there, and no longer when the page of the task is drawn.
    """

    name = "Quality run"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ANN401 (as Airflow declares it)
        """'' where the connection names no address, or the task failed before it had a run."""
        return str(getattr(operator, "run_link", "") or "")
