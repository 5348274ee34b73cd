"""The five metrics of the standard as checks of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft, Placed, Setting
from lakeproof.contracts.odcs.ecma import java_pattern
from lakeproof.contracts.odcs.filters import FILTER_KEYS, filter_in
from lakeproof.contracts.odcs.forms import METRICS, Entry
from lakeproof.contracts.odcs.implied import enum_values
from lakeproof.contracts.odcs.listed_values import as_texts
from lakeproof.contracts.odcs.operators import EIGHT, choices_of, operator_notes, read_comparison
from lakeproof.contracts.odcs.property_names import names_in, own_column, path_named
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.nearest import nearest

_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "nullValues": (),
    "missingValues": ("missingValues",),
    "invalidValues": ("validValues", "pattern"),
    "duplicateValues": ("properties",),
    "rowCount": (),
}
_SNAKE = {"missing_values": "missingValues", "valid_values": "validValues"}
ARGUMENT_KEYS = frozenset({"missingValues", "validValues", "pattern", "properties", *_SNAKE})
"""Arguments that are accepted beside `arguments`, where the standard's own example has one."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where the metric stands, and the arguments that it knows."""

    setting: Setting
    arguments: Mapping[str, object]

    @property
    def settings(self) -> ContractSettings:
        return self.setting.settings


@dataclass(frozen=True, slots=True)
class _Check:
    """What a metric counts: a check of ours, with the readings of the standard it depends on."""

    name: str
    columns: tuple[str, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def library_drafts(placed: Placed, metric: str, entry: Entry) -> list[Draft]:
    """The metric with the entry's operators, unit and arguments."""
    if metric not in METRICS:
        near = nearest(metric, METRICS) or METRICS
        raise CheckDefinitionError(
            f"the library of the standard has no metric {metric!r}. "
            f"Nearest known: {', '.join(near)}."
        )
    setting = placed.setting
    comparison = _comparison(metric, entry, setting)
    arguments, notes = _arguments(metric, entry)
    check = _CHECKS[metric](_Asked(setting, arguments))
    draft = Draft(
        check=check.name,
        columns=check.columns,
        params=check.params,
        filter=filter_in(entry, _inside(entry)),
        comparison=comparison,
        notes=(*operator_notes(entry), *notes, *check.notes),
        choices={**check.choices, **choices_of(comparison, setting.settings)},
    )
    return [draft]


def _comparison(metric: str, entry: Entry, setting: Setting) -> Comparison:
    comparison = read_comparison(entry, setting.settings, unit=Unit.ROWS)
    if comparison is None:
        raise CheckDefinitionError(f"metric {metric} needs an operator: one of {EIGHT}")
    if metric == "rowCount" and comparison.unit is Unit.PERCENT:
        raise CheckDefinitionError(
            "rowCount has no percent: the rows are the whole. Count rows, or compare with the "
            "last run by the check row_count_change"
        )
    return comparison


def _arguments(metric: str, entry: Entry) -> tuple[dict[str, object], tuple[str, ...]]:
    """The metric's own arguments, and what to say of the others."""
    inside = {_SNAKE.get(key, key): value for key, value in _inside(entry).items()}
    beside = {_SNAKE.get(key, key): entry[key] for key in entry if key in ARGUMENT_KEYS}
    known = _ARGUMENTS[metric]
    notes = [f"{key} is read as one of the arguments" for key in beside if key in known]
    notes.extend(
        f"argument {key!r} means nothing to {metric} and is not used"
        for key in {**inside, **beside}
        if key not in {*known, *FILTER_KEYS}
    )
    found = {**beside, **inside}
    return {key: found[key] for key in known if found.get(key) is not None}, tuple(notes)


def _inside(entry: Entry) -> dict[str, object]:
    given = entry.get("arguments")
    if given is not None and not isinstance(given, Mapping):
        raise CheckDefinitionError(f"arguments must be a mapping, got {given!r}")
    return {str(key): value for key, value in (given or {}).items()}


def _null_values(asked: _Asked) -> _Check:
    return _Check("not_null", (own_column(asked.setting, "nullValues"),))


def _missing_values(asked: _Asked) -> _Check:
    column = own_column(asked.setting, "missingValues")
    always = asked.settings.null_is_missing == "always"
    listed = _list(asked, "missingValues", asked.arguments.get("missingValues"))
    if not listed and not always:
        raise CheckDefinitionError(
            "metric missingValues needs arguments.missingValues: the list of what is missing"
        )
    return _Check(
        "missing_values",
        (column,),
        {"missing_values": listed, "null_is_missing": always},
        {"null_is_missing": asked.settings.null_is_missing},
        () if listed else ("no list of missing values: only NULL is missing",),
    )


def _invalid_values(asked: _Asked) -> _Check:
    column = own_column(asked.setting, "invalidValues")
    valid, pattern = asked.arguments.get("validValues"), asked.arguments.get("pattern")
    notes: list[str] = []
    part = asked.setting.part
    if valid is None and pattern is None and part is not None and part.enum:
        valid = enum_values(part)
        notes.append("no arguments: the values of the property's enum are valid")
    if valid is None and pattern is None:
        raise CheckDefinitionError(
            "metric invalidValues needs arguments.validValues, arguments.pattern or both: "
            "nothing says which values are valid"
        )
    params: dict[str, object] = {}
    choices: dict[str, str] = {}
    if valid is not None:
        listed = _list(asked, "validValues", valid)
        params["valid_values"] = tuple(value for value in listed if value is not None)
        if None in listed:
            notes.append("NULL is never invalid, listed or not")
    if pattern is not None:
        if not isinstance(pattern, str):
            raise CheckDefinitionError(f"pattern must be a text, got {pattern!r}")
        params |= {"pattern": java_pattern(pattern), "full": asked.settings.regex == "full"}
        choices["regex"] = asked.settings.regex
    return _Check("invalid_values", (column,), params, choices, tuple(notes))


def _duplicate_values(asked: _Asked) -> _Check:
    named = names_in(asked.arguments.get("properties"))
    if not named and not asked.setting.column:
        raise CheckDefinitionError(
            "metric duplicateValues of an object needs arguments.properties: the names of the "
            "properties that must not repeat together"
        )
    choices = {"duplicates": asked.settings.duplicates}
    if not named:
        return _Check("uniqueness", (asked.setting.column,), choices=choices)
    columns = tuple(dict.fromkeys(path_named(asked.setting, name) for name in named))
    notes = ("arguments.properties stand on an object; they are used here as well",)
    return _Check("uniqueness", columns, {}, choices, notes if asked.setting.column else ())


def _row_count(asked: _Asked) -> _Check:
    notes = ("rowCount counts the rows of the table, on whatever property it stands",)
    return _Check("row_count_range", notes=notes if asked.setting.column else ())


def _list(asked: _Asked, name: str, value: object) -> tuple[object, ...]:
    """Plain values; on a property of texts, what is written there without quotes is text too."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise CheckDefinitionError(f"{name} must be a list of values, got {value!r}")
    if any(isinstance(one, (list, tuple, Mapping)) for one in value):
        raise CheckDefinitionError(f"{name} must be a list of plain values, got {value!r}")
    part = asked.setting.part
    is_text = part is not None and part.logical_type == "string"
    return as_texts(asked.setting, value) if is_text else tuple(value)


_CHECKS: Mapping[str, Callable[[_Asked], _Check]] = {
    "nullValues": _null_values,
    "missingValues": _missing_values,
    "invalidValues": _invalid_values,
    "duplicateValues": _duplicate_values,
    "rowCount": _row_count,
}
