"""SQL of what a batch writes into the key index, and of what it reads back of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.weighing import KEY_HASH, WeighKind
from lakeproof.state import literals
from lakeproof.state.attempts import Attempt, is_named
from lakeproof.state.key_index import (
    NO_STRAYS,
    NUMBERS,
    OWN,
    PARENT,
    excess_sql,
    incoming_sql,
    keys_sql,
    kind_sql,
    open_sql,
)
from lakeproof.state.store import Batch, Weighed
from lakeproof.state.tables import KEY_INDEX
from lakeproof.state.violations import HIT_ID


@dataclass(frozen=True, slots=True)
class Append:
    """Rows of one batch on their way into the index."""

    batch: Batch
    moment: datetime
    index: TableName
    weighed: Sequence[Weighed]

    def insert(self, own: Attempt, relation: str, merged: str = "") -> str:
        """The weights of a relation, together with older rows that are merged into this attempt."""
        rows = self._weights(relation, f"key_hash, key_high, key_low, {_NO_TILE}")
        if merged:
            rows = self._summed(f"{rows}\nUNION ALL\nSELECT {_LOGGED} FROM ({merged})")
        # By numbers: texts that begin alike, as those of one rule do, are dear to sort.
        return self._insert(own, f"SELECT * FROM ({rows})\nORDER BY {_PLACE}, key_low")

    def insert_anew(self, own: Attempt, relation: str) -> str:
        """The weights of a whole table, as `rebuilt_sql` tells them, without hashes.

        Their hash, dear as it is, is taken once they are in order: to sort, Spark looks at all rows
        twice. Keys that begin alike, or have no place, are told apart by a cheap one: what has one
        place in the order is one task's.
        """
        rows = self._weights(relation, f"violation_key, {_TILE}")
        return self._insert(
            own,
            f"SELECT *, {NUMBERS} FROM (SELECT *, {KEY_HASH} AS key_hash\n"
            f"FROM (SELECT * FROM ({rows})\nORDER BY {_PLACE}, xxhash64(violation_key)))",
        )

    def _insert(self, own: Attempt, rows: str) -> str:
        generations = "".join(
            f" WHEN {literals.text(one.rule_id)} THEN {one.generation}L" for one in self.weighed
        )
        fixed = {
            "table_name": literals.text(str(self.batch.work.table)),
            "generation": f"CASE rule_id{generations} ELSE 0L END",
            "batch_seq": f"{self.batch.batch_seq}L",
            "epoch": f"{self.batch.epoch}L",
            "token": literals.text(own.token),
        }
        names = [column.name for column in KEY_INDEX.columns]
        selected = ", ".join(f"{fixed.get(name, f'`{name}`')} AS `{name}`" for name in names)
        return (
            f"INSERT INTO {self.index.sql} ({KEY_INDEX.names_sql})\n"
            f"SELECT {selected} FROM (\n{rows})"
        )

    def _weights(self, relation: str, key: str) -> str:
        """One pass for both sides: what is weighed may be a whole table."""
        now = literals.moment(self.moment)
        return (
            f"SELECT rule_id, {key}, if(is_open, violation_key, NULL) AS key_json, "
            f"added.weight AS `count`, {now} AS first_seen, {now} AS last_seen, "
            "added.side AS side, coalesce(near, 0L) AS near, has_null "
            f"FROM {relation} LATERAL VIEW "
            f"stack(2, {OWN}, own_weight, {PARENT}, parent_weight) added AS side, weight "
            "WHERE added.weight <> 0"
        )

    @staticmethod
    def _summed(rows: str) -> str:
        """Keys whose weights cancel out are gone."""
        return (
            f"SELECT rule_id, key_hash, key_high, key_low, {_NO_TILE}, max(key_json) AS key_json, "
            "CAST(sum(`count`) AS BIGINT) AS `count`, min(first_seen) AS first_seen, "
            "max(last_seen) AS last_seen, side, max(near) AS near, "
            f"bool_or(coalesce(has_null, false)) AS has_null FROM ({rows}) "
            "GROUP BY rule_id, key_hash, key_high, key_low, side HAVING sum(`count`) <> 0"
        )


_PLACE = "xxhash64(rule_id), near"
_TILE = "tile, tile_key"
_NO_TILE = "CAST(NULL AS BIGINT) AS tile, CAST(NULL AS STRING) AS tile_key"
_LOGGED = (
    "rule_id, key_hash, key_high, key_low, tile, tile_key, key_json, `count`, first_seen, "
    "last_seen, side, near, has_null"
)


def rebuilt_sql(
    views: Mapping[str, Sequence[str]], tile_views: Sequence[str], kinds: Mapping[str, WeighKind]
) -> str:
    """Keys of rules that begin anew, as `Append.insert_anew` takes them: nothing was before.

    Only where a key has two sides need its rows be brought together; the others, which may be as
    many as the table has rows, pass through.
    """
    sided = [rule_id for rule_id, kind in kinds.items() if kind is WeighKind.REFERENCE]
    single = [rule_id for rule_id in kinds if rule_id not in sided]
    names = f"rule_id, violation_key, near, has_null, {_NO_TILE}"
    parts = []
    if single:
        parts.append(
            f"SELECT {names}, weight AS own, 0L AS parent FROM ({incoming_sql(views, single)})"
        )
    if sided:
        keys = keys_sql(incoming_sql(views, sided), NO_STRAYS)
        parts.append(f"SELECT {names}, own, parent FROM ({keys})")
    parts += [
        f"SELECT rule_id, CAST(NULL AS STRING), near, false, {_TILE}, weight, 0L "
        f"FROM {quote(view)} WHERE rule_id IN ({literals.texts(single)})"
        for view in tile_views
    ]
    both = "\nUNION ALL\n".join(parts)
    return f"""
SELECT *, own AS own_weight, parent AS parent_weight,
       tile IS NULL AND {open_sql("own", "parent")} AS is_open
FROM (SELECT *, {kind_sql(kinds)} AS kind FROM ({both}) k)"""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What an attempt has written of rules that it began anew, read back from the index."""

    index: TableName
    own: Attempt
    kinds: Mapping[str, WeighKind]

    @property
    def totals(self) -> str:
        """Per rule: its rows, and what its open keys amount to; the rest as in `totals_sql`."""
        return f"""
SELECT rule_id, count(*) AS index_rows, bool_or(tile IS NOT NULL) AS is_tiled,
       count_if(is_open) AS hits,
       CAST(sum(if(is_open, `count`, 0)) AS BIGINT) AS occurrences,
       CAST(sum({excess_sql("is_open", "`count`")}) AS BIGINT) AS excess,
       count_if(`count` < 0) AS below_zero
FROM ({self._rows}) GROUP BY rule_id"""

    @property
    def hits(self) -> str:
        """The open keys as `Assignment` takes them."""
        return (
            f"SELECT rule_id, {HIT_ID} AS hit_id, violation_key, `count` AS occurrences "
            f"FROM ({self._rows}) WHERE is_open"
        )

    @property
    def _rows(self) -> str:
        """Only open keys have their text there; a key on the parent's side is never open."""
        return (
            "SELECT rule_id, side, key_json AS violation_key, `count`, has_null, tile, "
            f"{kind_sql(self.kinds, '')} AS kind, "
            f"side = {OWN} AND key_json IS NOT NULL AS is_open FROM {self.index.sql} "
            f"WHERE rule_id IN ({literals.texts(self.kinds)}) AND {is_named([self.own])}"
        )
