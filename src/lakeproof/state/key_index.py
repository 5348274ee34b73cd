"""SQL of the key index: a log of weights, where a key weighs the sum of its rows that count.

A batch looks up the keys that it touches, tells from what they weighed before and weigh after it
which violations open and close, and appends its own weights. Rows are sorted by `near`, so that a
look-up of keys that lie together opens few files. It goes by the two numbers of a key's hash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lakeproof.model.names import TableName, quote
from lakeproof.model.tiles import TILE_KEYS, holds, number_in, tile_of, tiled_weights_sql
from lakeproof.model.weighing import (
    BROADCAST_KEYS_MAX,
    KEY_HASH,
    KEY_NUMBERS,
    Resolution,
    Side,
    WeighKind,
)
from lakeproof.state import literals
from lakeproof.state.attempts import Attempt, is_named

Value = TypeVar("Value", int, WeighKind)

NUMBERS = ", ".join(f"{value} AS {name}" for name, value in KEY_NUMBERS.items())
OWN = f"'{Side.OWN.value}'"
PARENT = f"'{Side.PARENT.value}'"
NO_STRAYS = "SELECT '' AS rule_id, '' AS violation_key WHERE false"
SMALL_INDEX_ROWS = 200_000
"""An index up to this size is read as a whole: finding out where the keys lie costs more."""


@dataclass(frozen=True, slots=True)
class Range:
    """Where the keys of one rule lie that a batch touches: from one end to the other, or anywhere.

    0 is the place of keys that have none: it may be that of one side of a reference, or of one
    row of a key. So rows there are always looked at, and keys there lie anywhere.
    """

    keys: int
    ends: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """A query of rows of the index, and the condition on which one of them counts.

    `tiles` is a query of those that tell many keys each, all of which count; '' without any.
    """

    rows: str
    counts: str = "true"
    tiles: str = ""


def incoming_sql(views: Mapping[str, Sequence[str]], rule_ids: Iterable[str]) -> str:
    """The weights of all views, by view name and its columns; without view, no rows."""
    wanted = literals.texts(rule_ids)
    branches = [
        "SELECT rule_id, side, key_hash, violation_key, near, weight, present, "
        f"{'coalesce(has_null, false)' if 'has_null' in columns else 'false'} AS has_null "
        f"FROM {quote(view)} WHERE rule_id IN ({wanted})"
        for view, columns in views.items()
    ]
    none = (
        "SELECT '' AS rule_id, '' AS side, '' AS key_hash, '' AS violation_key, 0L AS near, "
        "0L AS weight, 0L AS present, false AS has_null WHERE false"
    )
    return "\nUNION ALL\n".join(branches) or none


def keys_sql(incoming: str, strays: str, tiled: Collection[str] = ()) -> str:
    """One row for each key that is touched: what is added to it on either side.

    A stray is a key whose stored violation must be assigned again although nothing changed; of
    `tiled` rules it must be known where it lies. Keys are brought together by their texts and
    hashed afterwards, once.
    """
    return f"""
SELECT *, {NUMBERS} FROM (
SELECT *, {KEY_HASH} AS key_hash FROM (
SELECT rule_id, violation_key,
       CAST(sum(if(side = {OWN}, weight, 0)) AS BIGINT) AS own,
       CAST(sum(if(side = {PARENT}, weight, 0)) AS BIGINT) AS parent,
       CAST(sum(if(side = {OWN}, present, 0)) AS BIGINT) AS present,
       if(bool_or(near = 0), 0L, max(near)) AS near, bool_or(has_null) AS has_null,
       bool_or(is_stray) AS is_stray
FROM (
  SELECT rule_id, side, violation_key, near, weight, present, has_null, false AS is_stray
  FROM ({incoming})
  UNION ALL
  SELECT rule_id, {OWN}, violation_key,
         if(rule_id IN ({literals.texts(tiled)}), {number_in("violation_key")}, NULL),
         0L, 0L, false, true
  FROM ({strays})
)
GROUP BY rule_id, violation_key))"""


def strays_sql(violations: TableName, progress: TableName, bases: Mapping[str, int]) -> str:
    """Violations that no batch up to the base of their rule has stamped; `bases` by rule_id."""
    rules = literals.texts(bases)
    up_to = " OR ".join(
        f"rule_id IN ({literals.texts(of_base)}) AND batch_seq <= {base}"
        for base, of_base in _by_value(bases).items()
    )
    return (
        f"SELECT v.rule_id, v.violation_key FROM {violations.sql} v LEFT ANTI JOIN "
        f"(SELECT DISTINCT rule_id, batch_seq FROM {progress.sql} WHERE {up_to or 'false'}) p "
        "ON p.rule_id = v.rule_id AND p.batch_seq = v.batch_seq "
        f"WHERE v.rule_id IN ({rules})"
    )


def ranges_sql(keys_view: str) -> str:
    return (
        "SELECT rule_id, count(*) AS keys, bool_or(near IS NULL OR near = 0) AS lies_anywhere, "
        f"min(near) AS low, max(near) AS high FROM {quote(keys_view)} GROUP BY rule_id"
    )


def visible_sql(index: TableName, attempts: Mapping[str, Sequence[Attempt]]) -> str:
    """The rows that count of the rules that `attempts` names, but for tiles."""
    return f"SELECT * FROM {index.sql} WHERE ({_counting_sql(attempts)}) AND tile IS NULL"


def tiles_sql(index: TableName, attempts: Mapping[str, Sequence[Attempt]]) -> str:
    """The tiles of these rules: rule_id, near, tile, tile_key; '' if they have none."""
    tiled = {name: [one for one in attempts[name] if one.is_tiled] for name in tiled_of(attempts)}
    return (
        f"SELECT rule_id, near, tile, tile_key FROM {index.sql} "
        f"WHERE tile IS NOT NULL AND ({_counting_sql(tiled)})"
        if tiled
        else ""
    )


def tiled_of(attempts: Mapping[str, Sequence[Attempt]]) -> list[str]:
    """The rules that have tiles."""
    return [name for name, of in attempts.items() if any(one.is_tiled for one in of)]


def _counting_sql(attempts: Mapping[str, Sequence[Attempt]]) -> str:
    groups: dict[tuple[Attempt, ...], list[str]] = {}
    for rule_id, of_rule in attempts.items():
        if of_rule:
            groups.setdefault(tuple(of_rule), []).append(rule_id)
    return (
        " OR ".join(
            f"(rule_id IN ({literals.texts(rules)}) AND {is_named(named)})"
            for named, rules in groups.items()
        )
        or "false"
    )


def candidates(
    index: TableName,
    keys_view: str,
    attempts: Mapping[str, Sequence[Attempt]],
    ranges: Mapping[str, Range],
) -> Candidates:
    """The rows of a large index among which those of these keys are; some of others may be too.

    Rules, batches and places leave out the files of others. Half of a key's hash, one number, then
    turns nearly all rows away. Whether a row counts is asked of the few that are left: texts are
    dear to compare, and an index has many rows.
    """
    named = {name: of for name, of in attempts.items() if name in ranges}
    counting = _counting_sql(named)
    batches = sorted({one.batch_seq for of in named.values() for one in of})
    tiles = tiles_sql(index, named)
    if tiles:
        tiles = f"{tiles} AND ({_within_sql(ranges, TILE_KEYS)})"
    rows = (
        f"SELECT * FROM {index.sql} WHERE tile IS NULL AND rule_id IN ({literals.texts(ranges)}) "
        f"AND batch_seq IN ({', '.join(map(str, batches)) or -1}) AND ({_within_sql(ranges)})"
    )
    if sum(one.keys for one in ranges.values()) <= BROADCAST_KEYS_MAX:
        return Candidates(
            f"SELECT /*+ BROADCAST(k) */ i.* FROM ({rows}) i LEFT SEMI JOIN "
            f"(SELECT key_low FROM {quote(keys_view)}) k ON k.key_low = i.key_low",
            counting,
            tiles,
        )
    return Candidates(
        f"SELECT i.* FROM ({rows} AND ({counting})) i LEFT SEMI JOIN "
        f"(SELECT rule_id, key_high, key_low FROM {quote(keys_view)}) k "
        "ON k.key_low = i.key_low AND k.key_high = i.key_high AND k.rule_id = i.rule_id",
        tiles=tiles,
    )


def _within_sql(ranges: Mapping[str, Range], width: int = 1) -> str:
    """Where the keys lie, whichever rule they are of; those of some may lie anywhere.

    Rows of some width may begin before the first of them.
    """
    ends = [one.ends for one in ranges.values() if one.ends]
    places = _united((low - width + 1, high) for low, high in ends)
    within = " OR ".join(["near = 0", *(f"near BETWEEN {low} AND {high}" for low, high in places)])
    anywhere = [name for name, one in ranges.items() if one.ends is None]
    return f"{within} OR rule_id IN ({literals.texts(anywhere)})" if anywhere else within


def _united(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places as ranges that do not overlap."""
    united: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1]:
            united[-1] = united[-1][0], max(high, united[-1][1])
        else:
            united.append((low, high))
    return united


def touched_sql(keys: str, committed: Candidates, kinds: Mapping[str, WeighKind]) -> str:
    """Each touched key with its violation before and after the batch.

    `to_write` is true where the stored violation must change; a key without violation, before and
    after, is known by its hash from here on. Joined by numbers first: Spark sorts by the first
    column, and rows of one rule have the same rule_id.
    """
    held, found = "", ""
    if committed.tiles:
        held = f" + if(t.tile IS NOT NULL AND {holds('t.tile', 'k.near')}, 1L, 0L)"
        found = (
            f"\n  LEFT JOIN ({committed.tiles}) t ON t.near = {tile_of('k.near')} "
            "AND t.rule_id = k.rule_id"
        )
    return f"""
WITH before AS (
  SELECT key_low, key_high, rule_id,
         CAST(sum(if(counts AND side = {OWN}, `count`, 0L)) AS BIGINT) AS own,
         CAST(sum(if(counts AND side = {PARENT}, `count`, 0L)) AS BIGINT) AS parent,
         bool_or(counts AND coalesce(has_null, false)) AS has_null
  FROM (SELECT *, {committed.counts} AS counts FROM ({committed.rows}))
  GROUP BY key_low, key_high, rule_id
), known AS (
  SELECT k.*, {kind_sql(kinds)} AS kind, coalesce(before.own, 0L){held} AS own_before,
         coalesce(before.parent, 0L) AS parent_before, before.has_null AS had_null
  FROM {keys} k LEFT JOIN before ON before.key_low = k.key_low
    AND before.key_high = k.key_high AND before.rule_id = k.rule_id{found}
), summed AS (
  SELECT rule_id, key_hash, key_high, key_low, violation_key, near, own AS own_weight,
         parent AS parent_weight, present, is_stray, kind, own_before, parent_before,
         has_null OR coalesce(had_null, false) AS has_null,
         own_before + own AS own, parent_before + parent AS parent
  FROM known
), judged AS (
  SELECT *, {open_sql("own_before", "parent_before")} AS was_open,
         {open_sql("own", "parent")} AS is_open
  FROM summed
)
SELECT rule_id, key_hash, key_high, key_low, near, has_null, own_weight, parent_weight,
       if(is_open OR was_open OR is_stray, violation_key, NULL) AS violation_key,
       was_open, is_open, own_before, own AS occurrences, parent,
       {excess_sql("was_open", "own_before")} AS excess_before,
       {excess_sql("is_open", "own")} AS excess,
       if((kind = '{WeighKind.ROW.value}' AND present >= 0)
          OR (kind <> '{WeighKind.ROW.value}' AND own > 0),
          '{Resolution.FIXED.value}', '{Resolution.DELETED.value}') AS resolution,
       is_stray OR was_open <> is_open OR (is_open AND own <> own_before) AS to_write
FROM judged"""


def totals_sql(touched_view: str) -> str:
    """Per rule: by how much its open violations grow, and what there is to write.

    `below_zero` counts keys that cannot be.
    """
    return f"""
SELECT rule_id,
       CAST(sum(CAST(is_open AS INT) - CAST(was_open AS INT)) AS BIGINT) AS hits,
       CAST(sum(if(is_open, occurrences, 0) - if(was_open, own_before, 0)) AS BIGINT)
         AS occurrences,
       CAST(sum(excess - excess_before) AS BIGINT) AS excess,
       count_if(is_open AND NOT was_open) AS new_hits, count_if(to_write) AS to_write,
       count_if(own_weight <> 0) + count_if(parent_weight <> 0) AS index_rows,
       count_if(occurrences < 0 OR parent < 0) AS below_zero
FROM {quote(touched_view)} GROUP BY rule_id"""


def known_sql(
    visible: str,
    tiles: str,
    besides: Mapping[str, Sequence[str]],
    kinds: Mapping[str, WeighKind],
) -> str:
    """Keys that are or were in violation, or would be with the weights of the views `besides`.

    With the rows behind them as committed, and where they lie. `besides` has the columns of each.
    """
    unique = literals.texts(name for name, kind in kinds.items() if kind is WeighKind.UNIQUE)
    # A parent that goes can open a key too: what stands behind it must be looked at as well.
    added = (
        "SELECT rule_id, key_hash, NULL AS known, violation_key AS key, 0L AS own, "
        f"if(side = {OWN}, weight, 0L) AS weight, near, has_null "
        f"FROM ({incoming_sql(besides, kinds)})"
    )
    known = (
        "SELECT rule_id, key_hash, key_json AS known, NULL AS key, "
        f"if(side = {OWN}, `count`, 0L) AS own, 0L AS weight, near, false AS has_null "
        f"FROM ({visible})"
    )
    keys = (
        "SELECT rule_id, max(known) AS known, max(key) AS key, CAST(sum(own) AS BIGINT) AS own, "
        "sum(weight) AS weight, max(near) AS near, bool_or(has_null) AS has_null "
        f"FROM ({known}\nUNION ALL\n{added}) GROUP BY rule_id, key_hash\n"
        "HAVING max(known) IS NOT NULL OR max(key) IS NOT NULL"
    )
    if tiles:
        in_tile = f"if(t.tile IS NOT NULL AND {holds('t.tile', 'k.near')}, 1L, 0L)"
        keys = (
            f"SELECT k.rule_id, known, key, own + {in_tile} AS own, weight, k.near, has_null\n"
            f"FROM ({keys}) k LEFT JOIN ({tiles}) t\n"
            f"ON t.near = {tile_of('k.near')} AND t.rule_id = k.rule_id"
        )
    fine = f"if(rule_id IN ({unique}), 1, 0)"
    return (
        "SELECT rule_id, coalesce(key, known) AS violation_key, own AS occurrences, near "
        f"FROM ({keys})\nWHERE (known IS NOT NULL AND own > 0) "
        f"OR (key IS NOT NULL AND (has_null OR own + weight > {fine}))"
    )


def sums_sql(visible: str, tiles: str) -> str:
    """What each key weighs; keys that weigh nothing are left out."""
    rows = f"SELECT rule_id, side, key_hash, `count` AS weight FROM ({visible})"
    if tiles:
        rows = f"{rows}\nUNION ALL\n{tiled_weights_sql(tiles)}"
    return (
        "SELECT rule_id, side, key_hash, CAST(sum(weight) AS BIGINT) AS weight "
        f"FROM ({rows})"
        " GROUP BY rule_id, side, key_hash HAVING sum(weight) <> 0"
    )


def open_sql(own: str, parent: str) -> str:
    return (
        f"CASE kind WHEN '{WeighKind.UNIQUE.value}' THEN {own} > 1 OR (has_null AND {own} > 0) "
        f"WHEN '{WeighKind.REFERENCE.value}' THEN {own} > 0 AND {parent} <= 0 "
        f"ELSE {own} > 0 END"
    )


def excess_sql(is_open: str, own: str) -> str:
    return (
        f"if({is_open}, {own} - "
        f"if(kind = '{WeighKind.UNIQUE.value}' AND NOT coalesce(has_null, false), 1L, 0L), 0L)"
    )


def kind_sql(kinds: Mapping[str, WeighKind], alias: str = "k.") -> str:
    named = "".join(
        f" WHEN {alias}rule_id IN ({literals.texts(rules)}) THEN '{kind.value}'"
        for kind, rules in _by_value(kinds).items()
    )
    return f"CASE{named} END" if named else "CAST(NULL AS STRING)"


def _by_value(named: Mapping[str, Value]) -> dict[Value, list[str]]:
    groups: dict[Value, list[str]] = {}
    for name, value in named.items():
        groups.setdefault(value, []).append(name)
    return groups
