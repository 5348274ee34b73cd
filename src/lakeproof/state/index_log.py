"""The key index at work: look up what a batch touches, append what it weighs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from lakeproof.model.names import quote
from lakeproof.model.printable import counted
from lakeproof.model.standing import KeyTotals
from lakeproof.state import index_writing, key_index
from lakeproof.state.access import StateAccess
from lakeproof.state.attempts import Attempt, to_merge
from lakeproof.state.batch_rules import BatchRules
from lakeproof.state.key_index import SMALL_INDEX_ROWS
from lakeproof.state.progress import Head
from lakeproof.state.store import Batch, Weighed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

OPEN_KEYS_SENT_MAX = 100_000
"""Up to this many texts are sent to the keys; more, and both are shuffled."""


@dataclass(slots=True)
class SparkTouched:
    """See `store.Touched`.

    `view` has the keys of rules that went on, but for those without violation, `open_view`
    the open ones of rules that began anew; '' if there is nothing to do. `attempts` are those of
    each rule's index once the batch is committed.
    """

    totals: dict[str, KeyTotals] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, tuple[Attempt, ...]] = field(default_factory=dict)
    new_hits: dict[str, int] = field(default_factory=dict)
    to_write: dict[str, int] = field(default_factory=dict)
    view: str = ""
    open_view: str = ""
    held: ExitStack = field(default_factory=ExitStack)

    def release(self) -> None:
        self.held.close()


@dataclass(frozen=True, slots=True)
class IndexLog:
    access: StateAccess

    def add(
        self,
        batch: Batch,
        weighed: Sequence[Weighed],
        views: Sequence[str],
        heads: Mapping[str, Head],
        moment: datetime,
    ) -> SparkTouched:
        """Rules that go on, on top of their heads; those that begin anew, on top of nothing."""
        touched = SparkTouched(generations={one.rule_id: one.generation for one in weighed})
        found = columns_of(self.access, views)
        columns = {view: names for view, names in found.items() if "tile" not in names}
        tiles = [view for view in found if view not in columns]
        anew = [one for one in weighed if one.is_rebuilt]
        onward = [one for one in weighed if not one.is_rebuilt]
        try:
            if onward:
                _GoingOn(self.access, batch, onward, columns, heads, moment).add_to(touched)
            if anew:
                _Beginning(self.access, batch, anew, columns, tiles, moment).add_to(touched)
        except BaseException:
            touched.release()
            raise
        return touched

    def visible(self, heads: Mapping[str, Head]) -> str:
        return key_index.visible_sql(self.access.tables["key_index"], _attempts_of(heads))

    def tiles(self, heads: Mapping[str, Head]) -> str:
        """Keys that are told by tiles; '' if there are none."""
        return key_index.tiles_sql(self.access.tables["key_index"], _attempts_of(heads))


@dataclass(frozen=True, slots=True)
class _GoingOn:
    """Rules whose weights come on top of what is committed."""

    access: StateAccess
    batch: Batch
    weighed: Sequence[Weighed]
    columns: Mapping[str, Sequence[str]]
    heads: Mapping[str, Head]
    moment: datetime

    def add_to(self, touched: SparkTouched) -> None:
        attempts = {one.rule_id: self._attempts(one.rule_id) for one in self.weighed}
        touched.attempts.update(attempts)
        self.access.refresh("violations", "progress", "key_index")
        # They are not read from the index, or Spark would compute them anew once it is written.
        with ExitStack() as held:
            keys = hold(self.access, self.access.frame(self._keys), held)
            committed = self._committed(attempts, keys)
            frame = self.access.frame(key_index.touched_sql(keys, committed, self._rules))
            touched.view = name_view(self.access, settled(frame), touched.held)
            self._append(touched, keys, self._sum_up(touched, keys))

    def _committed(
        self, attempts: Mapping[str, tuple[Attempt, ...]], keys: str
    ) -> key_index.Candidates:
        """What the index may have of these keys."""
        index = self.access.tables["key_index"]
        is_small = sum(one.rows for of in attempts.values() for one in of) <= SMALL_INDEX_ROWS
        if not is_small:
            return key_index.candidates(index, keys, attempts, self._ranges(keys))
        tiles = key_index.tiles_sql(index, attempts)
        return key_index.Candidates(key_index.visible_sql(index, attempts), tiles=tiles)

    def _attempts(self, rule_id: str) -> tuple[Attempt, ...]:
        head = self.heads.get(rule_id)
        return head.attempts if head else ()

    @property
    def _keys(self) -> str:
        tables = self.access.tables
        bases = {
            one.rule_id: self.heads[one.rule_id].progress.batch_seq if self._knows(one) else 0
            for one in self.weighed
        }
        strays = key_index.strays_sql(tables["violations"], tables["progress"], bases)
        incoming = key_index.incoming_sql(self.columns, bases)
        return key_index.keys_sql(incoming, strays, self._rules)

    @property
    def _rules(self) -> BatchRules:
        return BatchRules.of(self.weighed)

    def _ranges(self, keys_view: str) -> dict[str, key_index.Range]:
        return {
            row["rule_id"]: key_index.Range(
                row["keys"], None if row["lies_anywhere"] else (row["low"], row["high"])
            )
            for row in self.access.read(key_index.ranges_sql(keys_view, self._rules))
        }

    def _knows(self, one: Weighed) -> bool:
        return one.rule_id in self.heads

    def _sum_up(self, touched: SparkTouched, keys: str) -> list[Row]:
        """Fills in the totals; gives them by rule."""
        rows = self.access.read(key_index.totals_sql(keys, touched.view, self._rules))
        sum_up(touched, rows)
        touched.new_hits.update({row["rule_id"]: row["new_hits"] for row in rows})
        touched.to_write.update({row["rule_id"]: row["to_write"] for row in rows})
        return rows

    def _append(self, touched: SparkTouched, keys: str, totals: Sequence[Row]) -> None:
        """Write the weights; where a rule's log has become long, its small parts with them."""
        index_rows = {row["rule_id"]: row["index_rows"] for row in totals if row["index_rows"]}
        if not index_rows:
            return
        merging = {
            rule_id: to_merge(touched.attempts[rule_id])
            for rule_id in index_rows
            if to_merge(touched.attempts[rule_id])
        }
        index = self.access.tables["key_index"]
        append = index_writing.Append(self.batch, self.moment, index, self.weighed)
        merged = key_index.visible_sql(index, merging) if merging else ""
        are_few = sum(row["open_keys"] for row in totals) <= OPEN_KEYS_SENT_MAX
        weights = index_writing.with_texts(keys, touched.view, self._rules, are_few=are_few)
        own = self.access.append_anew(
            self.batch.batch_seq, lambda own: append.insert(own, f"({weights})", merged)
        )
        for rule_id, rows in index_rows.items():
            old = merging.get(rule_id, ())
            kept = touched.attempts[rule_id][: len(touched.attempts[rule_id]) - len(old)]
            rows_written = rows + sum(one.rows for one in old)
            touched.attempts[rule_id] = (*kept, replace(own, rows=rows_written))


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Rules whose weights are all there is.

    The index itself holds what was computed: a table may have too many keys to be held beside it.
    """

    access: StateAccess
    batch: Batch
    weighed: Sequence[Weighed]
    columns: Mapping[str, Sequence[str]]
    tile_views: Sequence[str]
    moment: datetime

    def add_to(self, touched: SparkTouched) -> None:
        index = self.access.tables["key_index"]
        rules = BatchRules.of(self.weighed)
        append = index_writing.Append(self.batch, self.moment, index, self.weighed)
        sql = index_writing.rebuilt_sql(self.columns, self.tile_views, rules)
        own = self.access.append_anew(
            self.batch.batch_seq, lambda own: append.insert_anew(own, f"({sql})")
        )
        self.access.refresh("key_index")
        rebuilt = index_writing.Rebuilt(index, own, rules)
        touched.attempts.update(dict.fromkeys(rules.ids, (own,)))
        rows = self.access.read(rebuilt.totals)
        sum_up(touched, rows)
        for row in rows:
            written = replace(own, rows=row["index_rows"], is_tiled=row["is_tiled"])
            touched.attempts[row["rule_id"]] = (written,)
        touched.open_view = name_view(self.access, self.access.frame(rebuilt.hits), touched.held)


def _attempts_of(heads: Mapping[str, Head]) -> dict[str, tuple[Attempt, ...]]:
    return {rule_id: head.attempts for rule_id, head in heads.items()}


def sum_up(touched: SparkTouched, rows: Sequence[Row]) -> None:
    """Fill in the totals of the rules that have a row, and what cannot be."""
    for row in rows:
        rule_id = str(row["rule_id"])
        touched.totals[rule_id] = KeyTotals(row["hits"], row["occurrences"], row["excess"])
        if row["below_zero"]:
            told = f"{counted(row['below_zero'], 'key')} of its index below zero"
            touched.problems[rule_id] = told


def columns_of(access: StateAccess, views: Sequence[str]) -> dict[str, list[str]]:
    return {view: access.frame(f"TABLE {quote(view)}").columns for view in views}


def name_view(access: StateAccess, frame: DataFrame, held: ExitStack) -> str:
    """The frame as a view, until what is held is released."""
    view = f"lakeproof_touched_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(view)
    held.callback(access.spark.catalog.dropTempView, view)
    return view


def settled(frame: DataFrame) -> DataFrame:
    """The frame, computed once by the first action on it.

    Not by `persist`: Spark computes a persisted frame anew once a table that it read is written,
    and this one reads the tables that its own rows are written to.
    """
    return frame.localCheckpoint(eager=False)


def hold(access: StateAccess, frame: DataFrame, held: ExitStack) -> str:
    """The frame as a view that is computed once."""
    frame.persist()
    held.callback(frame.unpersist)
    return name_view(access, frame, held)
