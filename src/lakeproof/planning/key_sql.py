"""The SQL that finds repeated keys, by the strategy that fits the key's types."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.checks.kinds import NullPolicy
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import quote
from lakeproof.model.tiles import TILE_BITS
from lakeproof.planning.keyed_rows import (
    all_present,
    by_number,
    is_number,
    keyed_rows,
    whole_number,
)
from lakeproof.planning.places import column_sql
from lakeproof.planning.plan import KeyStep, KeyStrategy
from lakeproof.planning.tables import PinnedTable

_NARROW_COLUMNS_MAX = 3

_ROWS = "_lakeproof_rows"
_KEY = "_lakeproof_key"
"""The rows of a group and its canonical key; the table's own columns stand beside them."""


def choose_strategy(columns: Sequence[Column], nulls: NullPolicy) -> KeyStrategy:
    """Decided by types alone, so that the plan can say it before anything is read."""
    families = [column.family for column in columns]
    if (
        nulls is NullPolicy.DISTINCT  # a tile has no place for a NULL
        and len(columns) <= TILE_BITS
        and all(family in {TypeFamily.INTEGER, TypeFamily.DATE} for family in families)
    ):
        return KeyStrategy.TILED
    # Bytes say nothing about equality under a collation, nor inside nested types.
    hashable = nulls is NullPolicy.DISTINCT and all(
        family is not TypeFamily.OTHER and not column.is_collated
        for family, column in zip(families, columns, strict=True)
    )
    wide = len(columns) > _NARROW_COLUMNS_MAX or any(
        family in {TypeFamily.STRING, TypeFamily.BINARY} for family in families
    )
    return KeyStrategy.HASHED if hashable and wide else KeyStrategy.GROUPED


def key_step(
    pinned: PinnedTable,
    rule_id: str,
    columns: Sequence[Column],
    scope: str,
    key_sql: str,
    nulls: NullPolicy = NullPolicy.DISTINCT,
) -> KeyStep:
    """The step for one key set; `key_sql` is the canonical key of these columns."""
    strategy = choose_strategy(columns, nulls)
    rows = keyed_rows(pinned, columns, scope, key_sql, nulls)
    if is_number(rows, columns, nulls):
        rows = by_number(rows, columns[0])
    inside = rows.inside
    source = f"FROM {pinned.relation}" + (f"\nWHERE {inside}" if inside else "")
    surplus = _surplus(columns, nulls)
    if strategy is KeyStrategy.TILED:
        sql = _tiled_sql(source, columns)
    elif strategy is KeyStrategy.HASHED:
        sql = _grouped_sql(source, _hash(columns), _hash(columns), surplus)
    else:
        sql = _grouped_sql(source, _named(columns), _values(columns), surplus)
    return KeyStep(
        rule_id=rule_id,
        columns=tuple(column.name for column in columns),
        scope=scope,
        strategy=strategy,
        sql=sql,
        hits_sql=_hits_sql(source, columns, strategy, key_sql, surplus),
        violates=_marked(columns, inside or "true", nulls, key_sql),
        key_sql=key_sql,
        rows=rows,
    )


def _surplus(columns: Sequence[Column], nulls: NullPolicy) -> str:
    """How many rows of a group are too many: all but one, with a forbidden NULL in the key all."""
    if nulls is NullPolicy.FORBID:
        names = [quote(column.name) for column in columns]
        return f"CASE WHEN {all_present(names)} THEN {_ROWS} - 1 ELSE {_ROWS} END"
    return f"{_ROWS} - 1"


def _marked(columns: Sequence[Column], inside: str, nulls: NullPolicy, key_sql: str) -> str:
    """True for every row in scope whose key is not its alone."""
    ordered = all(column.family is not TypeFamily.OTHER for column in columns)
    group = _values(columns) if ordered else key_sql  # a window needs an order, which a map lacks
    alike = f"sum(CASE WHEN {inside} THEN 1 ELSE 0 END) OVER (PARTITION BY {group})"
    bad = f"{alike} > 1"
    if nulls is NullPolicy.FORBID:
        bad = f"({bad} OR NOT ({all_present(_values_of(columns))}))"
    return f"({inside}) AND {bad}"


def _values_of(columns: Sequence[Column]) -> list[str]:
    return [column_sql(column) for column in columns]


def _values(columns: Sequence[Column]) -> str:
    return ", ".join(_values_of(columns))


def _named(columns: Sequence[Column]) -> str:
    """The values as a subquery returns them: a field of a struct by the rule's name for it."""
    return ", ".join(
        f"{column_sql(column)} AS {quote(column.name)}" if column.path else column_sql(column)
        for column in columns
    )


def _tile(columns: Sequence[Column]) -> tuple[str, str]:
    """The tile's coordinates and the key's bit inside it.

    Shifting right gives the tile, the bits shifted out give the place: exact for every integer,
    negative ones too, dense or not. The last column gets the most bits: in a composite key it
    is the running number within the first.
    """
    bits = [TILE_BITS // len(columns)] * len(columns)
    bits[-1] += TILE_BITS - sum(bits)
    coordinates, place, shift = [], [], 0
    for column, width in reversed(list(zip(columns, bits, strict=True))):
        value = whole_number(column)
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


def _grouped_sql(source: str, named: str, group: str, surplus: str) -> str:
    return (
        f"SELECT coalesce(sum({surplus}), 0) AS surplus_rows\n"
        f"FROM (SELECT {named}, count(*) AS {_ROWS}\n{source}\nGROUP BY {group})"
    )


def _hash(columns: Sequence[Column]) -> str:
    """A 64-bit hash; doubles lose the sign of zero first, since -0.0 equals 0.0 as a key."""
    parts = [
        f"({column_sql(column)} + 0D)" if column.family is TypeFamily.FLOAT else column_sql(column)
        for column in columns
    ]
    return f"xxhash64({', '.join(parts)})"


def _hits_sql(
    source: str, columns: Sequence[Column], strategy: KeyStrategy, key_sql: str, surplus: str
) -> str:
    """Each bad key by value with its rows; a hashed key is grouped only among suspects.

    The key is written where the columns themselves are at hand, with those of structs.
    """
    suspects = ""
    if strategy is KeyStrategy.HASHED:
        hashed = _hash(columns)
        suspects = (
            f"\nAND {hashed} IN (SELECT suspect FROM (SELECT {hashed} AS suspect\n{source}\n"
            f"GROUP BY {hashed} HAVING count(*) > 1))"
        )
    return (
        f"SELECT {_KEY} AS violation_key, {_ROWS} AS occurrences, {surplus} AS excess, "
        f"'' AS observed\nFROM (SELECT {_named(columns)}, {key_sql} AS {_KEY}, "
        f"count(*) AS {_ROWS}\n{source}{suspects}\n"
        f"GROUP BY {_values(columns)})\nWHERE {surplus} > 0"
    )
