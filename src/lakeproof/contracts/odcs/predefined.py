"""The types that the RFC's second option takes over from Soda: `missing_count`, `row_count` ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lakeproof.checks.soda_formats import SODA_FORMATS, read_format
from lakeproof.contracts.column_sql import column_sql
from lakeproof.contracts.draft import Draft, Placed, error
from lakeproof.contracts.engines.given import Given, all_of
from lakeproof.contracts.engines.implementation import inline_keys
from lakeproof.contracts.odcs.operators import (
    choices_of,
    is_operator_like,
    operator_notes,
    read_comparison,
)
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.nearest import nearest

THRESHOLDS = (
    "must_be, must_not_be, must_be_greater_than, must_be_greater_than_or_equal_to, "
    "must_be_less_than, must_be_less_than_or_equal_to, must_be_between, must_not_be_between"
)

_PERCENT_MAX = 100
_LISTS = ("valid_values", "invalid_values")
_LENGTHS = ("valid_length", "valid_min_length", "valid_max_length")
_BOUNDS = ("valid_min", "valid_max")
_TEXTS = {
    "valid_regex_sql": "pattern",
    "valid_regex": "pattern",
    "invalid_regex_sql": "invalid_pattern",
    "invalid_regex": "invalid_pattern",
    "valid_format": "valid_format",
    "invalid_format": "invalid_format",
}
_MISSING = ("missing_values", "missing_regex_sql", "missing_regex", "missing_format")
_VALIDITY = (*_LISTS, *_TEXTS, *_BOUNDS, *_LENGTHS, *_MISSING)
_REFERENCE = "valid_values_reference_data"

_AGE_UNITS = {
    **dict.fromkeys(("d", "day", "days"), Unit.DAYS),
    **dict.fromkeys(("h", "hr", "hour", "hours"), Unit.HOURS),
    **dict.fromkeys(("m", "min", "minute", "minutes"), Unit.MINUTES),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is counted or measured: a check of ours with its columns and parameters."""

    check: str
    columns: tuple[str, ...] = ()
    params: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a type is read.

    `always` is the threshold of one that takes none, and `instead` a type that does.
    `may_be_percent`: an entry's `unit` may ask for percent of what is counted.
    """

    read: Callable[[Given], _Asked]
    unit: Unit = Unit.NONE
    always: Mapping[str, object] | None = None
    instead: str = ""
    may_be_percent: bool = False


def predefined_drafts(placed: Placed, kind: str, entry: Mapping[str, object]) -> list[Draft]:
    """The one draft of an entry of that type, whose keys are flat: thresholds and arguments."""
    try:
        return [_draft(placed, kind, entry)]
    except LakeproofError as problem:
        return [error(str(problem))]


def _draft(placed: Placed, kind: str, entry: Mapping[str, object]) -> Draft:
    known = _KINDS.get(kind)
    if known is None:
        near = ", ".join(nearest(kind, _KINDS)) or ", ".join(_KINDS)
        raise CheckDefinitionError(f"{kind!r} is no known type. Nearest known: {near}")
    own = inline_keys(entry)
    operators = {key: value for key, value in own.items() if is_operator_like(key)}
    rest = {key: value for key, value in own.items() if key not in operators}
    if "unit" in entry:
        rest["unit"] = entry["unit"]
    given = Given(kind, rest, placed.setting)
    asked = known.read(given)
    comparison = _comparison(known, given, operators)
    chosen = choices_of(comparison, placed.setting.settings)
    if asked.check == "uniqueness":
        chosen["duplicates"] = placed.setting.settings.duplicates
    kept = all_of(given.text("filter_sql"), given.text("filter"))
    return Draft(
        check=asked.check,
        columns=asked.columns,
        params=asked.params or {},
        filter=kept,
        comparison=comparison,
        notes=(*operator_notes(operators), *_unused(given)),
        choices=chosen,
    )


def _comparison(known: _Kind, given: Given, operators: Mapping[str, object]) -> Comparison:
    if known.always is not None and operators:
        raise CheckDefinitionError(
            f"{given.test} takes no threshold, and has {', '.join(operators)}; "
            f"use {known.instead} for one"
        )
    unit = known.unit
    if given.test == "freshness":
        unit = _age_unit(given)
    asked = dict(known.always if known.always is not None else operators)
    if known.may_be_percent:
        asked["unit"] = given.take("unit")
    comparison = read_comparison(asked, given.setting.settings, unit=unit)
    if comparison is None:
        raise CheckDefinitionError(f"{given.test} needs a threshold, one of {THRESHOLDS}")
    return comparison


def _age_unit(given: Given) -> Unit:
    word = given.text("unit").strip().lower()
    if word not in _AGE_UNITS:
        raise CheckDefinitionError(
            f"freshness has the unit {word!r}; it needs one: days, hours or minutes"
        )
    return _AGE_UNITS[word]


def _unused(given: Given) -> tuple[str, ...]:
    """Keys that say nothing to the type, each with a name that was perhaps meant."""
    known = (*_VALIDITY, _REFERENCE, "filter_sql", "column", "columns", "unit", "percentile")
    notes = []
    for key in given.untaken():
        near = nearest(key, known, count_max=1) if key not in known else []
        hint = f"; did you mean {near[0]}?" if near else ""
        notes.append(f"{key} says nothing to {given.test}{hint}")
    return tuple(notes)


# ------------------------------------------------------------------------------- what is counted


def _columns(given: Given) -> tuple[str, ...]:
    if given.take("columns") is not None:
        return given.columns("columns")
    return (given.column("column"),)


def _column(given: Given) -> str:
    columns = _columns(given)
    if len(columns) != 1:
        raise CheckDefinitionError(
            f"{given.test} takes one column, got {', '.join(columns)}; write one rule for each"
        )
    return columns[0]


def _rows(_given: Given) -> _Asked:
    return _Asked("row_count_range")


def _duplicates(given: Given) -> _Asked:
    return _Asked("uniqueness", _columns(given))


def _missing(given: Given) -> _Asked:
    column = _column(given)
    params = _missing_params(given, column)
    return _Asked("missing_values" if params else "not_null", (column,), params)


def _missing_params(given: Given, column: str) -> dict[str, object]:
    params: dict[str, object] = {}
    if given.take("missing_values") is not None:
        params["missing_values"] = given.values("missing_values", column)
    _require_one(given, *(name for name in _MISSING if name != "missing_values"))
    for name in ("missing_regex_sql", "missing_regex"):
        if given.take(name) is not None:
            params["missing_pattern"] = given.text(name)
    if given.take("missing_format") is not None:
        known = read_format(given.test, "missing_format", given.text("missing_format"))
        params["missing_pattern"] = SODA_FORMATS[known]
    return params


def _require_one(given: Given, *names: str) -> None:
    """Refuse several names of one parameter: only one of them would count."""
    there = [name for name in names if given.take(name) is not None]
    if len(there) > 1:
        raise CheckDefinitionError(
            f"{given.test} has {' beside '.join(there)}; keep one, or split it into two rules"
        )


def _invalid(given: Given) -> _Asked:
    column = _column(given)
    if given.take(_REFERENCE) is not None:
        return _referenced(given, column)
    params: dict[str, object] = {}
    for name in _LISTS:
        if given.take(name) is not None:
            params[name] = given.values(name, column)
    _require_one(given, "valid_regex_sql", "valid_regex")
    _require_one(given, "invalid_regex_sql", "invalid_regex")
    for name, parameter in _TEXTS.items():
        if given.take(name) is not None:
            params[parameter] = given.text(name)
    for name in _BOUNDS:
        params[name] = given.bound(name)
    for name in _LENGTHS:
        params[name] = given.whole(name)
    params = {name: value for name, value in params.items() if value is not None}
    if not params:
        demands = [name for name in _VALIDITY if name not in _MISSING]
        raise CheckDefinitionError(
            f"{given.test} needs to know what is valid: {', '.join((*demands, _REFERENCE))}"
        )
    return _Asked("invalid_values", (column,), {**params, **_missing_params(given, column)})


def _referenced(given: Given, column: str) -> _Asked:
    """Values that another table has; {dataset, column} in Soda's words, {object, property} ours."""
    beside = [name for name in _VALIDITY if given.take(name) is not None]
    if beside:
        raise CheckDefinitionError(
            f"{given.test} has {_REFERENCE} beside {', '.join(beside)}; split it into two rules"
        )
    reference = given.take(_REFERENCE)
    parts = reference if isinstance(reference, Mapping) else {}
    table = next((parts[key] for key in ("dataset", "object") if parts.get(key)), None)
    other = next((parts[key] for key in ("column", "property") if parts.get(key)), None)
    if not isinstance(table, str) or not isinstance(other, str):
        raise CheckDefinitionError(
            f"{_REFERENCE} needs dataset and column, or object and property; got {reference!r}"
        )
    params = {
        "accepted_table": given.table(table),
        "accepted_column": given.column_of(table, other),
    }
    return _Asked("accepted_values", (column,), params)


def _freshness(given: Given) -> _Asked:
    return _Asked("freshness", (_column(given),))


def _aggregate(function: str) -> Callable[[Given], _Asked]:
    return lambda given: _Asked("aggregate", (_column(given),), {"function": function})


def _length(function: str) -> Callable[[Given], _Asked]:
    def read(given: Given) -> _Asked:
        expression = f"length({column_sql(_column(given))})"
        return _Asked("aggregate", (), {"function": function, "expression": expression})

    return read


def _percentile(given: Given) -> _Asked:
    share = given.number("percentile")
    if share is None or not 0 <= share <= _PERCENT_MAX:
        raise CheckDefinitionError(
            f"percentile needs the argument percentile, such as 0.95; got {share!r}"
        )
    if share > 1:  # 95 can only be meant as 0.95
        share = share / _PERCENT_MAX
    return _Asked("aggregate", (_column(given),), {"function": "percentile", "percentile": share})


_NONE = {"must_be": 0}

_KINDS: dict[str, _Kind] = {
    "rows_present": _Kind(_rows, Unit.ROWS, {"must_be_greater_than": 0}, "row_count"),
    "row_count": _Kind(_rows, Unit.ROWS),
    "no_missing_values": _Kind(_missing, Unit.ROWS, _NONE, "missing_count"),
    "missing_count": _Kind(_missing, Unit.ROWS, may_be_percent=True),
    "missing_percent": _Kind(_missing, Unit.PERCENT),
    "no_invalid_values": _Kind(_invalid, Unit.ROWS, _NONE, "invalid_count"),
    "invalid_count": _Kind(_invalid, Unit.ROWS, may_be_percent=True),
    "invalid_percent": _Kind(_invalid, Unit.PERCENT),
    "no_duplicate_values": _Kind(_duplicates, Unit.ROWS, _NONE, "duplicate_count"),
    "unique": _Kind(_duplicates, Unit.ROWS, _NONE, "duplicate_count"),
    "duplicate_count": _Kind(_duplicates, Unit.ROWS, may_be_percent=True),
    "duplicate_percent": _Kind(_duplicates, Unit.PERCENT),
    "freshness": _Kind(_freshness),
    "freshness_in_days": _Kind(_freshness, Unit.DAYS),
    "freshness_in_hours": _Kind(_freshness, Unit.HOURS),
    "freshness_in_minutes": _Kind(_freshness, Unit.MINUTES),
    **{name: _Kind(_aggregate(name)) for name in ("min", "max", "avg", "sum")},
    "min_length": _Kind(_length("min")),
    "max_length": _Kind(_length("max")),
    "avg_length": _Kind(_length("avg")),
    "stddev": _Kind(_aggregate("stddev")),
    "stddev_samp": _Kind(_aggregate("stddev")),
    "stddev_pop": _Kind(_aggregate("stddev_pop")),
    "variance": _Kind(_aggregate("variance")),
    "var_samp": _Kind(_aggregate("variance")),
    "var_pop": _Kind(_aggregate("variance_pop")),
    "percentile": _Kind(_percentile),
}
