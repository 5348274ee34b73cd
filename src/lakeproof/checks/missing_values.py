from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, ColumnCheck, any_of, column_expression
from lakeproof.checks.literals import is_none_of, literal_for
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import matches, require_pattern, shown_pattern, text_value
from lakeproof.checks.value_lists import read_values, sorted_values, values_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

LISTS = (list, tuple, set, frozenset)

MISSING_PARAMETERS = (
    Parameter("missing_values", LISTS, "values that stand for a missing one, such as 'N/A'"),
    Parameter("missing_pattern", (str,), "a regular expression found in what is missing"),
)


class MissingValues(ColumnCheck):
    """The value is there: it is neither NULL nor one that stands for a missing value.

    What stands for one is listed in `missing_values`, or has a match of `missing_pattern`, as in
    `matches_pattern`. NULL is missing; with `null_is_missing: false` only if the list holds it. A
    listed value that the column cannot hold, such as 'N/A' for a number, never matches. Text
    compares exactly. Without parameters this is `not_null`.
    """

    name = "missing_values"
    dimension = "completeness"
    parameters = (
        *MISSING_PARAMETERS,
        Parameter("null_is_missing", (bool,), "whether NULL is, listed or not", default=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        listed = arguments["missing_values"]
        has_null = isinstance(listed, LISTS) and None in listed
        found = {
            **read_missing(self.name, arguments),
            "null_is_missing": bool(arguments["null_is_missing"]) or has_null,
        }
        if not any(found.values()):
            raise CheckDefinitionError(
                "check 'missing_values' has nothing that would be missing: list values, give a "
                "pattern, or leave null_is_missing true"
            )
        return found

    def identity(self, arguments: Arguments) -> Arguments:
        return identity_of(arguments)

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        found = stands_for_missing(self.name, column, arguments)
        if arguments["null_is_missing"]:
            found = [exp.Is(this=column_expression(column), expression=exp.Null()), *found]
        return any_of(found) if found else exp.false()

    def complaint(self, column: str, arguments: Arguments) -> str:
        told = ["NULL"] if arguments["null_is_missing"] else []
        listed, pattern = arguments["missing_values"], arguments["missing_pattern"]
        if listed:
            told.append(values_text([repr(one) for one in listed]))  # type: ignore[attr-defined]
        if pattern:
            told.append(f"a match of {shown_pattern(pattern, full=False)}")
        return f"have {column} missing ({' or '.join(told)})"


def read_missing(check: str, arguments: Arguments) -> dict[str, object]:
    """The values and the pattern that stand for a missing value, without NULL."""
    listed, pattern = arguments["missing_values"], arguments["missing_pattern"]
    if pattern is not None:
        require_pattern(check, pattern)
    values: tuple[object, ...] | None = None
    if isinstance(listed, LISTS) and any(one is not None for one in listed):
        values = read_values(check, "missing_values", listed)
    return {"missing_values": values, "missing_pattern": pattern}


def stands_for_missing(check: str, column: Column, arguments: Arguments) -> list[exp.Expr]:
    """Conditions of which one holds where a value that is there stands for a missing one."""
    found = []
    listed: tuple[object, ...] = arguments["missing_values"] or ()  # type: ignore[assignment]
    inside = is_one_of(listed, column)
    if inside is not None:
        found.append(inside)
    if arguments["missing_pattern"] is not None:
        text = text_value(check, column)
        found.append(matches(text, str(arguments["missing_pattern"]), full=False))
    return found


def is_one_of(values: Sequence[object], column: Column) -> exp.Expr | None:
    """True where the column equals one of the values; None if it can hold none of them."""
    fitting = tuple(one for one in values if _compares(one, column))
    outside = is_none_of(column_expression(column), fitting, column, "value")
    # What no column of the type can hold is left out there too, down to no list at all.
    return outside.find(exp.In)


def identity_of(arguments: Arguments) -> dict[str, object]:
    """The arguments that were given, lists in one order: what is new later changes no id."""
    return {
        name: sorted_values(value) if isinstance(value, tuple) else value
        for name, value in arguments.items()
        if value is not None
    }


def _compares(value: object, column: Column) -> bool:
    try:
        literal_for(value, column, "value")
    except CheckDefinitionError:
        return False
    return True
