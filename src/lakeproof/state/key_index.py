"""SQL of the key index: a log of weights, where a key weighs the sum of its rows that count.

A batch looks up the keys that it touches, tells from what they weighed before and weigh after it
which violations open and close, and appends its own weights. Rows are sorted by `near`, so that a
look-up of keys that lie together opens few files. It goes by two numbers, key_high and key_low:
those of a key's hash; of a key that is a number itself, 0 and that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakeproof.model.names import TableName, quote
from lakeproof.model.number_keys import number_in
from lakeproof.model.tiles import TILE_KEYS, holds, tile_of
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
from lakeproof.state.batch_rules import BatchRules

LOOKED_UP_BY = (
    f"coalesce({KEY_NUMBERS['key_high']}, 0L) AS key_high, "
    f"coalesce({KEY_NUMBERS['key_low']}, near) AS key_low"
)
"""What a key is known by, of one that has a hash and of one that is a number."""
_ROWS = (
    "rule_id, token, side, key_hash, key_json, `count`, first_seen, last_seen, near, "
    "has_null, tile_key, "
    "coalesce(key_high, 0L) AS key_high, coalesce(key_low, near) AS key_low"
)
"""The columns of the index that are read, by the same names."""
OWN = f"'{Side.OWN.value}'"
PARENT = f"'{Side.PARENT.value}'"
NO_STRAYS = "SELECT '' AS rule_id, '' AS violation_key WHERE false"
SMALL_INDEX_ROWS = 200_000
"""An index up to this size is read as a whole: finding out where the keys lie costs more."""
_ENDS_BITS = 4
"""The ends of a range are rounded by an eighth to a sixteenth of its width."""
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Range:
    """Where the keys of one rule lie that a batch touches: from one end to the other, or anywhere.

    0 is the place of keys that have none: it may be that of one side of a reference, or of one
    row of a key. So rows there are always looked at, and keys there lie anywhere, if they are not
    the number 0 itself.
    """

    keys: int
    ends: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """A query of rows of the index, and the condition on which one of them counts.

    `tiles` is a query of those that tell many keys each, all of which count; '' without any.
    `sends_keys`: the keys are few enough to be sent to them.
    """

    rows: str
    counts: str = "(true)"
    tiles: str = ""
    sends_keys: bool = False


def incoming_sql(views: Mapping[str, Sequence[str]], rule_ids: Iterable[str]) -> str:
    """The weights of all views, by view name and its columns; without view, no rows."""
    wanted = literals.texts(rule_ids)
    branches = [
        "SELECT rule_id, side, violation_key, near, weight, present, "
        f"{'coalesce(has_null, false)' if 'has_null' in columns else 'false'} AS has_null "
        f"FROM {quote(view)} WHERE rule_id IN ({wanted})"
        for view, columns in views.items()
    ]
    none = (
        "SELECT '' AS rule_id, '' AS side, '' AS violation_key, 0L AS near, "
        "0L AS weight, 0L AS present, false AS has_null WHERE false"
    )
    return "\nUNION ALL\n".join(branches) or none


def keys_sql(incoming: str, strays: str, rules: BatchRules) -> str:
    """One row for each key that is touched: what is added to it on either side.

    A stray is a key whose stored violation must be assigned again although nothing changed. Keys
    that are numbers have no text; others are brought together by their texts and hashed afterwards,
    once.
    """
    return f"""
SELECT *, {LOOKED_UP_BY} FROM (
SELECT *, {KEY_HASH} AS key_hash FROM (
SELECT rule, violation_key,
       CAST(sum(if(side = {OWN}, weight, 0)) AS BIGINT) AS own,
       CAST(sum(if(side = {PARENT}, weight, 0)) AS BIGINT) AS parent,
       CAST(sum(if(side = {OWN}, present, 0)) AS BIGINT) AS present,
       coalesce(number, if(bool_or(near = 0), 0L, max(near))) AS near,
       bool_or(has_null) AS has_null, bool_or(is_stray) AS is_stray
FROM (SELECT *, if(violation_key IS NULL, near, NULL) AS number FROM (
  SELECT {rules.rule_sql} AS rule, side, violation_key, near, weight, present, has_null,
         false AS is_stray
  FROM ({incoming})
  UNION ALL
  SELECT {rules.rule_sql}, {OWN}, if(number IS NULL, violation_key, NULL), number,
         0L, 0L, false, true
  FROM (SELECT *, if({rules.has_numbers_sql}, {number_in("violation_key")}, NULL) AS number
        FROM ({strays}))
))
GROUP BY number, violation_key, rule))
WHERE own <> 0 OR parent <> 0 OR is_stray"""


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


def ranges_sql(keys_view: str, rules: BatchRules) -> str:
    return (
        f"SELECT {rules.rule_id_sql} AS rule_id, count(*) AS keys, "
        "bool_or(key_hash IS NOT NULL AND coalesce(near, 0L) = 0) AS lies_anywhere, "
        f"min(near) AS low, max(near) AS high FROM {quote(keys_view)} GROUP BY rule"
    )


def visible_sql(index: TableName, attempts: Mapping[str, Sequence[Attempt]]) -> str:
    """The rows that count of the rules that `attempts` names, but for tiles."""
    return f"SELECT {_ROWS} FROM {index.sql} WHERE ({_counting_sql(attempts)}) AND tile IS NULL"


def tiles_sql(index: TableName, attempts: Mapping[str, Sequence[Attempt]]) -> str:
    """The tiles of these rules: rule_id, near, tile, tile_key; '' if they have none."""
    found = {name: [one for one in of if one.is_tiled] for name, of in attempts.items()}
    tiled = {name: of for name, of in found.items() if of}
    return (
        f"SELECT rule_id, near, tile, tile_key FROM {index.sql} "
        f"WHERE tile IS NOT NULL AND ({_counting_sql(tiled)})"
        if tiled
        else ""
    )


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

    Rules, parts and places leave out the files of others. Half of a key's hash, one number, then
    turns nearly all rows away. Which parts count for which rule is asked of the few that are left.
    """
    named = {name: of for name, of in attempts.items() if name in ranges}
    parts = {one for of in named.values() for one in of}
    counting = f"({_counting_sql(named)})"
    tiles = tiles_sql(index, named)
    if tiles:
        tiles = f"{tiles} AND ({_within_sql(ranges, TILE_KEYS)})"
    lying = f"SELECT {_ROWS} FROM {index.sql} WHERE tile IS NULL AND ({_within_sql(ranges)})"
    if sum(one.keys for one in ranges.values()) <= BROADCAST_KEYS_MAX:
        known = f"rule_id IN ({literals.texts(ranges)}) AND {is_named(parts)}"
        found = (
            f"SELECT /*+ BROADCAST(k) */ i.* FROM ({lying} AND {known}) i LEFT SEMI JOIN "
            f"(SELECT key_low FROM {quote(keys_view)}) k ON k.key_low = i.key_low"
        )
        return Candidates(found, counting, tiles, sends_keys=True)
    found = (
        f"SELECT i.* FROM ({lying} AND {counting}) i LEFT SEMI JOIN "
        f"(SELECT key_high, key_low FROM {quote(keys_view)}) k "
        "ON k.key_low = i.key_low AND k.key_high = i.key_high"
    )
    return Candidates(found, tiles=tiles)


def _within_sql(ranges: Mapping[str, Range], width: int = 1) -> str:
    """Where the keys lie, whichever rule they are of; those of some may lie anywhere.

    Rows of some width may begin before the first of them.
    """
    ends = [_rounded(*one.ends) for one in ranges.values() if one.ends]
    places = _united((max(low - width + 1, _LONG_MIN), high) for low, high in ends)
    within = " OR ".join(["near = 0", *(f"near BETWEEN {low} AND {high}" for low, high in places)])
    anywhere = [name for name, one in ranges.items() if one.ends is None]
    return f"{within} OR rule_id IN ({literals.texts(anywhere)})" if anywhere else within


def _rounded(low: int, high: int) -> tuple[int, int]:
    """Ends a little further out, which are the same for keys from about the same places.

    Then the statement is the same, too, and Spark need not compile it again.
    """
    step = 1 << max(0, (high - low).bit_length() - _ENDS_BITS)
    first, behind = low // step * step, (high // step + 1) * step
    return max(first, _LONG_MIN), min(behind - 1, _LONG_MAX)


def _united(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places as ranges that do not overlap."""
    united: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1]:
            united[-1] = united[-1][0], max(high, united[-1][1])
        else:
            united.append((low, high))
    return united


def touched_sql(keys_view: str, committed: Candidates, rules: BatchRules) -> str:
    """The touched keys that have a violation before or after the batch, and those that cannot be.

    Most have none, and are left out here; the texts of those that are no numbers are fetched for
    the few. `to_write` is true where the stored violation must change. Grouped by what differs from
    row to row first: the rows of one rule have the same number.
    """
    return f"""
WITH summed AS (
  SELECT rule, key_high, key_low,
         sum(own_before) AS own_before, sum(parent_before) AS parent_before,
         sum(own_before + own) AS own, sum(parent_before + parent) AS parent,
         sum(present) AS present, bool_or(has_null) AS has_null, bool_or(is_stray) AS is_stray
  FROM ({_before_and_added(keys_view, committed, rules)})
  GROUP BY key_low, key_high, rule HAVING bool_or(is_touched)
), judged AS (
  SELECT *, {rules.open_sql("own_before", "parent_before")} AS was_open,
         {rules.open_sql("own", "parent")} AS is_open
  FROM summed
), moved AS (
  SELECT *, {rules.rule_id_sql} AS rule_id FROM judged
  WHERE is_open OR was_open OR is_stray OR own < 0 OR parent < 0
)
SELECT rule_id, key_high, key_low, {rules.text_sql} AS violation_key,
       was_open, is_open, own_before, own AS occurrences, parent,
       {rules.excess_sql("was_open", "own_before")} AS excess_before,
       {rules.excess_sql("is_open", "own")} AS excess,
       if(if({rules.is_of(WeighKind.ROW)}, present >= 0, own > 0),
          '{Resolution.FIXED.value}', '{Resolution.DELETED.value}') AS resolution,
       is_stray OR was_open <> is_open OR (is_open AND own <> own_before) AS to_write
FROM ({_with_texts("moved", keys_view, rules)})"""


def _with_texts(moved: str, keys_view: str, rules: BatchRules) -> str:
    if rules.number_names.keys() == rules.kinds.keys():
        return f"SELECT *, CAST(NULL AS STRING) AS violation_key, key_low AS near FROM {moved}"
    return (
        f"SELECT m.*, k.violation_key, m.key_low AS near FROM {moved} m LEFT JOIN "
        f"(SELECT rule, key_high, key_low, violation_key FROM {quote(keys_view)} "
        "WHERE violation_key IS NOT NULL) k "
        "ON k.key_low = m.key_low AND k.key_high = m.key_high AND k.rule = m.rule"
    )


def _before_and_added(keys_view: str, committed: Candidates, rules: BatchRules) -> str:
    """What keys weighed and what is added to them, as rows to sum up: cheaper than to join them."""
    added = (
        "SELECT rule, key_high, key_low, true AS is_touched, 0L AS own_before, "
        "0L AS parent_before, own, parent, present, has_null, is_stray "
        f"FROM {quote(keys_view)}"
    )
    counts = committed.counts
    before = (
        f"SELECT {rules.rule_sql}, key_high, key_low, false, "
        f"if({counts} AND side = {OWN}, `count`, 0L), "
        f"if({counts} AND side = {PARENT}, `count`, 0L), "
        f"0L, 0L, 0L, {counts} AND coalesce(has_null, false), false FROM ({committed.rows})"
    )
    parts = [added, before]
    if committed.tiles:
        sent = "/*+ BROADCAST(k) */ " if committed.sends_keys else ""
        parts.append(
            f"SELECT {sent}k.rule, 0L, k.near, false, 1L, 0L, 0L, 0L, 0L, false, false "
            f"FROM (SELECT rule, near FROM {quote(keys_view)} WHERE key_hash IS NULL) k "
            f"JOIN (SELECT *, {rules.rule_sql} AS rule FROM ({committed.tiles})) t "
            f"ON t.near = {tile_of('k.near')} AND t.rule = k.rule "
            f"WHERE {holds('t.tile', 'k.near')}"
        )
    return "\nUNION ALL\n".join(parts)


def totals_sql(keys_view: str, touched_view: str, rules: BatchRules) -> str:
    """Per rule: by how much its open violations grow, and what there is to write.

    `below_zero` counts keys that cannot be.
    """
    return f"""
SELECT rule_id,
       CAST(sum(CAST(is_open AS INT) - CAST(was_open AS INT)) AS BIGINT) AS hits,
       CAST(sum(if(is_open, occurrences, 0) - if(was_open, own_before, 0)) AS BIGINT)
         AS occurrences,
       CAST(sum(excess - excess_before) AS BIGINT) AS excess,
       count_if(is_open AND NOT was_open) AS new_hits, count_if(is_open) AS open_keys,
       count_if(to_write) AS to_write, CAST(sum(index_rows) AS BIGINT) AS index_rows,
       count_if(occurrences < 0 OR parent < 0) AS below_zero
FROM (
  SELECT rule_id, was_open, is_open, own_before, occurrences, parent, excess_before, excess,
         to_write, 0L AS index_rows
  FROM {quote(touched_view)}
  UNION ALL
  SELECT {rules.rule_id_sql}, false, false, 0L, 0L, 0L, 0L, 0L, false, index_rows FROM (
    SELECT rule, count_if(own <> 0) + count_if(parent <> 0) AS index_rows
    FROM {quote(keys_view)} GROUP BY rule)
) GROUP BY rule_id"""


def _by_value(named: Mapping[str, int]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for name, value in named.items():
        groups.setdefault(value, []).append(name)
    return groups
