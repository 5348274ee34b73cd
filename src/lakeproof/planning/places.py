"""Where in a row a rule's value stands: a column, a field of a struct, or elements inside it.

`a.b` is a field, `a[].b` that field of each element of an array, `m{}.b` of each value of a map,
`m{key}` each key of a map. A name that is a column as it stands is that column, dots or not; a
part of a path that holds such a sign itself is written in backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakeproof.checks.literals import text_literal
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily, column_named
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest
from lakeproof.model.value_path import ELEMENT, MAP_KEY, MAP_VALUE, Step, inside, read_path
from lakeproof.planning.tables import PinnedTable

_INDEX = re.compile(r"\[\d+\]")
_SHOWN_CHARACTERS_MAX = 60
_ENTRY = {ELEMENT: (), MAP_VALUE: ("value",), MAP_KEY: ("key",)}
"""The field of a map's entry that a bracket means."""
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Loop:
    """One array or map that is walked through; `item` names what is looked at."""

    source: str
    item: str
    index: str
    is_map: bool
    label: str
    key: Column | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a row: `column` is the value itself, `loops` the collections around it."""

    column: Column
    root: Column
    loops: tuple[Loop, ...] = ()
    tail: str = ""


def find_place(pinned: PinnedTable, name: str, where: str = "column_name") -> Place:
    """The place of that name, or an error that names the nearest columns or fields."""
    found = pinned.column(name)
    if found is not None:
        return Place(found, found)
    steps = read_path(name)
    root = pinned.column(steps[0][0]) if steps else None
    if root is None:
        names = [column.name for column in pinned.columns]
        hint = _nearest(name, names)
        if _INDEX.search(name):
            hint = f"Every element is checked: write {_INDEX.sub('[]', name)}."
        raise CheckDefinitionError(f"{where}: no column {name!r} in {pinned.table}. {hint}")
    if len(steps) == 1 and not steps[0][1]:  # a whole column, in backquotes
        return Place(root, root)
    return _walk(root, steps, name, where)


def _walk(root: Column, steps: Sequence[Step], name: str, where: str) -> Place:
    column, label = root, ""
    path: tuple[str, ...] = (root.name,)
    loops: list[Loop] = []
    for number, (step, brackets) in enumerate(steps):
        if number:
            column = _field(column, step, name, where)
            path, label = (*path, column.name), f"{label}.{column.name}"
        else:
            label = root.name
        for bracket in brackets:
            found = inside(column, bracket)
            if found is None:
                wanted = "an array" if bracket == ELEMENT else "a map"
                raise CheckDefinitionError(
                    f"{where}: {name!r} takes {label!r} for {wanted}; it is "
                    f"{column.type_text.upper()}"
                )
            item = f"_lakeproof_item_{len(loops)}"
            index = f"_lakeproof_at_{len(loops)}"
            is_map = bracket != ELEMENT
            loops.append(Loop(_path_sql(path), item, index, is_map, label, column.map_key))
            column, label = found, ""
            path = (item, *_ENTRY[bracket])
    place = replace(column, name=name, path=path)
    return Place(place, root, tuple(loops), label)


def _field(column: Column, step: str, name: str, where: str) -> Column:
    found = column_named(column.fields, step)
    if found is not None:
        return found
    if column.fields:
        names = [field.name for field in column.fields]
        hint = _nearest(step, names)
    else:
        sign = "{}" if column.map_key else "[]"
        hint = (
            f"It has elements: write {sign} behind it"
            if column.is_collection
            else f"What stands before it is {column.type_text.upper()}"
        )
    raise CheckDefinitionError(f"{where}: no field {step!r} for {name!r}. {hint}")


def _nearest(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names) or names[:5]
    return f"Nearest: {', '.join(near)}."


def _path_sql(path: Sequence[str]) -> str:
    return ".".join(quote(part) for part in path)


def column_sql(column: Column) -> str:
    """The value as Spark SQL."""
    return f"(\n{column.sql}\n)" if column.sql else _path_sql(column.path or (column.name,))


def any_element(place: Place, violates: str) -> str:
    """True for a row in which the value, or one of its elements, violates."""
    for loop in reversed(place.loops):
        violates = f"exists({_items(loop)}, {loop.item} -> {violates})"
    return violates


def bad_elements(place: Place, violates: str, observed: str, *, is_hidden: bool) -> str:
    """An array of (at, observed): where each bad element stands, and what it holds."""
    at = ", ".join(_position(place, is_hidden=is_hidden))
    found = (
        f"array(CASE WHEN {violates} "
        f"THEN named_struct('at', concat({at}), 'observed', {observed}) END)"
    )
    for loop in reversed(place.loops):
        # flatten() is NULL if one of its arrays is: an element without elements has none.
        found = (
            f"coalesce(flatten(transform({_items(loop)}, ({loop.item}, {loop.index}) -> {found})), "
            "CAST(array() AS ARRAY<STRUCT<at: STRING, observed: STRING>>))"
        )
    return f"array_compact({found})"


def _items(loop: Loop) -> str:
    return f"map_entries({loop.source})" if loop.is_map else loop.source


def _position(place: Place, *, is_hidden: bool) -> list[str]:
    """The pieces of `items[2].price` or `attrs{colour}.v`."""
    pieces = []
    for loop in place.loops:
        key = f"CAST({loop.item}.key AS STRING)"
        if loop.key is not None and loop.key.family is TypeFamily.TIMESTAMP:
            key = f"CAST(unix_micros({loop.item}.key) AS STRING)"  # in every session the same
        inner = text_sql(HIDDEN) if is_hidden else f"coalesce(substr({key}, 1, 200), '')"
        opened, closed = ("{", "}") if loop.is_map else ("[", "]")
        middle = inner if loop.is_map else f"CAST({loop.index} AS STRING)"
        pieces += [text_sql(loop.label + opened), middle, text_sql(closed)]
    if place.tail:
        pieces.append(text_sql(place.tail))
    return pieces


def text_sql(text: str) -> str:
    return text_literal(text).sql("spark")


def observed_sql(pinned: PinnedTable, places: Sequence[Place]) -> str:
    """What the checked values are, as a short text for people: `amount=-5`.

    A column declared sensitive is hidden here, before anything leaves Spark.
    """
    told = []
    for place in places:
        shown = text_sql(HIDDEN) if pinned.is_sensitive(place.root.name) else _shown(place.column)
        if shown:
            told += ["', '", f"concat({text_sql(place.column.name + '=')}, {shown})"]
    return f"concat({', '.join(told[1:])})" if told else "''"


def _shown(column: Column) -> str:
    value = column_sql(column)
    if column.is_collection:
        return f"if({value} IS NULL, 'NULL', concat(CAST(size({value}) AS STRING), ' elements'))"
    if column.family is TypeFamily.OTHER:
        return ""
    text = f"hex({value})" if column.family is TypeFamily.BINARY else f"CAST({value} AS STRING)"
    cut = f"substr({text}, 1, {_SHOWN_CHARACTERS_MAX})"
    more = f"if(length({text}) > {_SHOWN_CHARACTERS_MAX}, '...', '')"
    return f"coalesce(concat({cut}, {more}), 'NULL')"
