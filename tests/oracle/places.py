"""Values inside a row by path, in plain Python: `a.b`, `a[].b`, `m{}.v`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from oracle.conditions import Row

_TOKEN = re.compile(r"\[\]|\{\}|[^.\[\]{}]+")


def values_at(row: Row, path: str) -> Iterator[tuple[str, object]]:
    """Each value that the path leads to, with its position such as `items[2].price`."""
    name, *rest = _TOKEN.findall(path)
    yield from _inside(row[name], rest, name)


def has_elements(path: str) -> bool:
    return "[]" in path or "{}" in path


def _inside(value: object, steps: list[str], position: str) -> Iterator[tuple[str, object]]:
    """A missing array or map has no elements, a missing struct has missing fields."""
    if not steps:
        yield position, value
        return
    step, *rest = steps
    if step == "[]":
        assert value is None or isinstance(value, list)
        for place, item in enumerate(value or ()):
            yield from _inside(item, rest, f"{position}[{place}]")
    elif step == "{}":
        assert value is None or isinstance(value, Mapping)
        for key, item in (value or {}).items():
            yield from _inside(item, rest, f"{position}{{{key}}}")
    else:
        assert value is None or isinstance(value, Mapping)
        yield from _inside(None if value is None else value[step], rest, f"{position}.{step}")
