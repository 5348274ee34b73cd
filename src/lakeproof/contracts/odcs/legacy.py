"""Rules of version 2 and the names of version 3.0: they run by their name, whatever the tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lakeproof.contracts.contract import custom_properties
from lakeproof.contracts.draft import Draft, Placed, Setting, skipped
from lakeproof.contracts.engines.given import all_of
from lakeproof.contracts.odcs.filters import FILTER_KEYS, filter_in
from lakeproof.contracts.odcs.forms import Entry, legacy_name
from lakeproof.contracts.odcs.library import library_drafts
from lakeproof.contracts.odcs.operators import (
    choices_of,
    comparison_of,
    operator_notes,
    read_comparison,
    read_number,
)
from lakeproof.contracts.odcs.parameters import read_parameters, with_tolerance
from lakeproof.contracts.odcs.property_names import names_in, own_column, path_named
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit, Value
from lakeproof.model.nearest import nearest

_COMPARISON_TYPES: Mapping[str, Operator] = {
    "equal to": Operator.MUST_BE,
    "equals": Operator.MUST_BE,
    "equal": Operator.MUST_BE,
    "=": Operator.MUST_BE,
    "not equal to": Operator.MUST_NOT_BE,
    "not equal": Operator.MUST_NOT_BE,
    "!=": Operator.MUST_NOT_BE,
    "greater than": Operator.GREATER,
    ">": Operator.GREATER,
    "greater than or equal to": Operator.GREATER_OR_EQUAL,
    "greater than or equal": Operator.GREATER_OR_EQUAL,
    "greater or equal": Operator.GREATER_OR_EQUAL,
    ">=": Operator.GREATER_OR_EQUAL,
    "less than": Operator.LESS,
    "<": Operator.LESS,
    "less than or equal to": Operator.LESS_OR_EQUAL,
    "less than or equal": Operator.LESS_OR_EQUAL,
    "less or equal": Operator.LESS_OR_EQUAL,
    "<=": Operator.LESS_OR_EQUAL,
}
_SIGNS: Mapping[Operator, str] = {
    Operator.MUST_BE: "=",
    Operator.MUST_NOT_BE: "!=",
    Operator.GREATER: ">",
    Operator.GREATER_OR_EQUAL: ">=",
    Operator.LESS: "<",
    Operator.LESS_OR_EQUAL: "<=",
}
_LOW = {Operator.GREATER, Operator.GREATER_OR_EQUAL, Operator.BETWEEN, Operator.MUST_BE}
_HIGH = {Operator.LESS, Operator.LESS_OR_EQUAL, Operator.BETWEEN, Operator.MUST_BE}
_STRICT = {Operator.GREATER, Operator.LESS}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a rule says beside its name: custom properties and parameters, empty ones left out.

    `term` is COMPARE_TO a number, `other` COMPARE_TO another property; one of them at most.
    """

    name: str
    placed: Placed
    entry: Entry
    given: Mapping[str, object]
    columns: tuple[str, ...]
    term: Term | None = None
    operator: Operator | None = None
    other: str = ""
    notes: tuple[str, ...] = ()

    @property
    def setting(self) -> Setting:
        return self.placed.setting

    def bound(self, name: str) -> Value | None:
        """`min` or `max`: a number where it is one, else the text of a moment."""
        found = self.given.get(name)
        if found is None:
            return None
        try:
            return read_number(name, found, Unit.NONE)
        except CheckDefinitionError:
            if isinstance(found, str):
                return found
            raise

    def comparison(self, *terms: Term | None, unit: Unit = Unit.ROWS) -> Comparison | None:
        """The rule's operators and the terms together; None if there are none."""
        operators = read_comparison(self.entry, self.setting.settings, unit=unit)
        every = [*(operators.terms if operators else ()), *(one for one in terms if one)]
        if self.has_tolerance and any(terms):
            raise CheckDefinitionError(
                f"tolerance beside a bound of what {self.name} counts; keep one"
            )
        counted_in = operators.unit if operators else unit
        return comparison_of(every, self.setting.settings, counted_in) if every else None

    @property
    def has_tolerance(self) -> bool:
        return "tolerance" in self.given

    @property
    def filter(self) -> str | None:
        found = self.given.get("filter_conditions")
        return all_of(None if found is None else str(found), filter_in(self.given))


def legacy_drafts(placed: Placed, entry: Entry) -> list[Draft]:
    """The rule by its `code`, else its `templateName`, else `rule`."""
    asked = _asked(placed, entry)
    drafts = _KINDS[asked.name](asked)
    if asked.other:
        drafts = [*(one for one in drafts if not one.skipped), *_pairs(asked)]
    notes = (*operator_notes(entry), *asked.notes)
    return [replace(one, filter=asked.filter, notes=(*one.notes, *notes)) for one in drafts]


def _asked(placed: Placed, entry: Entry) -> _Asked:
    setting = placed.setting
    every = {
        **{key: entry[key] for key in ("tolerance", *FILTER_KEYS) if key in entry},
        **custom_properties(entry.get("customProperties")),
        **read_parameters(entry.get("arguments")),
        **read_parameters(entry.get("parameters")),
    }
    given = {name.lower(): value for name, value in every.items() if value not in (None, "")}
    named = (
        names_in(given.get("field_name"))
        or names_in(given.get("properties"))
        or names_in(entry.get("columns"))
        or names_in(entry.get("column"))
    )
    own = (setting.column,) if setting.column else ()
    columns = tuple(path_named(setting, name) for name in named) or own
    tolerated = {key: value for key, value in given.items() if key == "tolerance"}
    whole, notes = with_tolerance({**entry, **_operators_in(every), **tolerated})
    asked = _Asked(legacy_name(entry), placed, whole, given, columns, notes=notes)
    target = given.get("compare_to")
    return asked if target is None else _with_target(asked, target)


def _operators_in(given: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if name.startswith("must")}


def _with_target(asked: _Asked, target: object) -> _Asked:
    """COMPARE_TO a number is a threshold; to the name of a property, a relation in each row."""
    word = " ".join(str(asked.given.get("comparison_type", "")).replace("_", " ").lower().split())
    operator = _COMPARISON_TYPES.get(word)
    if operator is None:
        near = nearest(word, _COMPARISON_TYPES) or ["greater than", "less than", "equal to"]
        raise CheckDefinitionError(
            f"COMPARE_TO needs COMPARISON_TYPE, which is {word!r}; write {' or '.join(near)}"
        )
    try:
        number = read_number("COMPARE_TO", target, Unit.NONE)
    except CheckDefinitionError:
        other = path_named(asked.setting, target)
        return replace(asked, operator=operator, other=other)
    return replace(asked, operator=operator, term=Term(operator, number))


def _pairs(asked: _Asked) -> list[Draft]:
    if not asked.columns or asked.operator is None:
        raise CheckDefinitionError(
            "COMPARE_TO another property needs FIELD_NAME, or a rule that stands on a property"
        )
    params = {"operator": _SIGNS[asked.operator]}
    return [
        Draft("column_pair", (column, asked.other), params, label=f"{column} COMPARE_TO")
        for column in asked.columns
    ]


def _each_column(asked: _Asked) -> tuple[tuple[str, str], ...]:
    """The columns with their labels; a label only where there are several."""
    columns = asked.columns or (own_column(asked.setting, asked.name),)
    return tuple((column, column if len(columns) > 1 else "") for column in columns)


def _null_check(asked: _Asked) -> list[Draft]:
    comparison = asked.comparison(asked.term)
    choices = choices_of(comparison, asked.setting.settings)
    return [
        Draft("not_null", (column,), comparison=comparison, label=label, choices=choices)
        for column, label in _each_column(asked)
    ]


def _count_check(asked: _Asked) -> list[Draft]:
    low, high = asked.given.get("min"), asked.given.get("max")
    terms = [
        Term(operator, read_number(key, bound, Unit.ROWS))
        for key, operator, bound in (
            ("min", Operator.GREATER_OR_EQUAL, low),
            ("max", Operator.LESS_OR_EQUAL, high),
        )
        if bound is not None
    ]
    comparison = asked.comparison(*terms, asked.term)
    if comparison is None:
        return [_without_bounds(asked.name)]
    if comparison.unit is Unit.PERCENT:
        raise CheckDefinitionError(f"{asked.name} counts rows; it has no percent")
    choices = choices_of(comparison, asked.setting.settings)
    return [Draft("row_count_range", comparison=comparison, choices=choices)]


def _range_check(asked: _Asked) -> list[Draft]:
    """Values between `min` and `max`, ends included; without them the operators are the bounds.

    Beside `min`, `max` or a tolerance the operators say how many rows may be out of bounds.
    """
    settings = asked.setting.settings
    terms = [
        Term(operator, bound)
        for end, operator in (("min", Operator.GREATER_OR_EQUAL), ("max", Operator.LESS_OR_EQUAL))
        if (bound := asked.bound(end)) is not None
    ]
    judged = asked.comparison() if terms or asked.has_tolerance else None
    choices = choices_of(judged, settings)
    if judged is None:
        operators = asked.comparison(unit=Unit.NONE)
        choices = choices_of(operators, settings)
        terms += operators.terms if operators else ()
    if asked.term is not None:
        terms.append(asked.term)
    if not terms:
        return [_without_bounds(asked.name)]
    bounds = _bounds_of(asked.name, terms, is_open=settings.between == "open")
    return [
        Draft("range", (column,), bounds, comparison=judged, label=label, choices=choices)
        for column, label in _each_column(asked)
    ]


def _bounds_of(name: str, terms: Sequence[Term], *, is_open: bool) -> dict[str, object]:
    """The parameters of `range` that all the terms ask for together."""
    bounds: dict[str, object] = {}
    for term in terms:
        is_strict = term.operator in _STRICT or (is_open and term.operator is Operator.BETWEEN)
        if term.operator not in _LOW | _HIGH:
            raise CheckDefinitionError(
                f"{name} takes bounds: min, max, or an operator for less, greater or between; "
                f"got {term.operator}"
            )
        if term.operator in _LOW:
            _tighten(bounds, "min", term.value, is_strict=is_strict)
        if term.operator in _HIGH:
            high = term.value if term.high is None else term.high
            _tighten(bounds, "max", high, is_strict=is_strict)
    return bounds


def _tighten(bounds: dict[str, object], end: str, value: Value, *, is_strict: bool) -> None:
    """The bound at that end, unless the one that is there leaves less room."""
    held = bounds.get(f"{end}_value")
    if held is not None:
        try:
            room = Fraction(str(value)) - Fraction(str(held))
        except ValueError:
            raise CheckDefinitionError(
                f"{end} is both {held!r} and {value!r}, of which the tighter is not known; keep one"
            ) from None
        if (room < 0 if end == "min" else room > 0) or (room == 0 and not is_strict):
            return
    bounds[f"{end}_value"] = value
    bounds.pop(f"{end}_exclusive", None)
    if is_strict:
        bounds[f"{end}_exclusive"] = True


def _duplicate_count(asked: _Asked) -> list[Draft]:
    comparison = asked.comparison(asked.term)
    if comparison is None:
        return [_without_bounds(asked.name)]
    settings = asked.setting.settings
    choices = {"duplicates": settings.duplicates, **choices_of(comparison, settings)}
    columns = asked.columns or (own_column(asked.setting, asked.name),)
    return [Draft("uniqueness", columns, comparison=comparison, choices=choices)]


def _valid_values(asked: _Asked) -> list[Draft]:
    """No operator: every value must be valid."""
    must_be_none = {} if asked.comparison() else {Operator.MUST_BE.value: 0}
    listed = asked.given.get("validvalues")
    given = {} if listed is None else {"validValues": listed}
    entry = {**asked.entry, **given, **must_be_none}
    return library_drafts(asked.placed, "invalidValues", entry)


def _without_bounds(name: str) -> Draft:
    return skipped(
        f"{name} has no bounds, so there is nothing to hold the number against. Next: give min, "
        "max, COMPARE_TO with COMPARISON_TYPE, or an operator such as mustBeGreaterThan"
    )


_KINDS: Mapping[str, Callable[[_Asked], list[Draft]]] = {
    "nullCheck": _null_check,
    "countCheck": _count_check,
    "rangeCheck": _range_check,
    "between": _range_check,
    "minCheck": _range_check,
    "maxCheck": _range_check,
    "duplicateCount": _duplicate_count,
    "validValues": _valid_values,
}
