from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.type_text import canonical_type
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, folded
from lakeproof.model.printable import counted

_KEYS = ("name", "type", "nullable")
_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One column of the list; a `type` of '' and a `nullable` of None are not asked for."""

    name: str
    type: str
    nullable: bool | None


class Schema(MeasureCheck):
    """The table has the listed columns, with the listed types.

    A list of names, or of {name, type, nullable} where the last two may be left out, or a mapping
    from name to type. Names and types compare without case, types in Spark's words and their
    synonyms (`long` is `bigint`), nested ones in full. `order` asks that the listed columns stand
    in this order, others between them aside; `extra: false` that there are no others.
    `failing_rows` counts the differences; a tolerance holds against their number, or their share
    of the listed columns. Judged from the table's metadata: a filter has no meaning here.
    """

    name = "schema"
    dimension = "conformity"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("columns", (list, tuple, Mapping), "the columns", required=True),
        Parameter("order", (bool,), "whether their order counts", default=False),
        Parameter("extra", (bool,), "whether other columns are allowed", default=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        wanted = [_read_column(entry) for entry in _entries(arguments["columns"])]
        if not wanted:
            raise CheckDefinitionError("parameter 'columns' of check 'schema' is empty")
        names = [folded(str(column["name"])) for column in wanted]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise CheckDefinitionError(
                f"parameter 'columns' of check 'schema' names {twice[0]!r} twice"
            )
        return {**arguments, "columns": tuple(wanted)}

    def identity(self, arguments: Arguments) -> Arguments:
        listed = [
            {"name": one.name.lower(), "type": one.type, "nullable": one.nullable}
            for one in _wanted(arguments)
        ]
        if not arguments["order"]:
            listed.sort(key=lambda column: str(column["name"]))
        return {**arguments, "columns": listed}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the table's columns are known without reading it

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        wanted = _wanted(arguments)
        found = list(_differences(wanted, arguments, facts.table_columns))
        as_listed = f"{counted(len(wanted), 'column')} as listed"
        more = f"; and {len(found) - _SHOWN_MAX} more" if len(found) > _SHOWN_MAX else ""
        return Verdict(
            failing=len(found),
            total=facts.total,
            excess=len(found),
            share=len(found) / len(wanted),
            measure=float(len(found)),
            details="; ".join(found[:_SHOWN_MAX]) + more
            or f"{counted(len(wanted), 'column')} as listed",
            measures={"differences": len(found)},
            bound=as_listed,
        )


def _entries(given: object) -> Iterator[object]:
    """The list, or the mapping as one."""
    if not isinstance(given, Mapping):
        yield from given  # type: ignore[misc]
        return
    for name, entry in given.items():
        rest = entry if isinstance(entry, Mapping) else {"type": entry}
        yield {"name": name, **rest}


def _read_column(entry: object) -> dict[str, str | bool | None]:
    column = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(column, Mapping):
        raise _refusal(entry, f"is no name and no mapping with {', '.join(_KEYS)}")
    unknown = [key for key in column if key not in _KEYS]
    if unknown:
        raise _refusal(entry, f"has the unknown key {unknown[0]!r}. Known: {', '.join(_KEYS)}")
    name, kind, nullable = (column.get(key) for key in _KEYS)
    if not isinstance(name, str) or not name.strip():
        raise _refusal(entry, "has no name")
    if not isinstance(nullable, bool | None):
        raise _refusal(entry, "has a 'nullable' that is neither true nor false")
    if kind is None:
        return {"name": name, "type": None, "nullable": nullable}
    try:
        known = canonical_type(str(kind))
    except ValueError as problem:
        raise _refusal(entry, f"has a type that Spark does not know: {problem}") from problem
    if known.startswith(("char(", "varchar(")):
        raise _refusal(
            entry, "has a type that Spark reads as string. Write string, and check length_range"
        )
    return {"name": name, "type": known, "nullable": nullable}


def _refusal(entry: object, problem: str) -> CheckDefinitionError:
    return CheckDefinitionError(
        f"parameter 'columns' of check 'schema': the entry {entry!r} {problem}"
    )


def _wanted(arguments: Arguments) -> list[_Wanted]:
    return [
        _Wanted(column["name"], column["type"] or "", column["nullable"])
        for column in arguments["columns"]  # type: ignore[attr-defined]
    ]


def _differences(
    wanted: Sequence[_Wanted], arguments: Arguments, table: Sequence[Column]
) -> Iterator[str]:
    by_name = {folded(column.name): column for column in table}
    for one in wanted:
        column = by_name.get(folded(one.name))
        if column is None:
            yield f"{one.name} is missing"
            continue
        if one.type and _type_of(column) != one.type:
            yield f"{one.name} is {column.type_text}, not {one.type}"
        if one.nullable is not None and column.nullable is not one.nullable:
            yield f"{one.name} is {'' if column.nullable else 'not '}nullable"
    listed = [folded(one.name) for one in wanted]
    if not arguments["extra"]:
        yield from (
            f"{column.name} is not listed" for column in table if folded(column.name) not in listed
        )
    if arguments["order"]:
        stand = [folded(column.name) for column in table if folded(column.name) in listed]
        there = [name for name in listed if name in by_name]
        if stand != there:
            yield f"the order is {', '.join(stand)}, not {', '.join(there)}"


def _type_of(column: Column) -> str:
    """The column's type as ours are written; one that we do not know is as Spark writes it."""
    try:
        return canonical_type(column.type_text)
    except ValueError:
        return column.type_text.lower()
