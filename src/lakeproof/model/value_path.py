"""The text that says where in a row a value stands: `a.b`, `a[].b`, `m{}`, `m{key}`.

`[]` stands for each element of an array, `{}` for each value of a map, `{key}` for each of its
keys. A part that holds such a sign itself is written in backquotes, inner ones doubled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeproof.model.column import Column, column_named

ELEMENT, MAP_VALUE, MAP_KEY = "[]", "{}", "{key}"

Step = tuple[str, tuple[str, ...]]
"""A field's name with the brackets behind it."""

_STEP = re.compile(r"(?:`((?:[^`]|``)+)`|([^.`\[\]{}]+))((?:\[\]|\{\}|\{key\})*)(?:\.|\Z)")
_BRACKET = re.compile(r"\[\]|\{\}|\{key\}")


def read_path(text: str) -> list[Step]:
    """Each step of the path; [] if the text is none."""
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (found.end() == len(text) and text.endswith(".")):
            return []
        step = found[1].replace("``", "`") if found[1] else found[2]
        steps.append((step, tuple(_BRACKET.findall(found[3]))))
        at = found.end()
    return steps


def has_elements(text: str) -> bool:
    """Whether the path leads through an array or a map, so that a row has many such values."""
    return any(brackets for _, brackets in read_path(text))


def inside(column: Column, bracket: str) -> Column | None:
    """What the bracket stands for in this column; None if it has no such thing."""
    if bracket == MAP_KEY:
        return column.map_key
    is_map = column.map_key is not None
    return column.element if is_map is (bracket == MAP_VALUE) else None


def part_at(columns: Sequence[Column], text: str) -> Column | None:
    """The column, field, element, key or value that the path leads to; None if there is none.

    A name that is a column as it stands is that column, whatever signs it holds.
    """
    whole = column_named(columns, text)
    if whole is not None:
        return whole
    found: Column | None = None
    fields = columns
    for name, brackets in read_path(text):
        found = column_named(fields, name)
        for bracket in brackets:
            found = None if found is None else inside(found, bracket)
        if found is None:
            return None
        fields = found.fields
    return found
