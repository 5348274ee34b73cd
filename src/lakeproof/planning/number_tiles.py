"""Keys that are whole numbers as tiles: how many of a table's rows are told by one row each.

A tile in which every key is there once is all that there is to say of it; the keys of a crowded
one, which has some key twice, are told one by one.
"""

from __future__ import annotations

from lakeproof.checks.literals import text_literal
from lakeproof.model.number_keys import text_before
from lakeproof.model.tiles import bit_of, tile_of
from lakeproof.planning.plan import KeyedRows

_CROWDED = "_lakeproof_crowded"


def look_sql(rule_id: str, rows: KeyedRows, relation: str) -> str:
    """One row: how many tiles there are, how many are crowded, and how many rows they tell."""
    return (
        f"SELECT '{rule_id}' AS rule_id, count(*) AS tiles, coalesce(sum(weight), 0) AS rows, "
        f"count_if(weight <> bit_count(tile)) AS crowded FROM ({_tiles(rows, relation)})"
    )


def tiled_rows(rule_id: str, rows: KeyedRows, relation: str) -> str:
    """A row for each tile that is not crowded."""
    return (
        f"SELECT '{rule_id}' AS rule_id, near, weight, tile, "
        f"{before_sql(rows.number_name)} AS tile_key\n"
        f"FROM ({_tiles(rows, relation)}) WHERE weight = bit_count(tile)"
    )


def before_sql(name: str) -> str:
    """SQL of what stands before the number in the keys of this column."""
    return text_literal(text_before(name)).sql("spark")


def outside_sql(rows: KeyedRows, relation: str) -> str:
    """The rows whose keys are in crowded tiles, which are few enough to be sent to the rows."""
    crowded = (
        f"SELECT near AS {_CROWDED} FROM ({_tiles(rows, relation)}) WHERE weight <> bit_count(tile)"
    )
    return (
        f"(SELECT /*+ BROADCAST(crowded) */ * FROM {relation}\n"
        f"LEFT SEMI JOIN ({crowded}) AS crowded ON {tile_of(rows.number_sql)} = {_CROWDED})"
    )


def _tiles(rows: KeyedRows, relation: str) -> str:
    near = tile_of(rows.number_sql)
    where = f" WHERE {rows.inside}" if rows.inside else ""
    return (
        f"SELECT {near} AS near, count(*) AS weight, bit_or({bit_of(rows.number_sql)}) AS tile\n"
        f"FROM {relation}{where} GROUP BY {near}"
    )
