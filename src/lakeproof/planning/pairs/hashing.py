"""The statement that reads one side of a comparison: its values, and the hashes of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakeproof.checks.checksum_reconciliation import SAMPLE_PARTS
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.pairing import HashAlgorithm
from lakeproof.planning.fuse import within
from lakeproof.planning.pairs.steps import PairColumn, Side
from lakeproof.planning.pairs.values import EXACT, Rounding, hashable_sql, null_bits, rounded_sql
from lakeproof.planning.tables import PinnedTable

_DIGESTS = {HashAlgorithm.MD5: "md5({0})", HashAlgorithm.SHA256: "sha2({0}, 256)"}
_WORD_DIGITS = 16
# One hash of the same values says nothing of another that starts from another number.
_SECOND_WORD, _EXACT, _SAMPLE = "1L", "2L", "3L"
_NULL_KEY = -(1 << 61)
"""Stands for NULL where an integer key is its own hash; it may share that with a real key."""

Text = Callable[[Sequence[tuple[str, str]]], str]
"""`TableReader.text_sql`."""


@dataclass(frozen=True, slots=True)
class BoundColumn:
    """A column of both sides with what a statement needs of it.

    `rounding` is what of its values does not count in the hash. `is_castable`: for each side by
    name, whether a value of the key could be cast; a side that needs no cast is not there.
    """

    pair: PairColumn
    type: Column
    rounding: Rounding = EXACT
    is_castable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Hashing:
    """How the rows of both sides are hashed; one for both, so that equal rows are equal there.

    `sample_parts` of `SAMPLE_PARTS` parts of the keys are read.
    """

    keys: tuple[BoundColumn, ...]
    columns: tuple[BoundColumn, ...]
    algorithm: HashAlgorithm
    text_sql: Text
    sample_parts: int = SAMPLE_PARTS

    def side(self, name: str, pinned: PinnedTable, scope: str) -> Side:
        """The side of that name, `source` or `target`."""
        where = f" WHERE {within(scope)}" if scope else ""
        sql = _select(self._values(name), f"SELECT * FROM {pinned.relation}{where}")
        rounded = [f"{item.rounded} AS {item.hashed}" for item in self._items if item.is_rounded]
        if rounded:
            sql = _select(["*", *rounded], sql)
        if self.algorithm in _DIGESTS:
            sql = _select(["*", f"{self._digest} AS digest"], sql)
        sampled = ""
        if self.sample_parts < SAMPLE_PARTS:
            sampled = f"pmod({self._sample_hash}, {SAMPLE_PARTS}) < {self.sample_parts}"
        sql = _select(self._returned, sql) + (f"\nWHERE {sampled}" if sampled else "")
        return Side(name, pinned, within(scope, sampled), sql)

    def _values(self, name: str) -> list[str]:
        """The values under their common types; what a key was before its cast is gone then."""
        found, nulls, casts = [], [], []
        for item in self._items:
            value, column = _of_side(item.bound.pair, name)
            found.append(f"{value} AS {item.alias}")
            if item.is_key:
                nulls.append(f"{quote(column.name)} IS NULL")
                casts += [sql for side, sql in item.bound.is_castable if side == name]
        found.append(f"({' OR '.join(nulls)}) AS null_key")
        found.append(f"{' AND '.join(casts) or 'true'} AS is_castable")
        return found

    @property
    def _items(self) -> list[_Item]:
        keys = [_Item(f"key_{at}", bound) for at, bound in enumerate(self.keys)]
        return keys + [_Item(f"value_{at}", bound) for at, bound in enumerate(self.columns)]

    @property
    def _returned(self) -> list[str]:
        exact = [item for item in self._items if item.bound.pair.is_exact]
        is_exact = len(exact) == len(self._items)
        return [
            *(item.alias for item in self._items),
            *(f"{word} AS hash_{at}" for at, word in enumerate(self._words)),
            f"{self._words[0] if is_exact else self._hash(exact, _EXACT)} AS exact_hash",
            f"{self._key_hash} AS key_hash",
            f"{self._sample_hash} AS sample_hash",
            "null_key",
            "is_castable",
        ]

    @property
    def _words(self) -> list[str]:
        if self.algorithm in _DIGESTS:
            starts = range(1, self.algorithm.words * _WORD_DIGITS, _WORD_DIGITS)
            # To base -10: as a signed number, which a BIGINT holds.
            return [
                f"CAST(conv(substr(digest, {at}, {_WORD_DIGITS}), 16, -10) AS BIGINT)"
                for at in starts
            ]
        first = self._hash(self._items)
        return [first, self._hash(self._items, _SECOND_WORD)][: self.algorithm.words]

    def _hash(self, items: Sequence[_Item], *seed: str) -> str:
        """A hash of these values and of where any value of the row is NULL."""
        nulls = null_bits([item.alias for item in self._items])
        return f"xxhash64({', '.join([*seed, *nulls, *(item.hashable for item in items)])})"

    @property
    def _digest(self) -> str:
        values = [(item.hashed, item.bound.type.type_text) for item in self._items]
        return _DIGESTS[self.algorithm].format(self.text_sql(values))

    @property
    def _sample_hash(self) -> str:
        keys = [item for item in self._items if item.is_key]
        nulls = null_bits([item.alias for item in keys])
        return f"xxhash64({', '.join([_SAMPLE, *nulls, *(item.hashable for item in keys)])})"

    @property
    def _key_hash(self) -> str:
        if len(self.keys) == 1 and self.keys[0].type.family is TypeFamily.INTEGER:
            return f"coalesce(CAST(key_0 AS BIGINT), {_NULL_KEY}L)"
        return self._sample_hash


@dataclass(frozen=True, slots=True)
class _Item:
    """A value of the row under the name that the statement has for it."""

    alias: str
    bound: BoundColumn

    @property
    def is_key(self) -> bool:
        return self.alias.startswith("key_")

    @property
    def rounded(self) -> str:
        return rounded_sql(self.alias, self.bound.type, self.bound.rounding)

    @property
    def is_rounded(self) -> bool:
        return self.rounded != self.alias

    @property
    def hashed(self) -> str:
        """The name of the value that is hashed."""
        return f"rounded_{self.alias}" if self.is_rounded else self.alias

    @property
    def hashable(self) -> str:
        return hashable_sql(self.hashed, self.bound.type)


def _of_side(pair: PairColumn, name: str) -> tuple[str, Column]:
    is_source = name == "source"
    return (pair.source_sql, pair.source) if is_source else (pair.target_sql, pair.target)


def _select(items: Sequence[str], rows: str) -> str:
    # Under a name of ours: `a.b` is then a field of column a, also where the table is called a.
    listed = ",\n       ".join(items)
    return f"SELECT {listed}\nFROM (\n{rows}\n) AS _lakeproof_rows"
