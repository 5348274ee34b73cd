"""Every key of both tables with the sums of its row hashes: the comparison that always works."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.pairs.rows import SOURCE, TARGET, PairRows
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.pairing import DuplicatePolicy, NullKeyPolicy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_UNITS: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SENT_BYTES_MAX: Final = 2**25
"""Keys go to every executor by way of the driver, up to this and half of what the driver takes."""
_FIELD_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class JoinFound:
    """What is known of all keys; the differing ones are in a persisted frame.

    `total_keys` and `shared_keys` count copies under policy `multiset`, else distinct keys.
    `duplicate_keys` repeat on either side. `null_keys_*` and `uncastable_keys` count rows.
    `drilled_sql` returns all rows of the differing keys.
    """

    source_rows: int
    target_rows: int
    total_keys: int
    shared_keys: int
    duplicate_keys: int
    duplicate_keys_source: int
    duplicate_keys_target: int
    null_keys_source: int
    null_keys_target: int
    uncastable_keys: int
    differing: int
    differing_sql: str
    drilled_sql: str
    view: str
    frame: DataFrame

    def release(self) -> None:
        """Give back the memory; the statements are of no use afterwards."""
        _release(self.frame, self.view)


def join_by_hash(spark: SparkSession, rows: PairRows) -> JoinFound:
    """The keys that differ and the numbers of all keys, in one action."""
    counted = _counted(rows)
    view = f"{rows.step.view}_join"
    frame = spark.sql(_frame_sql(rows, counted)).persist()
    try:
        frame.createOrReplaceTempView(view)
        totals = _totals(spark, rows, view, counted)
    except BaseException:
        _release(frame, view)
        raise
    found = {name: int(totals[name]) for name in ("differing", *counted)}
    may_be_sent = totals["key_bytes"] <= _sent_bytes_max(spark)
    return JoinFound(
        **found,
        differing_sql=_differing_sql(rows, view),
        drilled_sql=_drilled_sql(rows, view, found, "BROADCAST" if may_be_sent else "MERGE"),
        view=view,
        frame=frame,
    )


def _totals(spark: SparkSession, rows: PairRows, view: str, counted: Iterable[str]) -> Row:
    sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in counted)
    return spark.sql(
        f"SELECT count_if(differs) AS differing, "
        f"coalesce(sum({_key_bytes(rows)}) FILTER (WHERE differs), 0) AS key_bytes, {sums}\n"
        f"FROM {quote(view)}"
    ).collect()[0]


def _release(frame: DataFrame, view: str) -> None:
    frame.sparkSession.catalog.dropTempView(view)
    frame.unpersist()


def same_key(rows: PairRows, left: str, right: str, equals: str = "<=>") -> str:
    """The condition that two relations, by their aliases, hold the same key; NULL equals NULL."""
    return " AND ".join(f"{left}.{key} {equals} {right}.{key}" for key in rows.identity)


def half_sums(rows: PairRows) -> dict[str, str]:
    """The signed sums of both halves of every word: zero if both sides have the same rows.

    Halves, because a sum of whole words would overflow, and ANSI mode refuses that.
    """
    return {
        name: sql
        for number, word in enumerate(rows.hashes)
        for name, sql in (
            (f"low_{number}", f"sum(side * ({word} & 4294967295L))"),
            (f"high_{number}", f"sum(side * shiftrightunsigned({word}, 32))"),
        )
    }


def _frame_sql(rows: PairRows, counted: dict[str, str]) -> str:
    """One row for each differing key, and one for all the others together."""
    kept = {key: f"if(differs, {key}, NULL)" for key in rows.identity}
    sums = ", ".join(f"sum({sql}) AS {name}" for name, sql in counted.items())
    return (
        f"SELECT differs, {', '.join(f'{sql} AS {key}' for key, sql in kept.items())}, {sums}\n"
        f"FROM (SELECT *, {_differs(rows)} AS differs FROM (\n{_keys_sql(rows)}\n))\n"
        f"GROUP BY differs, {', '.join(kept.values())}"
    )


def _keys_sql(rows: PairRows) -> str:
    """One row for each key. A key that could not be cast is NULL, and still no NULL key."""
    keys = ", ".join(rows.identity)
    sums = {} if rows.step.as_sets else half_sums(rows)
    hashes = () if rows.step.as_sets else rows.hashes
    counts = {
        "source_rows": f"count_if(side = {SOURCE})",
        "target_rows": f"count_if(side = {TARGET})",
        "uncastable_source": f"count_if(side = {SOURCE} AND NOT is_castable)",
        "uncastable_target": f"count_if(side = {TARGET} AND NOT is_castable)",
    }
    aggregates = ", ".join(f"{sql} AS {name}" for name, sql in {**counts, **sums}.items())
    null_key = " OR ".join(f"{key} IS NULL" for key in rows.keys)
    return (
        f"SELECT *, if({null_key}, source_rows - uncastable_source, 0) AS null_rows_source, "
        f"if({null_key}, target_rows - uncastable_target, 0) AS null_rows_target\n"
        f"FROM (SELECT {keys}, {aggregates}\nFROM (SELECT {_divided(rows)}*\n"
        f"FROM (\n{rows.union_sql((*rows.identity, *hashes, 'is_castable'))}\n))\nGROUP BY {keys})"
    )


def _divided(rows: PairRows) -> str:
    """The hint that divides rows by their key before they are grouped; '' if it does not help.

    Most keys are there once on each side, so Spark's grouping in advance would only cost time.
    Floats, also nested ones, it groups by another form of them, and would divide once more.
    """
    families = {Column("", key.type_text).family for key in rows.step.keys}
    if families & {TypeFamily.FLOAT, TypeFamily.OTHER}:
        return ""
    return f"/*+ REPARTITION({', '.join(rows.keys)}) */ "


def _differs(rows: PairRows) -> str:
    step = rows.step
    if step.as_sets:
        reasons = ["source_rows = 0", "target_rows = 0"]
    else:
        reasons = ["source_rows <> target_rows", *(f"{name} <> 0" for name in half_sums(rows))]
        if step.duplicates is not DuplicatePolicy.MULTISET:
            reasons += ["source_rows > 1"]  # so has the target, or they differ already
    if step.null_keys is NullKeyPolicy.FAIL:
        reasons += ["null_rows_source > 0", "null_rows_target > 0"]
    return " OR ".join(reasons)


def _counted(rows: PairRows) -> dict[str, str]:
    """What is added up over all keys."""
    counts_copies = rows.step.duplicates is DuplicatePolicy.MULTISET and not rows.step.as_sets
    on_both_sides = "CAST(source_rows > 0 AND target_rows > 0 AS BIGINT)"
    return {
        "source_rows": "source_rows",
        "target_rows": "target_rows",
        "total_keys": "greatest(source_rows, target_rows)" if counts_copies else "1",
        "shared_keys": "least(source_rows, target_rows)" if counts_copies else on_both_sides,
        "duplicate_keys": "CAST(source_rows > 1 OR target_rows > 1 AS BIGINT)",
        "duplicate_keys_source": "CAST(source_rows > 1 AS BIGINT)",
        "duplicate_keys_target": "CAST(target_rows > 1 AS BIGINT)",
        "null_keys_source": "null_rows_source",
        "null_keys_target": "null_rows_target",
        "uncastable_keys": "uncastable_source + uncastable_target",
    }


def _differing_sql(rows: PairRows, view: str) -> str:
    return f"SELECT {', '.join(rows.identity)} FROM {quote(view)} WHERE differs"


def _drilled_sql(rows: PairRows, view: str, found: dict[str, int], way: str) -> str:
    """`way` is a hint: left alone, Spark might send more through the driver than it takes."""
    if rows.step.as_sets:
        null_key = "null_keys_source + null_keys_target > 0 AS null_key"
        wanted = ", ".join([*rows.identity, null_key])
        return "\nUNION ALL ".join(
            f"SELECT {side} AS side, {wanted} FROM {quote(view)} WHERE differs AND {count} > 0"
            for side, count in ((SOURCE, "source_rows"), (TARGET, "target_rows"))
        )
    columns = (*rows.identity, *rows.values, *rows.hashes, "exact_hash", "null_key")
    nulls = ("null_keys_source", "null_keys_target", "uncastable_keys")
    has_no_nulls = not any(found[name] for name in nulls)  # then a quicker equality will do
    return (
        f"SELECT /*+ {way}(differing) */ compared.* FROM (\n{rows.union_sql(columns)}\n) compared\n"
        f"LEFT SEMI JOIN ({_differing_sql(rows, view)}) differing\n"
        f"ON {same_key(rows, 'compared', 'differing', '=' if has_no_nulls else '<=>')}"
    )


def _key_bytes(rows: PairRows) -> str:
    """About the bytes of a key in Spark's rows; of a nested one nothing is known, so very many."""
    sizes = []
    for name, column in zip(rows.keys, rows.step.keys, strict=True):
        family = Column(name, column.type_text).family
        if family in {TypeFamily.STRING, TypeFamily.BINARY}:
            sizes.append(f"coalesce(octet_length({name}), 0) + {_FIELD_BYTES}")
        else:
            sizes.append(str(_SENT_BYTES_MAX if family is TypeFamily.OTHER else _FIELD_BYTES))
    return " + ".join(sizes)


def _sent_bytes_max(spark: SparkSession) -> int:
    given = str(spark.conf.get("spark.driver.maxResultSize", "1g")).strip().lower()
    size = re.fullmatch(r"(\d+)([kmgt]?)b?", given)
    taken = int(size[1]) * _UNITS[size[2]] if size else 0
    return min(_SENT_BYTES_MAX, taken // 2) if taken else _SENT_BYTES_MAX
