"""Which errors Airflow may try again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airflow.sdk.exceptions import AirflowFailException

from lakeproof.errors import (
    CheckDefinitionError,
    ConfigError,
    LedgerError,
    NothingSelectedError,
    PromotionError,
    SuiteError,
)

FINAL = (
    CheckDefinitionError,
    ConfigError,
    LedgerError,
    NothingSelectedError,
    PromotionError,
    SuiteError,
)
"""What was written wrongly, or can only be mended by another run, stays so however often a task is
tried."""


@contextmanager
def failing_at_once() -> Iterator[None]:
    """Errors of suite, option or configuration end the task; all others are Airflow's to retry."""
    try:
        yield
    except FINAL as problem:
        raise AirflowFailException(str(problem)) from problem
