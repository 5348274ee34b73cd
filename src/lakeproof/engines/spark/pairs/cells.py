"""Sums of row hashes in a fixed number of cells: equal tables have equal sums, without a shuffle.

A row falls into a cell by its hash. Over each cell the source's rows are counted and their hashes
and keys added up, and the target's taken off; where nothing remains, both have the same rows. What
remains of a single row is that row: its key is read off the sums. A changed row is two such rows,
mostly in different cells. Whether the rows of the keys that were found are all that differs shows
when they are taken off too: nothing may be left in any cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.pairs.hash_join import half_sums
from lakeproof.engines.spark.pairs.rows import SOURCE, TARGET, PairRows
from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CELLS: Final = 16_384
"""A power of two. More cells tell more differing rows apart, and cost more on equal tables."""

BAD_CELLS_MAX: Final = CELLS // 4
"""Beyond, most bad cells hold several rows, and every key is better compared by itself."""

KEYS_MAX: Final = 100_000
"""Differing keys that are brought to the driver."""

_LOW: Final = 0xFFFF_FFFF
_CELL: Final = f"CAST(hash_0 & {CELLS - 1}L AS INT)"


@dataclass(frozen=True, slots=True)
class Cell:
    """What remains of a cell: rows, and the sums of the halves of their hashes and keys.

    `halves` are two for each word of the row hash, `key` those of the key hash; the low one first.
    """

    rows: int
    halves: tuple[int, ...]
    key: tuple[int, ...] = ()

    def minus(self, other: Cell) -> Cell:
        """The rest, without its key."""
        pairs = zip(self.halves, other.halves, strict=True)
        return Cell(self.rows - other.rows, tuple(mine - its for mine, its in pairs))

    @property
    def is_empty(self) -> bool:
        return not self.rows and not any(self.halves)


@dataclass(frozen=True, slots=True)
class CellSums:
    """Both tables by their cells. `bad` are the cells that differ, unless there are too many.

    `null_keys_*` and `uncastable_keys` count rows.
    """

    source_rows: int
    target_rows: int
    null_keys_source: int
    null_keys_target: int
    uncastable_keys: int
    bad_cells: int
    bad: Mapping[int, Cell]


def sum_cells(spark: SparkSession, rows: PairRows) -> CellSums:
    """One action over both tables, which brings at most `BAD_CELLS_MAX` cells to the driver."""
    row = spark.sql(_cells_sql(rows)).collect()[0].asDict()
    cells = {
        number: Cell(count, tuple(halves), key=(low, high))
        for number, count, low, high, *halves in row.pop("bad")
    }
    return CellSums(**{name: int(value) for name, value in row.items()}, bad=cells)


def readable_keys(bad: Mapping[int, Cell]) -> tuple[set[int], list[int]]:
    """The key hashes of cells in which copies of one row remain, and the numbers of the others.

    The sums of several rows may look like those of one, so that its key is none of theirs.
    """
    keys, others = set(), []
    for number, cell in bad.items():
        key = _key_in(number, cell)
        if key is None:
            others.append(number)
        else:
            keys.add(key)
    return keys, others


def keys_in(spark: SparkSession, rows: PairRows, cells: Iterable[int]) -> set[int] | None:
    """The key hashes of the rows that differ in these cells; None if there are too many.

    A semi-join: of a condition on the hash, Spark would make all forms that it can have under the
    names of its columns, which doubles with each column.
    """
    listed = ",".join(str(number) for number in sorted(cells))
    words = ", ".join(rows.hashes)
    found = spark.sql(
        f"SELECT DISTINCT key_hash FROM (SELECT /*+ BROADCAST(wanted) */ key_hash, {words}\n"
        f"FROM (\n{rows.union_sql(('key_hash', *rows.hashes))}\n)\n"
        f"LEFT SEMI JOIN (SELECT explode(split('{listed}', ',')) AS cell) wanted\n"
        f"ON {_CELL} = CAST(wanted.cell AS INT)\n"
        f"GROUP BY key_hash, {words} HAVING sum(side) <> 0) LIMIT {KEYS_MAX + 1}"
    ).collect()
    return {int(row["key_hash"]) for row in found} if len(found) <= KEYS_MAX else None


def cells_of(spark: SparkSession, rows: PairRows, view: str) -> dict[int, Cell]:
    """What the rows of a view, which has `side` and the words of the row hash, sum up to."""
    signed = half_sums(rows)
    sums = ", ".join(f"{sql} AS {name}" for name, sql in signed.items())
    row = spark.sql(
        f"SELECT collect_list(array(CAST(cell AS BIGINT), n, {', '.join(signed)})) AS cells\n"
        f"FROM (SELECT {_CELL} AS cell, sum(side) AS n, {sums}\nFROM {quote(view)}\n"
        f"GROUP BY {_CELL})\nWHERE {' OR '.join(f'{name} <> 0' for name in ('n', *signed))}"
    ).collect()[0]
    return {number: Cell(count, tuple(halves)) for number, count, *halves in row["cells"]}


def cells_left(bad: Mapping[int, Cell], taken: Mapping[int, Cell]) -> list[int]:
    """The cells in which something remains when `taken` is taken off."""
    nothing = Cell(0, (0,) * len(next(iter(bad.values())).halves))
    return [
        number
        for number in sorted({*bad, *taken})
        if not bad.get(number, nothing).minus(taken.get(number, nothing)).is_empty
    ]


def drilled_sql(rows: PairRows, keys: Collection[int], view: str) -> str:
    """All rows with one of these key hashes; the view has them in its column `value`.

    A semi-join, since Spark moves it below the hashes: only those of the rows found are computed.
    """
    columns = (*rows.identity, *rows.values, *rows.hashes, "exact_hash", "null_key")
    within = f"key_hash = wanted.value{_key_range(rows, keys)}"
    return "\nUNION ALL ".join(
        f"SELECT /*+ BROADCAST(wanted) */ {rows.selected(columns, side)} FROM (\n{sql}\n)\n"
        f"LEFT SEMI JOIN {view} wanted ON {within}"
        for side, sql in ((SOURCE, rows.source_sql), (TARGET, rows.target_sql))
    )


def _key_range(rows: PairRows, keys: Collection[int]) -> str:
    """By the range of keys Spark can leave out files. One whole number is its own key hash.

    NULL has a key hash as well, so it may be among those looked for.
    """
    whole = {"tinyint", "smallint", "int", "bigint"}
    if len(rows.keys) > 1 or rows.step.keys[0].type_text not in whole:
        return ""
    return f" AND (key_0 IS NULL OR key_0 BETWEEN {min(keys)}L AND {max(keys)}L)"


def _key_in(number: int, cell: Cell) -> int | None:
    """The key hash of the one row whose copies remain in the cell; None if they are several."""
    if not cell.rows:
        return None
    parts = [divmod(half, cell.rows) for half in (*cell.halves, *cell.key)]
    if any(rest or not 0 <= half <= _LOW for half, rest in parts):
        return None
    if parts[0][0] % CELLS != number:
        return None
    low, high = parts[-2][0], parts[-1][0]
    unsigned = high << 32 | low
    return unsigned - (1 << 64) if high >> 31 else unsigned


def _halves(words: Sequence[str]) -> dict[str, str]:
    """Both halves of each word. Sums of whole words would overflow, which ANSI mode refuses."""
    return {
        name: sql
        for word in words
        for name, sql in (
            (f"{word}_low", f"({word} & {_LOW}L)"),
            (f"{word}_high", f"shiftrightunsigned({word}, 32)"),
        )
    }


def _cells_sql(rows: PairRows) -> str:
    """Each side is summed by itself and the few cells are joined: cheaper than signed sums."""
    summed = _halves(("key_hash", *rows.hashes))
    rest = ", ".join(f"coalesce(s.{name}, 0) - coalesce(t.{name}, 0) AS {name}" for name in summed)
    counts = ", ".join(
        f"coalesce({side}.{name}, 0) AS {side}_{name}"
        for side in ("s", "t")
        for name in ("n", "null_keys", "uncastable")
    )
    is_bad = " OR ".join(("s_n <> t_n", *(f"{name} <> 0" for name in summed)))
    cell = f"array(CAST(cell AS BIGINT), s_n - t_n, {', '.join(summed)})"
    totals = {
        "source_rows": "sum(s_n)",
        "target_rows": "sum(t_n)",
        "null_keys_source": "sum(s_null_keys)",
        "null_keys_target": "sum(t_null_keys)",
        "uncastable_keys": "sum(s_uncastable + t_uncastable)",
        "bad_cells": "count_if(is_bad)",
    }
    added = ", ".join(f"coalesce({sql}, 0) AS {name}" for name, sql in totals.items())
    return (
        f"SELECT {added},\nif(count_if(is_bad) > {BAD_CELLS_MAX}, array(), "
        f"collect_list(CASE WHEN is_bad THEN {cell} END)) AS bad\n"
        f"FROM (SELECT *, {is_bad} AS is_bad\n"
        f"FROM (SELECT coalesce(s.cell, t.cell) AS cell, {counts}, {rest}\n"
        f"FROM ({_side_sql(rows, rows.source_sql)}) s\n"
        f"FULL OUTER JOIN ({_side_sql(rows, rows.target_sql)}) t ON s.cell = t.cell))"
    )


def _side_sql(rows: PairRows, sql: str) -> str:
    halves = _halves(("key_hash", *rows.hashes))
    sums = ", ".join(f"sum({half}) AS {name}" for name, half in halves.items())
    return (
        f"SELECT cell, count(*) AS n, {sums},\n"
        "sum(CASE WHEN null_key THEN 1 ELSE 0 END) AS null_keys, "
        "sum(CASE WHEN is_castable THEN 0 ELSE 1 END) AS uncastable\n"
        f"FROM (SELECT {_CELL} AS cell, {', '.join(rows.hashes)}, key_hash, null_key, is_castable\n"
        f"FROM (\n{sql}\n)) GROUP BY cell"
    )
