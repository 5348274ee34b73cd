"""The SQL that finds repeated keys, by the strategy that fits the key's types."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.planning.fuse import within
from lakeproof.planning.plan import KeyStep, KeyStrategy
from lakeproof.planning.tables import PinnedTable

_TILE_BITS = 6
"""A tile is one 64-bit word: 2 ** 6 neighbouring keys."""

_NARROW_COLUMNS_MAX = 3


def choose_strategy(columns: Sequence[Column]) -> KeyStrategy:
    """Decided by types alone, so that the plan can say it before anything is read."""
    families = [column.family for column in columns]
    if len(columns) <= _TILE_BITS and all(
        family in {TypeFamily.INTEGER, TypeFamily.DATE} for family in families
    ):
        return KeyStrategy.TILED
    # Bytes say nothing about equality under a collation, nor inside nested types.
    hashable = all(
        family is not TypeFamily.OTHER and not column.is_collated
        for family, column in zip(families, columns, strict=True)
    )
    wide = len(columns) > _NARROW_COLUMNS_MAX or any(
        family in {TypeFamily.STRING, TypeFamily.BINARY} for family in families
    )
    return KeyStrategy.HASHED if hashable and wide else KeyStrategy.GROUPED


def key_step(
    pinned: PinnedTable, rule_id: str, columns: Sequence[Column], scope: str, key_sql: str
) -> KeyStep:
    """The step for one key set; `key_sql` is the canonical key of these columns."""
    strategy = choose_strategy(columns)
    source = _source(pinned, columns, scope)
    build = {
        KeyStrategy.TILED: _tiled_sql,
        KeyStrategy.GROUPED: _grouped_sql,
        KeyStrategy.HASHED: _hashed_sql,
    }[strategy]
    return KeyStep(
        rule_id=rule_id,
        columns=tuple(column.name for column in columns),
        scope=scope,
        strategy=strategy,
        sql=build(source, columns),
        hits_sql=_hits_sql(source, columns, strategy, key_sql),
    )


def _source(pinned: PinnedTable, columns: Sequence[Column], scope: str) -> str:
    present = " AND ".join(f"{quote(column.name)} IS NOT NULL" for column in columns)
    return f"FROM {pinned.relation}\nWHERE {within(scope, present)}"


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(quote(column.name) for column in columns)


def _whole_number(column: Column) -> str:
    name = quote(column.name)
    if column.family is TypeFamily.DATE:
        return f"CAST(unix_date({name}) AS BIGINT)"
    return f"CAST({name} AS BIGINT)"


def _tile(columns: Sequence[Column]) -> tuple[str, str]:
    """The tile's coordinates and the key's bit inside it.

    Shifting right gives the tile, the bits shifted out give the place: exact for every integer,
    negative ones too, dense or not. The last column gets the most bits: in a composite key it
    is the running number within the first.
    """
    bits = [_TILE_BITS // len(columns)] * len(columns)
    bits[-1] += _TILE_BITS - sum(bits)
    coordinates, place, shift = [], [], 0
    for column, width in reversed(list(zip(columns, bits, strict=True))):
        value = _whole_number(column)
        coordinates.append(f"shiftright({value}, {width})")
        low = f"({value} & {(1 << width) - 1}L)"
        place.append(f"shiftleft({low}, {shift})" if shift else low)
        shift += width
    bit = f"shiftleft(1L, CAST({' | '.join(place)} AS INT))"
    return ", ".join(reversed(coordinates)), bit


def _tiled_sql(source: str, columns: Sequence[Column]) -> str:
    tile, bit = _tile(columns)
    return (
        "SELECT coalesce(sum(n - bit_count(bits)), 0) AS surplus_rows\n"
        f"FROM (SELECT count(*) AS n, bit_or({bit}) AS bits\n{source}\nGROUP BY {tile})"
    )


def _grouped_sql(source: str, columns: Sequence[Column]) -> str:
    return (
        "SELECT coalesce(sum(n - 1), 0) AS surplus_rows\n"
        f"FROM (SELECT count(*) AS n\n{source}\nGROUP BY {_names(columns)})"
    )


def _hash(columns: Sequence[Column]) -> str:
    """A 64-bit hash; doubles lose the sign of zero first, since -0.0 equals 0.0 as a key."""
    parts = [
        f"({quote(column.name)} + 0D)" if column.family is TypeFamily.FLOAT else quote(column.name)
        for column in columns
    ]
    return f"xxhash64({', '.join(parts)})"


def _hashed_sql(source: str, columns: Sequence[Column]) -> str:
    return (
        "SELECT coalesce(sum(n - 1), 0) AS surplus_rows\n"
        f"FROM (SELECT count(*) AS n\n{source}\nGROUP BY {_hash(columns)})"
    )


def _hits_sql(source: str, columns: Sequence[Column], strategy: KeyStrategy, key_sql: str) -> str:
    """Each repeated key by value with its rows; a hashed key is grouped only among suspects."""
    names = _names(columns)
    suspects = ""
    if strategy is KeyStrategy.HASHED:
        hashed = _hash(columns)
        suspects = (
            f"\nAND {hashed} IN (SELECT suspect FROM (SELECT {hashed} AS suspect\n{source}\n"
            f"GROUP BY {hashed} HAVING count(*) > 1))"
        )
    return (
        f"SELECT {key_sql} AS violation_key, _lakeproof_rows AS occurrences\n"
        f"FROM (SELECT {names}, count(*) AS _lakeproof_rows\n{source}{suspects}\n"
        f"GROUP BY {names} HAVING count(*) > 1)"
    )
