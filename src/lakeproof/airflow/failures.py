"""Which errors Airflow may try again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from airflow.sdk.exceptions import AirflowFailException

from lakeproof.errors import (
    CheckDefinitionError,
    ConfigError,
    LedgerError,
    NothingSelectedError,
    PromotionError,
    StateSchemaError,
    SuiteError,
)
from lakeproof.model.nearest import nearest

Given = TypeVar("Given")

FINAL = (
    CheckDefinitionError,
    ConfigError,
    LedgerError,
    NothingSelectedError,
    PromotionError,
    StateSchemaError,
    SuiteError,
)
"""What was written wrongly, or can only be mended by another run, stays so however often a task is
tried."""

_OF_THE_CONNECTION = ("config", "store")


@contextmanager
def failing_at_once() -> Iterator[None]:
    """Errors of suite, option or configuration end the task; all others are Airflow's to retry."""
    try:
        yield
    except FINAL as problem:
        raise AirflowFailException(str(problem)) from problem


def call_with(
    options: Mapping[str, Any], bound: partial[Given], *hands_on_to: Callable[..., object]
) -> Given:
    """Call with further arguments; a name that is unknown or given already is a ConfigError.

    `hands_on_to` are those who take the names that the function itself does not know.
    """
    taken = signature(bound.func).bind_partial(*bound.args, **bound.keywords).arguments
    known = _names(bound.func).union(*map(_names, hands_on_to)) - set(taken)
    for name in options:
        if name in taken:
            raise ConfigError(f"{name!r} is not for `options`: {_giver_of(name)}.")
        if name not in known:
            near = nearest(name, known)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{name!r} is no option of {bound.func.__name__}.{hint}")
    return bound(**options)


def _giver_of(name: str) -> str:
    """Who says what an operator does not take from its options."""
    if name in _OF_THE_CONNECTION:
        return "the connection says it, whose extra `config` names a lakeproof.toml with [store]"
    return "the operator gives it, as an argument of its own or by itself"


def _names(function: Callable[..., object]) -> set[str]:
    parameters = signature(function).parameters.values()
    return {one.name for one in parameters if one.kind is not one.VAR_KEYWORD}
