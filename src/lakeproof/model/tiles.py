"""SQL of tiles: 64 neighbouring whole numbers in one word, a bit for each that is there once.

What a unique key counts is mostly one row for each of many neighbouring numbers. A tile says that
of 64 of them in the room of one; `near` of a tile is the lowest of its numbers.
"""

from __future__ import annotations

from lakeproof.model.number_keys import key_text
from lakeproof.model.weighing import KEY_HASH, Side

TILE_BITS = 6
"""A tile is one 64-bit word: 2 ** 6 neighbouring keys."""

TILE_KEYS = 1 << TILE_BITS
_LAST = TILE_KEYS - 1


def tile_of(number: str) -> str:
    """Where the tile of a number begins; also of a negative one."""
    return f"shiftleft(shiftright({number}, {TILE_BITS}), {TILE_BITS})"


def bit_of(number: str) -> str:
    """The word in which only this number is."""
    return f"shiftleft(1L, CAST({number} & {_LAST}L AS INT))"


def holds(tile: str, number: str) -> str:
    """A condition: the number, which is one of the tile's, is in it."""
    return f"{tile} & {bit_of(number)} <> 0"


def tiled_weights_sql(tiles: str) -> str:
    """What each key of some tiles weighs, by its name: side, key_hash, weight, and rule_id.

    `tiles` has rule_id, near, tile and tile_key, the text before the number.
    """
    number = "near + place"
    keys = (
        f"SELECT rule_id, {key_text('tile_key', number)} AS violation_key "
        f"FROM ({tiles}) LATERAL VIEW explode(sequence(0L, {_LAST}L)) places AS place "
        f"WHERE {holds('tile', number)}"
    )
    side = Side.OWN.value
    return f"SELECT rule_id, '{side}' AS side, {KEY_HASH} AS key_hash, 1L AS weight FROM ({keys})"
