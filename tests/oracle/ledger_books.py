"""The books of a pipeline in plain Python: the rows go through the steps one by one.

A row carries the identity of its record and a weight: of the children of an exploded record the
first stands for it, the others are rows without a record. Nothing is taken from the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal

import xxhash

from lakeproof.model.canonical import encode_key
from oracle.conditions import Condition

LIMB = 0xFFFFFFFF


@dataclass(frozen=True)
class Row:
    """One row on its way; `raw` is the text of a line that could not be read."""

    key: str
    values: Mapping[str, object]
    weight: int = 1
    raw: str | None = None
    has_key: bool = True


@dataclass(frozen=True)
class Fate:
    """Where a row ended: its partition, and there its reason, error or group."""

    partition: str
    row: Row
    detail: tuple[object, ...] = ()


Going = tuple[list[Row], list[Fate]]


# ---------------------------------------------------------------------------------------- steps


@dataclass(frozen=True)
class Filter:
    name: str
    condition: Condition
    is_captured: bool = True

    def take(self, rows: Sequence[Row]) -> Going:
        kept, gone = [], []
        for row in rows:
            truth = self.condition.truth(row.values)
            reason = "PREDICATE_NULL" if truth is None else "PREDICATE_FALSE"
            if truth:
                kept.append(row)
            elif self.is_captured:
                gone.append(Fate(f"FILTERED({self.name})", row, (reason,)))
        return kept, gone


@dataclass(frozen=True)
class Demand:
    """One requirement of a validation: what is not true of a row makes it an error."""

    name: str
    condition: Condition
    error_type: str
    error_code: str


@dataclass(frozen=True)
class Validate:
    name: str
    demands: tuple[Demand, ...]

    def take(self, rows: Sequence[Row]) -> Going:
        kept, gone = [], []
        for row in rows:
            error = self.error_of(row)
            if error is None:
                kept.append(row)
            else:
                gone.append(Fate(f"ERROR({self.name})", row, error))
        return kept, gone

    def error_of(self, row: Row) -> tuple[str, str] | None:
        if row.raw is not None:
            return ("parse", "MALFORMED_RECORD")
        if not row.has_key:
            return ("null", "NULL_KEY")
        broken = (one for one in self.demands if not one.condition.holds(row.values))
        first = next(broken, None)
        return None if first is None else (first.error_type, first.error_code)


@dataclass(frozen=True)
class Explode:
    """Each element in a row of its own, in place of the array."""

    name: str
    column: str

    def take(self, rows: Sequence[Row]) -> Going:
        kept, gone = [], []
        for row in rows:
            elements = row.values[self.column]
            if not elements:
                gone.append(Fate(f"FILTERED({self.name})", row, ("EXPLODE_EMPTY",)))
                continue
            assert isinstance(elements, list)
            for position, element in enumerate(elements):
                child = {**row.values, self.column: element}
                weight = row.weight if position == 0 else 0
                kept.append(replace(row, values=child, weight=weight))
        return kept, gone


@dataclass(frozen=True)
class Group:
    name: str
    columns: tuple[str, ...]

    def take(self, rows: Sequence[Row]) -> Going:
        name = f"AGGREGATED({self.name})"
        groups = [tuple(row.values[column] for column in self.columns) for row in rows]
        return [], [Fate(name, row, group) for row, group in zip(rows, groups, strict=True)]


@dataclass(frozen=True)
class Keep:
    """The rows that are left are the output."""

    name: str

    def take(self, rows: Sequence[Row]) -> Going:
        return [], [Fate(f"OUTPUT({self.name})", row) for row in rows]


@dataclass(frozen=True)
class Lose:
    """A fault: the rows of a key vanish without a word."""

    key: str

    def take(self, rows: Sequence[Row]) -> Going:
        return [row for row in rows if row.key != self.key], []


@dataclass(frozen=True)
class Repeat:
    """A fault: the rows of a key come twice, as by a join that multiplies."""

    key: str

    def take(self, rows: Sequence[Row]) -> Going:
        return [*rows, *(row for row in rows if row.key == self.key)], []


@dataclass(frozen=True)
class Forge:
    """A fault: the rows of a key go on under another one."""

    key: str
    other: str

    def take(self, rows: Sequence[Row]) -> Going:
        forged = (
            replace(row, key=self.other, has_key=True) if row.key == self.key else row
            for row in rows
        )
        return list(forged), []


Step = Filter | Validate | Explode | Group | Keep | Lose | Repeat | Forge


def fates_of(rows: Iterable[Row], steps: Sequence[Step]) -> list[Fate]:
    """Where every row ends; the last step is a `Group` or a `Keep`."""
    live, fates = list(rows), []
    for step in steps:
        live, gone = step.take(live)
        fates += gone
    assert not live, "the last step keeps nothing back"
    return fates


# -------------------------------------------------------------------------------------- the sums


@dataclass(frozen=True)
class Verdict:
    """What the books must say: counts of records, and the keys behind them."""

    missing: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    duplicate: Counter[str] = field(default_factory=Counter)
    partitions: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.missing.total(), self.extra.total(), self.duplicate.total()

    @property
    def balances(self) -> bool:
        return self.counts == (0, 0, 0)


def records_of(fates: Iterable[Fate]) -> Counter[str]:
    """The records behind these rows: those of weight 1."""
    return Counter(fate.row.key for fate in fates if fate.row.weight)


def verdict_of(records: Counter[str], fates: Sequence[Fate]) -> Verdict:
    """Each key's occurrences in the input against those in all partitions together."""
    accounted = records_of(fates)
    surplus = accounted - records
    return Verdict(
        missing=records - accounted,
        extra=Counter({key: count for key, count in surplus.items() if key not in records}),
        duplicate=Counter({key: count for key, count in surplus.items() if key in records}),
        partitions={
            key: frozenset(one.partition for one in fates if one.row.weight and one.row.key == key)
            for key in surplus
        },
    )


def limbs_of(keys: Iterable[str], salt: str) -> tuple[int, int]:
    """A 64-bit hash of every key, in halves, summed; half of the salt seeds it."""
    seed = xxhash.xxh64_intdigest(bytes.fromhex(salt[:16]), seed=42)
    digests = [xxhash.xxh64_intdigest(key.encode(), seed=seed) for key in keys]
    return sum(digest & LIMB for digest in digests), sum(digest >> 32 for digest in digests)


# ------------------------------------------------------------------------------------- identities


def key_text(values: Mapping[str, object], columns: Sequence[str]) -> str | None:
    """The source_key of a record; None if there is no readable one."""
    key = {column: values[column] for column in columns}
    if all(value is None for value in key.values()):
        return None
    if len(columns) > 1:
        return encode_key(key)
    (value,) = key.values()
    return next(text(value) for kind, text in _TEXTS if isinstance(value, kind))


def _moment(value: datetime) -> str:
    whole = value.strftime("%Y-%m-%d %H:%M:%S")
    fraction = f".{value.microsecond:06}".rstrip("0").rstrip(".")
    return f"{whole}{fraction}{'Z' if value.tzinfo else ''}"


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    plain = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if plain == "-0" else plain


# The first that fits: a bool is an int, a datetime a date. Moments with a zone come in UTC.
_TEXTS: tuple[tuple[type, Callable[..., str]], ...] = (
    (bool, lambda value: str(value).lower()),
    (int, str),
    (Decimal, _plain),
    (bytes, lambda value: value.hex().upper()),
    (datetime, _moment),
    (date, date.isoformat),
    (str, lambda value: f"@{value}" if value.startswith("@") else value),
)
