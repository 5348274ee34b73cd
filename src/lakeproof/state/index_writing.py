"""SQL of what a batch writes into the key index, and of what it reads back of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.weighing import KEY_HASH, WeighKind
from lakeproof.state import literals
from lakeproof.state.attempts import Attempt, is_named
from lakeproof.state.batch_rules import BatchRules, by_rule
from lakeproof.state.key_index import LOOKED_UP_BY, NO_STRAYS, OWN, PARENT, incoming_sql, keys_sql
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
        rows = self._weights(relation, "key_hash, key_high, key_low", "violation_key")
        if merged:
            rows = _summed(f"{rows}\nUNION ALL\nSELECT {_LOGGED} FROM ({merged})")
        numbers = literals.numbers("own", **self._numbers)
        # By numbers that differ from row to row: what is alike, as a rule's name, is dear to sort.
        return self._insert(
            own,
            f"SELECT *, {_NO_TILE} FROM ({rows}) CROSS JOIN {numbers}\nORDER BY near, key_low",
        )

    def insert_anew(self, own: Attempt, relation: str) -> str:
        """The weights of a whole table, as `rebuilt_sql` tells them, without hashes.

        Their hash, dear as it is, is taken once they are in order: to sort, Spark looks at all rows
        twice. Keys that begin alike, or have no place, are told apart by a cheap one: what has one
        place in the order is one task's.
        """
        text = BatchRules.of(self.weighed).text_sql
        rows = self._weights(relation, "violation_key, tile", text)
        in_order = f"SELECT * FROM ({rows})\nORDER BY {_PLACE}, xxhash64(violation_key)"
        hashed = f"SELECT *, {KEY_HASH} AS key_hash\nFROM ({in_order})"
        numbers = ", ".join(f"{value} AS {name}" for name, value in self._numbers.items())
        return self._insert(own, f"SELECT *, {LOOKED_UP_BY}, {numbers} FROM ({hashed})")

    def _insert(self, own: Attempt, rows: str) -> str:
        """What a number is known by stands in `near`; the names of a hash are left empty."""
        befores = BatchRules.of(self.weighed).texts_before
        generations = {one.rule_id: f"{one.generation}L" for one in self.weighed}
        changed = {
            "table_name": literals.text(str(self.batch.work.table)),
            "generation": by_rule(generations, "0L"),
            "token": literals.text(own.token),
            "first_seen": "coalesce(first_seen, moment)",
            "last_seen": "coalesce(last_seen, moment)",
            "key_high": "if(key_hash IS NULL, NULL, key_high)",
            "key_low": "if(key_hash IS NULL, NULL, key_low)",
            "tile_key": by_rule(befores, "CAST(NULL AS STRING)"),
        }
        names = [column.name for column in KEY_INDEX.columns]
        selected = ", ".join(f"{changed.get(name, f'`{name}`')} AS `{name}`" for name in names)
        return (
            f"INSERT INTO {self.index.sql} ({KEY_INDEX.names_sql})\n"
            f"SELECT {selected} FROM (\n{rows})"
        )

    @property
    def _numbers(self) -> dict[str, str]:
        """What is another number in each batch."""
        return {
            "batch_seq": f"{self.batch.batch_seq}L",
            "epoch": f"{self.batch.epoch}L",
            "moment": literals.moment(self.moment),
        }

    def _weights(self, relation: str, key: str, text: str) -> str:
        """One pass for both sides: what is weighed may be a whole table. Seen just now."""
        return (
            f"SELECT rule_id, {key}, if(is_open, {text}, NULL) AS key_json, "
            f"added.weight AS `count`, {_NOW} AS first_seen, {_NOW} AS last_seen, "
            "added.side AS side, coalesce(near, 0L) AS near, has_null "
            f"FROM {relation} LATERAL VIEW "
            f"stack(2, {OWN}, own_weight, {PARENT}, parent_weight) added AS side, weight "
            "WHERE added.weight <> 0"
        )


def with_texts(keys: str, touched: str, rules: BatchRules, *, are_few: bool) -> str:
    """The keys of a view as `Append.insert` takes them, with the text of those that are open."""
    sent = "/*+ BROADCAST(o) */ " if are_few else ""
    return (
        f"SELECT {sent}{rules.rule_id_sql} AS rule_id, k.key_hash, k.key_high, k.key_low, k.near, "
        "k.has_null, k.own AS own_weight, k.parent AS parent_weight, o.violation_key, "
        f"o.violation_key IS NOT NULL AS is_open FROM {quote(keys)} k LEFT JOIN (SELECT "
        f"{rules.rule_sql} AS of_rule, key_high, key_low, violation_key FROM {quote(touched)} "
        "WHERE is_open) o ON o.key_low = k.key_low AND o.key_high = k.key_high AND of_rule = rule"
    )


def _summed(rows: str) -> str:
    """Keys whose weights cancel out are gone."""
    return (
        "SELECT rule_id, key_hash, key_high, key_low, max(key_json) AS key_json, "
        "CAST(sum(`count`) AS BIGINT) AS `count`, min(first_seen) AS first_seen, "
        f"if(bool_or(last_seen IS NULL), {_NOW}, max(last_seen)) AS last_seen, side, "
        "max(near) AS near, "
        f"bool_or(coalesce(has_null, false)) AS has_null FROM ({rows}) "
        "GROUP BY rule_id, key_hash, key_high, key_low, side HAVING sum(`count`) <> 0"
    )


_PLACE = "xxhash64(rule_id), near"
_NO_TILE = "CAST(NULL AS BIGINT) AS tile"
_NOW = "CAST(NULL AS TIMESTAMP_NTZ)"
"""The moment of the batch, before it is known."""
_LOGGED = (
    "rule_id, key_hash, key_high, key_low, key_json, `count`, first_seen, last_seen, side, near, "
    "has_null"
)


def rebuilt_sql(
    views: Mapping[str, Sequence[str]],
    tile_views: Sequence[str],
    rules: BatchRules,
) -> str:
    """Keys of rules that begin anew, as `Append.insert_anew` takes them: nothing was before.

    Only where a key has two sides need its rows be brought together; the others, which may be as
    many as the table has rows, pass through.
    """
    sided = [rule_id for rule_id, kind in rules.kinds.items() if kind is WeighKind.REFERENCE]
    single = [rule_id for rule_id in rules.kinds if rule_id not in sided]
    names = f"violation_key, near, has_null, {_NO_TILE}"
    parts = []
    if single:
        parts.append(
            f"SELECT rule_id, {names}, weight AS own, 0L AS parent "
            f"FROM ({incoming_sql(views, single)})"
        )
    if sided:
        keys = keys_sql(incoming_sql(views, sided), NO_STRAYS, rules)
        parts.append(f"SELECT {rules.rule_id_sql} AS rule_id, {names}, own, parent FROM ({keys})")
    parts += [
        "SELECT rule_id, CAST(NULL AS STRING), near, false, tile, weight, 0L "
        f"FROM {quote(view)} WHERE rule_id IN ({literals.texts(single)})"
        for view in tile_views
    ]
    both = "\nUNION ALL\n".join(parts)
    return f"""
SELECT *, own AS own_weight, parent AS parent_weight,
       tile IS NULL AND {rules.open_sql("own", "parent", "rule_id")} AS is_open
FROM ({both})"""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What an attempt has written of rules that it began anew, read back from the index."""

    index: TableName
    own: Attempt
    rules: BatchRules

    @property
    def totals(self) -> str:
        """Per rule: its rows, and what its open keys amount to; the rest as in `totals_sql`."""
        return f"""
SELECT rule_id, count(*) AS index_rows, bool_or(tile IS NOT NULL) AS is_tiled,
       count_if(is_open) AS hits,
       CAST(sum(if(is_open, `count`, 0)) AS BIGINT) AS occurrences,
       CAST(sum({self.rules.excess_sql("is_open", "`count`", "rule_id")}) AS BIGINT) AS excess,
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
            f"side = {OWN} AND key_json IS NOT NULL AS is_open FROM {self.index.sql} "
            f"WHERE rule_id IN ({literals.texts(self.rules.kinds)}) AND {is_named([self.own])}"
        )
