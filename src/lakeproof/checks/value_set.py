from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum

from sqlglot import exp

from lakeproof.checks.bounds import nearest_float
from lakeproof.checks.kinds import (
    Arguments,
    Facts,
    MeasureCheck,
    Verdict,
    column_expression,
    count_where,
    require_family,
)
from lakeproof.checks.literals import exact_decimal, is_none_of
from lakeproof.checks.moments import moment_number, moment_text, moment_unit, number_of_moment
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.value_lists import LIST, read_values, sorted_values, values_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily

_VALUES_MAX = 1_000
_EXAMPLE_CHARACTERS_MAX = 80


class SetMode(StrEnum):
    """How the values that occur relate to the listed ones."""

    EQUALS = "equals"
    CONTAINS = "contains"
    WITHIN = "within"


class ValueSet(MeasureCheck):
    """The distinct values of a column equal a set, contain it, or lie within it.

    `mode` says which: with `equals` every listed value occurs and no other, with `contains` every
    listed value occurs, with `within` no other occurs. NULL is no value; text compares exactly.
    `failing_rows` counts the listed values that are missing plus the rows with a value that is
    not listed, and a tolerance holds against that number, or against the larger of both shares:
    missing ones of the list, rows of the table. An action of its own; at most 1,000 values.
    """

    name = "value_set"
    dimension = "validity"
    shows_values = True
    parameters = (
        Parameter("values", LIST, "the set; a JSON array as text is read as a list", required=True),
        Parameter("mode", (str,), "equals, contains or within", default=SetMode.EQUALS.value),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        values = read_values(self.name, "values", arguments["values"])
        if len(values) > _VALUES_MAX:
            raise CheckDefinitionError(
                f"parameter 'values' of check 'value_set' holds {len(values)} values, more than "
                f"{_VALUES_MAX}. Use accepted_values, which joins a long list or a table"
            )
        if arguments["mode"] not in set(SetMode):
            raise CheckDefinitionError(
                f"parameter 'mode' of check 'value_set' is {arguments['mode']!r}, not one of "
                f"{', '.join(SetMode)}"
            )
        return {**arguments, "values": values}

    def identity(self, arguments: Arguments) -> Arguments:
        return {**arguments, "values": sorted_values(_values(arguments))}

    def needs_own_action(self, arguments: Arguments) -> bool:
        return True  # an example of text, or a set, would take the shared scan's compiled code

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        column = columns[0]
        mode = SetMode(str(arguments["mode"]))
        if mode is not SetMode.WITHIN:
            require_family(
                self.name,
                column,
                fits=not column.is_collated,
                wanted="a column without collation, for other texts may equal a listed one,",
            )
        outside = is_none_of(column_expression(column), _values(arguments), column, "value")
        value = moment_number(column) if column.family.is_moment else column_expression(column)
        found: dict[str, exp.Expr] = {}
        if mode is not SetMode.CONTAINS:
            found["outside"] = count_where(outside)
            found["example"] = exp.Min(this=exp.case().when(outside.copy(), value))
        if mode is not SetMode.WITHIN:
            # Bounded by the list: what is outside it is not collected.
            listed = exp.case().when(outside.copy(), exp.null()).else_(value.copy())
            found["present"] = exp.ArrayUniqueAgg(this=listed)
        return found

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        column = facts.columns[0]
        listed = {_key(value, column): value for value in _values(arguments)}
        present = {_found_key(value, column) for value in _collected(values)}
        missing = [value for key, value in listed.items() if key not in present]
        if "present" not in values:
            missing = []
        outside = int(str(values.get("outside") or 0))
        shares = (len(missing) / len(listed), outside / facts.total if facts.total else 0.0)
        told = []
        if missing:
            told.append(f"{len(missing)} of {len(listed)} values missing ({values_text(missing)})")
        if outside:
            example = _example_text(values["example"], column)
            told.append(f"{outside} of {facts.total} rows have another value, such as {example}")
        failing = len(missing) + outside
        return Verdict(
            failing=failing,
            total=facts.total,
            excess=failing,
            share=max(shares),
            measure=float(failing),
            details="; ".join(told) or f"values as listed ({arguments['mode']} {len(listed)})",
            measures={"missing_values": len(missing), "unexpected_rows": outside},
            bound=f"{arguments['mode']} {len(listed)} values",
        )


def _values(arguments: Arguments) -> tuple[object, ...]:
    return arguments["values"]  # type: ignore[return-value]


def _collected(values: Mapping[str, object]) -> Sequence[object]:
    found = values.get("present") or ()
    return [value for value in found if value is not None]  # type: ignore[attr-defined]


def _key(value: object, column: Column) -> Hashable:
    """A listed value as one that the column may hold: equal keys are equal values to Spark."""
    if column.family.is_moment:
        return str(number_of_moment(value, moment_unit(column)))
    if column.family is TypeFamily.FLOAT:
        return _found_key(nearest_float(value, column.type_text), column)
    return _found_key(value, column)


def _found_key(value: object, column: Column) -> Hashable:
    """A value as Spark returned it; a moment is a number already."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)  # rules are in NFC, data may be in NFD
    if column.family is TypeFamily.FLOAT and isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    return exact_decimal(value) if column.family.is_number else str(value)


def _example_text(value: object, column: Column) -> str:
    if column.family.is_moment:
        return moment_text(int(str(value)), moment_unit(column))
    return str(value)[:_EXAMPLE_CHARACTERS_MAX]
