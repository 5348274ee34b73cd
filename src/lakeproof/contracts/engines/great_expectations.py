"""Rules for Great Expectations: one expectation, a list of them, or a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeproof.contracts.draft import Draft, Placed, Setting, error
from lakeproof.contracts.engines.expectations import EXPECTATIONS, expectation_drafts
from lakeproof.contracts.engines.given import Given, snake
from lakeproof.contracts.engines.implementation import (
    inline_keys,
    read_implementation,
    require_own_threshold,
)
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.nearest import nearest

_NAME_KEYS = ("expectation_type", "expectationType", "expectation", "type", "code")
_BESIDE = frozenset(
    {
        *("description", "expectation_context", "ge_cloud_id", "id", "kwargs", "meta", "notes"),
        *("rendered_content", "severity", "success_on_last_run"),
    }
)
"""Keys of an expectation that say nothing about what is checked."""
_OF_THE_REPORT = frozenset(
    {
        *("auto", "batch_id", "catch_exceptions", "include_config", "meta"),
        *("profiler_config", "result_format"),
    }
)
"""Arguments that change only what Great Expectations reports."""
_SEVERITIES = {"critical": "error", "warning": "warning", "info": "info"}


@dataclass(frozen=True, slots=True)
class _Expectation:
    name: str
    kwargs: Mapping[str, object] = field(default_factory=dict)
    severity: str = ""
    problem: str = ""


def drafts(placed: Placed, entry: Mapping[str, object]) -> list[Draft]:
    """A draft or more for each expectation of the rule; what cannot be read is an error."""
    try:
        require_own_threshold(entry, "Great Expectations", "`mostly`")
        found = list(_expectations(_whole(entry)))
    except LakeproofError as problem:
        return [error(str(problem))]
    if len(found) == 1:
        return _drafts(found[0], placed.setting)
    return [
        replace(draft, label=" ".join(filter(None, (_label(one), draft.label))))
        for one in found
        for draft in _drafts(one, placed.setting)
    ]


def _whole(entry: Mapping[str, object]) -> object:
    """What the rule asks: its implementation, which may leave the name to the rule's own keys."""
    given = read_implementation(entry)
    name = _name_of(entry)
    if not name or (isinstance(given, Mapping) and (_name_of(given) or "expectations" in given)):
        return given
    rest = given if isinstance(given, Mapping) else inline_keys(entry)
    return {**rest, "expectation_type": name}


def _expectations(given: object) -> Iterator[_Expectation]:
    if isinstance(given, str):
        yield _Expectation(given.strip())
    elif isinstance(given, Mapping):
        yield from _from_mapping(given)
    elif isinstance(given, Sequence) and given:
        for one in given:
            yield from _isolated(one)
    else:
        raise CheckDefinitionError(
            f"this is no expectation: {given!r}. Write {{type: expect_..., kwargs: {{...}}}}"
        )


def _isolated(given: object) -> Iterator[_Expectation]:
    """One of several: if it cannot be read, its neighbours still are."""
    try:
        yield from list(_expectations(given))
    except CheckDefinitionError as problem:
        yield _Expectation("unreadable", problem=str(problem))


def _from_mapping(given: Mapping[str, object]) -> Iterator[_Expectation]:
    if "expectations" in given:
        yield from _expectations(given["expectations"])
        return
    name = _name_of(given)
    if not name and len(given) == 1:
        key, inside = next(iter(given.items()))
        name, given = (key, {"kwargs": inside}) if _is_name(key) else ("", given)
    if not name:
        listed = ", ".join(map(repr, given)) or "nothing"
        raise CheckDefinitionError(
            f"no expectation is named; there is {listed}. Write type: expect_... and kwargs"
        )
    kwargs = given.get("kwargs")
    if not isinstance(kwargs, Mapping | None):
        raise CheckDefinitionError(f"'kwargs' of {name} must be a mapping, got {kwargs!r}")
    # A key beside `kwargs` that names the expectation is no argument; `type` may be one inside.
    inline = {
        key: value
        for key, value in given.items()
        if key not in _BESIDE and not (key in _NAME_KEYS and value == name)
    }
    severity = _SEVERITIES.get(str(given.get("severity", "")).lower(), "")
    yield _Expectation(name, {**inline, **(kwargs or {})}, severity)


def _name_of(given: Mapping[str, object]) -> str:
    named = (given.get(key) for key in _NAME_KEYS)
    return next((one for one in named if isinstance(one, str) and _is_name(one)), "")


def _is_name(text: str) -> bool:
    return snake(text.strip()).startswith("expect_")


def _label(one: _Expectation) -> str:
    """`expect_x(column)`: which of a suite's expectations it is."""
    column = one.kwargs.get("column")
    return f"{snake(one.name)}({column})" if isinstance(column, str) else snake(one.name)


def _drafts(one: _Expectation, setting: Setting) -> list[Draft]:
    if one.problem:
        return [error(one.problem)]
    name = snake(one.name)
    if name not in EXPECTATIONS:
        return [error(unknown(one.name, "expectation", EXPECTATIONS))]
    kwargs = {key: value for key, value in one.kwargs.items() if key not in _OF_THE_REPORT}
    given = Given(name, kwargs, setting)
    try:
        found = expectation_drafts(given, name)
    except LakeproofError as problem:
        return [error(str(problem))]
    return [
        replace(draft, severity=one.severity, notes=(*draft.notes, *given.unread()))
        for draft in found
    ]


def unknown(name: str, kind: str, known: Mapping[str, object]) -> str:
    """Why a name cannot be run, with those that somebody may have meant."""
    near = nearest(name, known)
    told = f"Nearest known: {', '.join(near)}." if near else f"Known: {', '.join(sorted(known))}."
    return f"{kind} {name!r} has no check of ours. {told}"
