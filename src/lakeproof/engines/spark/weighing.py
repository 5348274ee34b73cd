"""What rows with weights do to rules, computed by the executors."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeproof.engines.engine import Rows
from lakeproof.engines.spark.cancelling import time_limit
from lakeproof.engines.spark.changes.held_rows import HeldRows, Hold
from lakeproof.errors import RuleTimeoutError, error_text
from lakeproof.model.names import quote
from lakeproof.model.standing import Standing
from lakeproof.model.weighing import BROADCAST_KEYS_MAX, WEIGHT, Side, WeighKind
from lakeproof.planning.number_tiles import look_sql
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.tables import PinnedTable
from lakeproof.planning.weights import (
    NO_KEYS,
    again_sql,
    bad_rows_sql,
    beside_sql,
    counts_sql,
    keyed_of,
    keys_sql,
    parents_sql,
    standing_of,
    tiles_sql,
    written_sql,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(slots=True)
class SparkWeights:
    """What was found; keys stand in a view.

    The store reads it once and holds what it makes of it, so it is not held here too: the keys of
    a whole table would be many.
    """

    _spark: SparkSession
    standings: dict[str, Standing] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    view: str = field(default_factory=lambda: f"_lakeproof_weights_{uuid.uuid4().hex}")
    tile_view: str = ""
    _frame: DataFrame | None = None
    _held: list[HeldRows] = field(default_factory=list)

    def hold(self, rule_ids: Sequence[str], sql_of: Callable[[Collection[str]], str]) -> None:
        """Make the view of the keys of these rules; one whose statement is refused is in error."""
        good = [name for name in rule_ids if name not in self.errors]
        try:
            frame = self._analysed(sql_of(good))
        except Exception:  # noqa: BLE001 (whose statement it is that breaks is found out)
            good = [name for name in good if self._is_accepted(name, sql_of)]
            frame = self._analysed(sql_of(good))
        self._frame = frame
        frame.createOrReplaceTempView(self.view)

    def hold_tiles(self, sql: str) -> None:
        """Make the view of keys that are told by tiles; without statement there is none."""
        if sql:
            self.tile_view = f"_lakeproof_tiles_{uuid.uuid4().hex}"
            self._spark.sql(sql).createOrReplaceTempView(self.tile_view)

    def held(self, sql: str, hold: Hold) -> str:
        """A relation of the rows of a statement, which are computed once."""
        self._held.append(HeldRows(self._spark, sql, hold=hold))
        return self._held[-1].relation

    def look_at(self, known: str, timeout_seconds: float | None) -> tuple[str, dict[str, int]]:
        """Read known keys once; gives the view that holds them, and how many each rule has."""
        with time_limit(self._spark, timeout_seconds):
            view = self.held(known, Hold.ROWS)
            found = self._spark.sql(
                f"SELECT rule_id, count(*) AS keys FROM {view} GROUP BY rule_id"
            ).collect()
        return view, {row["rule_id"]: int(row["keys"]) for row in found}

    def totals(self, timeout_seconds: float | None) -> dict[str, int]:
        """The sum of all weights of each rule; from here on the keys are held."""
        assert self._frame is not None  # noqa: S101 (there is a view)
        self._frame.persist()
        with time_limit(self._spark, timeout_seconds):
            found = self._spark.sql(
                f"SELECT rule_id, sum(weight) AS weight FROM {quote(self.view)} GROUP BY rule_id"
            ).collect()
        return {row["rule_id"]: int(row["weight"]) for row in found}

    def _is_accepted(self, rule_id: str, sql_of: Callable[[Collection[str]], str]) -> bool:
        try:
            self._analysed(sql_of([rule_id]))
        except Exception as problem:  # noqa: BLE001 (whatever one rule raises is its own error)
            self.errors[rule_id] = error_text(problem)
            self.standings.pop(rule_id, None)
            return False
        return True

    def _analysed(self, sql: str) -> DataFrame:
        frame = self._spark.sql(sql or NO_KEYS)
        _ = frame.schema  # on Spark Connect nothing is analysed before it is asked for
        return frame

    def release(self) -> None:
        if self.tile_view:
            self._spark.catalog.dropTempView(self.tile_view)
            self.tile_view = ""
        if self._frame is not None:
            self._spark.catalog.dropTempView(self.view)
            self._frame.unpersist()
            self._frame = None
        for rows in self._held:
            rows.release()
        self._held.clear()


def weigh(
    spark: SparkSession,
    plan: TablePlan,
    rule_ids: Sequence[str],
    rows: Sequence[Rows],
    timeout_seconds: float | None,
) -> SparkWeights:
    """What rows of the checked table do: the numbers now, the keys when they are read.

    One action for the numbers. Of a whole table, one more if a unique key may be told by tiles.
    """
    relation = _united(plan.pinned, rows)
    weights = SparkWeights(spark)
    try:
        if len(rows) == 1 and rows[0].is_snapshot:
            _weigh_all(weights, spark, plan, rule_ids, relation, timeout_seconds)
        else:
            _weigh_changes(weights, spark, plan, rule_ids, relation, timeout_seconds)
    except BaseException:
        weights.release()
        raise
    return weights


def _weigh_all(
    weights: SparkWeights,
    spark: SparkSession,
    plan: TablePlan,
    rule_ids: Sequence[str],
    relation: str,
    timeout_seconds: float | None,
) -> None:
    """Every row of a table."""
    started = time.monotonic()
    _count(weights, spark, plan, relation, rule_ids, timeout_seconds)
    asked = [name for name in rule_ids if _has_keys(plan, name, weights)]
    left = timeout_seconds
    if left is not None:
        left = max(0.0, left - (time.monotonic() - started))
    tiled = _tiled(spark, plan, asked, relation, left)
    weights.hold(asked, lambda ids: keys_sql(plan, ids, relation, is_snapshot=True, tiled=tiled))
    weights.hold_tiles(tiles_sql(plan, tiled, relation))


def _weigh_changes(
    weights: SparkWeights,
    spark: SparkSession,
    plan: TablePlan,
    rule_ids: Sequence[str],
    relation: str,
    timeout_seconds: float | None,
) -> None:
    """Rows that came or went: what is bad is held, and only what has its keys is taken apart."""
    bad = _BadRows(weights, plan, relation)
    if not bad.count(spark, rule_ids, timeout_seconds):
        _count(weights, spark, plan, relation, rule_ids, timeout_seconds)
    asked = [n for n in rule_ids if bad.number != 0 or plan.weighed[n] is not WeighKind.ROW]
    weights.hold(
        asked,
        lambda ids: keys_sql(plan, ids, relation, is_snapshot=False, beside_bad=bad.beside),
    )


@dataclass(slots=True)
class _BadRows:
    """The changed rows that break a rule about single rows; `number` once they are counted."""

    weights: SparkWeights
    plan: TablePlan
    relation: str
    number: int | None = None
    beside: str = ""

    def count(
        self, spark: SparkSession, rule_ids: Sequence[str], timeout_seconds: float | None
    ) -> bool:
        """Take all numbers in one action; False if it breaks, or if nothing can be bad."""
        sql = bad_rows_sql(self.plan, rule_ids, self.relation)
        if not sql:
            return False
        try:
            with time_limit(spark, timeout_seconds):
                bad = self.weights.held(sql, Hold.RESULT)
                row = spark.sql(counts_sql(self.plan, rule_ids, self.relation, bad)).collect()[0]
        except RuleTimeoutError:
            raise
        except Exception:  # noqa: BLE001 (whose statement it is that breaks is found out)
            return False
        for name in rule_ids:
            self.weights.standings[name] = standing_of(self.plan, name, row.asDict())
        self.number = int(row["bad_rows"])
        if self.number <= BROADCAST_KEYS_MAX:
            self.beside = beside_sql(self.plan, self.relation, bad)
        return True


def _has_keys(plan: TablePlan, rule_id: str, weights: SparkWeights) -> bool:
    """Whether the rows of a whole table give the rule any key: a row rule has those of bad rows."""
    standing = weights.standings.get(rule_id)
    is_of_rows = plan.weighed[rule_id] is WeighKind.ROW
    return standing is not None and bool(not is_of_rows or standing.bad or standing.elements)


def _tiled(
    spark: SparkSession,
    plan: TablePlan,
    rule_ids: Collection[str],
    relation: str,
    timeout_seconds: float | None,
) -> dict[str, int]:
    """The rules whose keys are numbers that tiles tell, with how many tiles are crowded.

    Where too many are, or most tiles would hold one key only, each key is told by itself.
    """
    looks = [
        look_sql(name, rows, relation)
        for name, rows in keyed_of(plan).items()
        if name in rule_ids and rows.number_sql and plan.weighed[name] is WeighKind.UNIQUE
    ]
    if not looks:
        return {}
    try:
        with time_limit(spark, timeout_seconds):
            found = spark.sql("\nUNION ALL\n".join(looks)).collect()
    except RuleTimeoutError:
        raise
    except Exception:  # noqa: BLE001 (told key by key, which says whose it is if it breaks)
        return {}
    tiled: dict[str, int] = {}
    left = BROADCAST_KEYS_MAX
    for row in sorted(found, key=lambda row: int(row["crowded"])):
        rows, tiles, crowded = (int(row[name]) for name in ("rows", "tiles", "crowded"))
        is_dense = rows >= _KEYS_IN_TILE_MIN * tiles
        if is_dense and crowded <= min(left, _CROWDED_MAX * tiles):
            tiled[str(row["rule_id"])] = crowded
            left -= crowded
    return tiled


_KEYS_IN_TILE_MIN = 1.5
"""Numbers that lie apart, as hashes do, take as many rows in tiles as by themselves."""

_CROWDED_MAX = 0.5
"""The share of crowded tiles above which taking them out costs more than the others save."""


def weigh_parents(
    spark: SparkSession, plan: TablePlan, rule_ids: Sequence[str], rows: Sequence[Rows]
) -> SparkWeights:
    """What rows of the table referred to do; it is one table for all of these rules."""
    parents = [plan.parents[name] for name in rule_ids]
    weights = SparkWeights(spark)
    weights.hold(rule_ids, lambda ids: parents_sql(plan, ids, _united(parents[0], rows)))
    return weights


def weigh_again(
    spark: SparkSession,
    plan: TablePlan,
    rule_ids: Sequence[str],
    known: str,
    rows: Rows | None,
    timeout_seconds: float | None,
) -> SparkWeights:
    """By how much known keys weigh more now; where none is known, the table is not read."""
    weights = SparkWeights(spark)
    view, keys = weights.look_at(known, timeout_seconds)
    asked = [name for name in rule_ids if name in keys]
    relation = rows.relation if rows is not None else plan.pinned.relation
    are_few = sum(keys.values()) <= BROADCAST_KEYS_MAX
    weights.hold(
        asked,
        lambda ids: again_sql(plan, ids, view, relation, are_few=are_few) if ids else "",
    )
    if not asked:
        return weights
    of_rows = {name for name, kind in plan.weighed.items() if kind is WeighKind.ROW}
    for rule_id, more in weights.totals(timeout_seconds).items():
        if rule_id in of_rows:
            weights.standings[rule_id] = Standing(bad=more)
    return weights


def _united(pinned: PinnedTable, rows: Sequence[Rows]) -> str:
    """One relation of them all, by the names of the table's columns."""
    if not rows:
        return f"(SELECT *, 0L AS {WEIGHT} FROM {pinned.relation} WHERE false)"
    if len(rows) == 1:
        return rows[0].relation
    columns = ", ".join(quote(column.name) for column in pinned.columns)
    parts = (f"SELECT {columns}, {WEIGHT} FROM {part.relation}" for part in rows)
    return "(" + "\nUNION ALL\n".join(parts) + ")"


def _count(
    weights: SparkWeights,
    spark: SparkSession,
    plan: TablePlan,
    relation: str,
    rule_ids: Sequence[str],
    timeout_seconds: float | None,
) -> None:
    """One action; when it breaks, halves of it, until the breaking rules stand alone."""
    pending = [tuple(rule_ids)] if rule_ids else []
    while pending:
        part = pending.pop(0)
        try:
            with time_limit(spark, timeout_seconds):
                row: Mapping[str, object] = (
                    spark.sql(counts_sql(plan, part, relation)).collect()[0].asDict()
                )
        except RuleTimeoutError:
            raise
        except Exception as problem:  # noqa: BLE001 (whatever one rule raises is its own error)
            middle = len(part) // 2
            if middle:
                pending += [part[:middle], part[middle:]]
            else:
                weights.errors[part[0]] = error_text(problem)
            continue
        for name in part:
            weights.standings[name] = standing_of(plan, name, row)


def known_keys_sql(plan: TablePlan, view: str, besides: Sequence[str]) -> str:
    """What is known of the keys of a view, with weights `besides` that the same run has found."""
    own = f"SELECT rule_id, violation_key, occurrences, near FROM {quote(view)}"
    added = [
        "SELECT rule_id, violation_key, weight, near "
        f"FROM ({written_sql(plan, other)}) AS other "
        f"LEFT SEMI JOIN {quote(view)} AS mine USING (rule_id, violation_key) "
        f"WHERE other.side = '{Side.OWN}'"
        for other in besides
    ]
    return (
        "SELECT rule_id, violation_key, sum(occurrences) AS occurrences, max(near) AS near\nFROM ("
        + "\nUNION ALL\n".join([own, *added])
        + ")\nGROUP BY rule_id, violation_key"
    )
