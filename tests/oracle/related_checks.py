"""Checks that hold a row against other rows, in plain Python over lists of dicts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from lakeproof.model.canonical import encode_key
from oracle.spark_values import identity, order

Row = Mapping[str, object]


@dataclass(frozen=True)
class Found:
    """Bad rows, and what the check counts; `keys` are the violation keys with their rows."""

    rows: list[Row]
    failing: int
    keys: Counter[str]


def _found(bad: list[Row], key: Sequence[str]) -> Found:
    return Found(
        bad, len(bad), Counter(encode_key({name: row[name] for name in key}) for row in bad)
    )


def _values(row: Row, names: Sequence[str]) -> tuple[Hashable, ...] | None:
    """The values by which rows meet; None if one is missing."""
    if any(row[name] is None for name in names):
        return None
    return tuple(identity(row[name]) for name in names)


def orphans(
    rows: Sequence[Row],
    names: Sequence[str],
    others: Sequence[Row],
    their_names: Sequence[str],
    key: Sequence[str],
) -> Found:
    """Rows whose values are all there and occur nowhere on the other side."""
    known = {_values(other, their_names) for other in others}
    bad = [
        row for row in rows if _values(row, names) is not None and _values(row, names) not in known
    ]
    return _found(bad, key)


def out_of_order(
    rows: Sequence[Row],
    name: str,
    by: str,
    within: Sequence[str],
    *,
    strict: bool,
    key: Sequence[str],
) -> Found:
    """Rows whose value is smaller than the one before, NULLs left out, ties by rising value."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row[name] is not None and row[by] is not None:
            group = tuple(
                None if row[column] is None else identity(row[column]) for column in within
            )
            groups.setdefault(group, []).append(row)
    bad: list[Row] = []
    for group_rows in groups.values():
        ordered = sorted(
            group_rows,
            key=lambda row: (
                order(row[by]),
                order(row[name]),
                encode_key({column: row[column] for column in key}),
            ),
        )
        for before, row in itertools.pairwise(ordered):
            smaller = order(row[name]) < order(before[name])
            equal = order(row[name]) == order(before[name])
            if smaller or (strict and equal):
                bad.append(row)
    return _found(bad, key)


def bad_keys(rows: Sequence[Row], names: Sequence[str], nulls: str) -> Found:
    """Keys that occur twice, or hold a NULL where none may be; `rows` are all behind them."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if nulls == "distinct" and any(row[name] is None for name in names):
            continue
        parts = tuple(None if row[name] is None else identity(row[name]) for name in names)
        groups.setdefault(parts, []).append(row)
    bad = {
        parts: members
        for parts, members in groups.items()
        if len(members) > 1 or (nulls == "forbid" and None in parts)
    }
    keys = Counter(
        {
            encode_key({name: members[0][name] for name in names}): len(members)
            for members in bad.values()
        }
    )
    return Found([row for members in bad.values() for row in members], len(bad), keys)
