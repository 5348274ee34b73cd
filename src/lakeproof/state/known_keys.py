"""SQL of what the key index knows: keys to count again, and what every key weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.model.number_keys import key_text
from lakeproof.model.tiles import holds, tile_of, tiled_weights_sql
from lakeproof.model.weighing import KEY_HASH, WeighKind
from lakeproof.state import literals
from lakeproof.state.batch_rules import BatchRules
from lakeproof.state.key_index import LOOKED_UP_BY, OWN, incoming_sql


def known_sql(
    visible: str,
    tiles: str,
    besides: Mapping[str, Sequence[str]],
    rules: BatchRules,
) -> str:
    """Keys that are or were in violation, or would be with the weights of the views `besides`.

    With the rows behind them as committed, and where they lie. `besides` has the columns of each.
    """
    unique = literals.texts(n for n, kind in rules.kinds.items() if kind is WeighKind.UNIQUE)
    # A parent that goes can open a key too: what stands behind it must be looked at as well.
    # One that only comes and goes opens none.
    moved = (
        "SELECT rule_id, side, violation_key, near, sum(weight) AS weight, "
        f"bool_or(has_null) AS has_null FROM ({incoming_sql(besides, rules.ids)}) "
        "GROUP BY rule_id, side, violation_key, near HAVING sum(weight) <> 0"
    )
    added = (
        f"SELECT rule_id, {LOOKED_UP_BY}, NULL AS known, {rules.text_sql} AS key, 0L AS own, "
        f"if(side = {OWN}, weight, 0L) AS weight, near, has_null "
        f"FROM (SELECT *, {KEY_HASH} AS key_hash FROM ({moved}))"
    )
    known = (
        "SELECT rule_id, key_high, key_low, key_json AS known, NULL AS key, "
        f"if(side = {OWN}, `count`, 0L) AS own, 0L AS weight, near, false AS has_null "
        f"FROM ({visible})"
    )
    keys = (
        "SELECT rule_id, max(known) AS known, max(key) AS key, CAST(sum(own) AS BIGINT) AS own, "
        "sum(weight) AS weight, max(near) AS near, bool_or(has_null) AS has_null "
        f"FROM ({known}\nUNION ALL\n{added}) GROUP BY rule_id, key_high, key_low\n"
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
    rows = (
        "SELECT rule_id, side, coalesce(key_hash, "
        f"{KEY_HASH}) AS key_hash, `count` AS weight FROM (SELECT *, "
        f"{key_text('tile_key', 'near')} AS violation_key FROM ({visible}))"
    )
    if tiles:
        rows = f"{rows}\nUNION ALL\n{tiled_weights_sql(tiles)}"
    return (
        "SELECT rule_id, side, key_hash, CAST(sum(weight) AS BIGINT) AS weight "
        f"FROM ({rows})"
        " GROUP BY rule_id, side, key_hash HAVING sum(weight) <> 0"
    )
