from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.type_text import canonical_type
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.nearest import nearest
from lakeproof.model.value_path import part_at

_LIST = (list, tuple, str)
_FAMILIES = (
    *("string", "integer", "decimal", "number", "float", "boolean", "binary"),
    *("date", "time", "timestamp", "struct", "array", "map", "vector"),
)


class ColumnType(MeasureCheck):
    """The column, or the part of one that a path names, is there and of one of the listed types.

    `types` are Spark's, in its words and their synonyms, nested ones in full. `families` are wider:
    string, boolean, binary, date, `integer` (of any width, or a decimal without fraction),
    `decimal` and `float` (of any size), `number` (any of those), `timestamp` (with or without
    zone), `time`, struct, array, map, and `vector` (an array of numbers). One that fits is enough;
    with neither, the column must only be there. Letter case does not matter. Judged from the
    table's metadata: nothing is read, and a filter has no meaning here.
    """

    name = "column_type"
    dimension = "conformity"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("column", (str,), "the column, or a path such as a.b, a[].b, m{}", required=True),
        Parameter("types", _LIST, "the allowed types", default=()),
        Parameter("families", _LIST, "the allowed kinds of types", default=()),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        return {
            "column": arguments["column"],
            "types": tuple(map(_type, _listed(arguments["types"]))),
            "families": tuple(map(_family, _listed(arguments["families"]))),
        }

    def identity(self, arguments: Arguments) -> Arguments:
        listed = {name: sorted(_listed(arguments[name])) for name in ("types", "families")}
        return {"column": str(arguments["column"]).lower(), **listed}

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the table's columns are known without reading it

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        name = str(arguments["column"])
        types, families = _listed(arguments["types"]), _listed(arguments["families"])
        wanted = " or ".join([*types, *families]) or "there"
        column = part_at(facts.table_columns, name)
        fits = column is not None and _fits(column, types, families)
        details = f"{name} is {column.type_text}" if column else f"{name} is missing"
        if column is None:
            near = nearest(name, [one.name for one in facts.table_columns])
            details += f" (nearest: {', '.join(near)})" if near else ""
        if not fits:
            details += f"; it must be {wanted}"
        return Verdict(
            failing=0 if fits else 1,
            total=facts.total,
            excess=0 if fits else 1,
            share=0.0 if fits else 1.0,
            measure=0.0 if fits else 1.0,
            details=details,
            bound=wanted,
        )


def _listed(given: object) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))  # type: ignore[call-overload]


def _type(text: str) -> str:
    try:
        found = canonical_type(text)
    except ValueError as problem:
        raise CheckDefinitionError(
            f"parameter 'types' of check 'column_type': Spark does not know {problem}"
        ) from problem
    if found.startswith(("char(", "varchar(")):
        raise CheckDefinitionError(
            f"parameter 'types' of check 'column_type': Spark reads {text} as string. Write "
            "string, and check length_range"
        )
    return found


def _family(text: str) -> str:
    if text.lower() not in _FAMILIES:
        raise CheckDefinitionError(
            f"parameter 'families' of check 'column_type' holds {text!r}. "
            f"Known: {', '.join(_FAMILIES)}."
        )
    return text.lower()


def _fits(column: Column, types: Sequence[str], families: Sequence[str]) -> bool:
    if not types and not families:
        return True
    try:
        found = canonical_type(column.type_text)
    except ValueError:  # a type that is newer than we are
        found = column.type_text.lower()
    return found in types or not _families_of(column).isdisjoint(families)


def _families_of(column: Column) -> set[str]:
    family, kind = column.family, column.type_text.lower()
    if family is TypeFamily.OTHER:
        found = {kind.partition("<")[0].partition("(")[0]}
    else:
        found = {"timestamp" if family is TypeFamily.TIMESTAMP_NTZ else family.value}
    if family.is_number:
        found.add("number")
    if family is TypeFamily.DECIMAL and kind.endswith(",0)"):
        found.add("integer")
    element = column.element
    if element is not None and column.map_key is None and element.family.is_number:
        found.add("vector")
    return found
