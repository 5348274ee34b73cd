"""The one pass over an input: how many records, which keys as sums, and whether keys repeat.

Where keys are counted, records are grouped by the two hashes of their identity, 128 bits, so that
numbers are shuffled and not texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.commitments import (
    LIMB_COLUMNS,
    commitment_of,
    uncentred,
)
from lakeproof.engines.spark.accounting.pinned_inputs import (
    FirstReading,
    KeylessRecords,
    PinnedInput,
    telling,
)
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    centred_limbs_sql,
    hash_sql,
    is_positional_sql,
    key_columns,
)
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    Commitment,
    InputAccounting,
    KeyColumn,
    KeyUniqueness,
    Level,
    hash_seeds,
    input_hash_of,
)
from lakeproof.model.printable import counted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MALFORMED: Final = "malformed_"
_KEYED: Final = "keyed_"


@dataclass(frozen=True, slots=True)
class AccountedInput:
    """An input whose records were counted and summed.

    `duplicates` are the keys that occur more than once though they must not, with
    `input_records`, as a frame; None if there are none. `duplicate_records` counts the records
    beyond the first of each.
    """

    accounting: InputAccounting
    pinned: PinnedInput
    keyless: KeylessRecords
    duplicate_keys: int = 0
    duplicate_records: int = 0

    def frame(self) -> DataFrame:
        """The input, each record with its identity in `_lakeproof_key`.

        Malformed lines of JSON and CSV stand in `_lakeproof_raw`, which is NULL for others.
        """
        return self.pinned.frame(self.accounting.key, self.keyless)

    def keys(self) -> DataFrame:
        """The identities alone; Spark reads no more columns than it needs for them."""
        return self.frame().select(KEY)

    @property
    def duplicates(self) -> DataFrame | None:
        if not self.duplicate_keys:
            return None
        readable = self.keys().where(f"NOT {is_positional_sql(KEY)}")
        repeated = readable.groupBy(KEY).count().where("`count` > 1")
        return repeated.selectExpr(f"{KEY} AS source_key", "`count` AS input_records")


@dataclass(frozen=True, slots=True)
class _Sums:
    """What the first reading found: records with a key, malformed ones, and how many keys."""

    records: int
    keyed: Commitment
    malformed: Commitment
    file_classes: int
    distinct_keys: int | None
    duplicate_keys: int
    duplicate_records: int

    @property
    def keyless(self) -> KeylessRecords:
        others = self.records - self.keyed.records - self.malformed.records
        return KeylessRecords(self.malformed.records, others, self.file_classes)


def account_input(
    pinned: PinnedInput,
    key_names: Sequence[str],
    *,
    salt: str,
    level: Level,
    uniqueness: KeyUniqueness,
    name: str = "",
) -> AccountedInput:
    """Count and sum the records of an input: one action, and one more if some have no key.

    Keys that repeat are counted here and judged later: they are data, not an error.
    """
    columns = key_columns(pinned.schema, key_names)
    with telling(pinned.position.location or name or "frame"):
        sums = _first_pass(pinned, columns, salt, level, uniqueness)
        keyless = _keyless_commitment(pinned, columns, sums, salt, level)
    must_be_unique = uniqueness is KeyUniqueness.REQUIRE
    accounting = InputAccounting(
        total_records=sums.records,
        source_key_field=", ".join(column.name for column in columns),
        input_hash=input_hash_of(pinned.position),
        key=columns,
        key_uniqueness=uniqueness,
        distinct_keys=sums.distinct_keys,
        null_keys=sums.records - sums.keyed.records,
        commitment=sums.keyed + keyless,
        position=pinned.position,
        name=name,
    )
    return AccountedInput(
        accounting,
        pinned,
        sums.keyless,
        duplicate_keys=sums.duplicate_keys if must_be_unique else 0,
        duplicate_records=sums.duplicate_records if must_be_unique else 0,
    )


def _keyless_commitment(
    pinned: PinnedInput, columns: Sequence[KeyColumn], sums: _Sums, salt: str, level: Level
) -> Commitment:
    """The records without a key; read again only if the first reading could not tell them all."""
    if not sums.keyless.others:
        return sums.malformed
    found = commitment_of(pinned.keyless_frame(columns, sums.keyless), salt, level).commitment
    expected = sums.keyless.others + sums.keyless.malformed
    if found.records != expected:
        raise LedgerError(
            f"{counted(expected, 'record')} of {pinned.position.location} have no key, and "
            f"{counted(found.records, 'line')} were found for them: Spark reads these files and "
            "their lines by themselves in two ways. Read the files yourself and give the ledger "
            "the DataFrame"
        )
    return found


def _first_pass(
    pinned: PinnedInput,
    columns: Sequence[KeyColumn],
    salt: str,
    level: Level,
    uniqueness: KeyUniqueness,
) -> _Sums:
    reading = pinned.first_reading(columns)
    is_grouped = uniqueness is not KeyUniqueness.ASSUME
    hashed = _hashed(reading, salt, is_grouped=is_grouped)
    terms = level, reading.identity != reading.key
    if not is_grouped:
        row = hashed.selectExpr(*_sums_sql("1L", "if(has_key, 1L, 0L)", *terms)).collect()[0]
        distinct, repeated, surplus = None, 0, 0
    else:
        groups = hashed.groupBy("first", "second").agg(*_group_counts())
        counts = [
            "count_if(keyed > 0) AS distinct_keys",
            "count_if(keyed > 1) AS repeated",
            "coalesce(sum(greatest(keyed - 1L, 0L)), 0L) AS surplus",
        ]
        row = groups.selectExpr(*_sums_sql("records", "keyed", *terms), *counts).collect()[0]
        distinct, repeated, surplus = row["distinct_keys"], row["repeated"], row["surplus"]
    found = row.asDict()
    return _Sums(
        records=found["all_records"],
        keyed=_commitment(found, _KEYED, level),
        malformed=_commitment(found, _MALFORMED, level),
        file_classes=found["file_classes"] & ((1 << 64) - 1),
        distinct_keys=distinct,
        duplicate_keys=repeated,
        duplicate_records=surplus,
    )


def _hashed(reading: FirstReading, salt: str, *, is_grouped: bool) -> DataFrame:
    """Two hashes of each record; one whose identity is not known has its file's class instead.

    The second is 0 where nothing is grouped by it.
    """
    told = reading.frame.selectExpr(
        f"{reading.key} AS source_key",
        f"{reading.identity} AS identity",
        f"{reading.file_class} AS file_class",
    )
    first, second = (hash_sql("identity", seed) for seed in hash_seeds(salt))
    return told.selectExpr(
        "source_key IS NOT NULL AS has_key",
        f"if(identity IS NULL, CAST(file_class AS BIGINT), {first}) AS first",
        f"if(identity IS NULL, NULL, {second if is_grouped else '0L'}) AS second",
    )


def _group_counts() -> list[Column]:
    from pyspark.sql import functions as F  # noqa: N812 (as all of PySpark calls it)

    return [F.expr("count(*)").alias("records"), F.expr("count_if(has_key)").alias("keyed")]


def _sums_sql(records: str, keyed: str, level: Level, may_be_malformed: bool) -> list[str]:  # noqa: FBT001
    """Sums over records or groups of equal ones; `records` and `keyed` say how many each is."""
    weights = {_KEYED: keyed}
    if may_be_malformed:
        # Of a record whose identity is not known `second` is NULL, and `first` is no hash.
        weights[_MALFORMED] = f"if(second IS NULL, 0L, {records} - {keyed})"
    sums = {"all_records": records}
    for kind, weight in weights.items():
        sums[f"{kind}records"] = weight
        if level is Level.COMMIT:
            limbs = zip(LIMB_COLUMNS, centred_limbs_sql("first"), strict=True)
            sums |= {kind + name: f"{limb} * {weight}" for name, limb in limbs}
    bit = "if(second IS NULL, shiftleft(1L, CAST(first AS INT)), 0L)"
    return [
        *(f"coalesce(sum({each}), 0L) AS {name}" for name, each in sums.items()),
        f"coalesce(bit_or({bit}), 0L) AS file_classes",
    ]


def _commitment(found: Mapping[str, int], kind: str, level: Level) -> Commitment:
    names = LIMB_COLUMNS if level is Level.COMMIT else ()
    sums = [found.get(kind + name, 0) for name in names]
    return uncentred(found.get(f"{kind}records", 0), sums)
