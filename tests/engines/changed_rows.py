"""Sources of changes as tests ask them, and what they must give: how two snapshots differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lakeproof.engines.spark.changes.sources import abilities, change_source
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode, Readable
from lakeproof.model.weighing import WEIGHT
from lakeproof.planning.tables import NOTHING_DECLARED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from lakeproof.engines.engine import ChangeSource
    from lakeproof.planning.read_mode import Abilities


def source_of(spark: SparkSession, table: str, at: int | None = None) -> ChangeSource:
    """The changes of the table up to its head, or up to an earlier position."""
    name = TableName.parse(table)
    engine = SparkEngine(spark)
    kind = "delta" if name.catalog == "spark_catalog" else "iceberg"
    pinned = engine.pin(name, (), None if at is None else Position(kind, at))
    return change_source(spark, pinned, Mode.CDF, NOTHING_DECLARED, None)


def abilities_of(spark: SparkSession, table: str) -> Abilities:
    pinned = SparkEngine(spark).pin(TableName.parse(table), ())
    return abilities(spark, pinned, NOTHING_DECLARED)


def since(source: ChangeSource, at: int) -> Mark:
    """A mark of an earlier run on the same table."""
    assert source.until.position is not None
    return Mark(source.until.table_id, Position(source.until.position.kind, at))


def told(source: ChangeSource, at: int) -> str:
    """The outcome of a reading, or the code of its gap."""
    reading = source.can_read(since(source, at))
    assert bool(reading.code) == (reading.outcome is Readable.GAP)
    assert reading.reason or not reading.code
    return reading.code or reading.outcome.value


def weights(
    spark: SparkSession, table: str, ranges: Sequence[tuple[int, int]]
) -> Mapping[tuple[int, int], Counter[str]]:
    """What the changes of each range weigh, row by row, without rows of weight 0."""
    parts = []
    for start, end in ranges:
        source = source_of(spark, table, end)
        if told(source, start) == "empty":
            continue
        assert told(source, start) == "ok", (start, end, source.can_read(since(source, start)))
        (rows,) = source.changes(since(source, start))
        parts.append(f"SELECT {start}L AS `from here`, {end}L AS `to here`, * FROM {rows.relation}")
    found: dict[tuple[int, int], Counter[str]] = {pair: Counter() for pair in ranges}
    for row in spark.sql(" UNION ALL ".join(parts)).collect():
        values = row.asDict(recursive=True)
        pair = (values.pop("from here"), values.pop("to here"))
        weight = values.pop(WEIGHT)
        found[pair][repr(values)] += weight
    return {pair: _without_zeros(counter) for pair, counter in found.items()}


def differences(
    spark: SparkSession, table: str, ranges: Sequence[tuple[int, int]]
) -> Mapping[tuple[int, int], Counter[str]]:
    """What two snapshots differ by, row by row."""
    places = sorted({place for pair in ranges for place in pair})
    read = " UNION ALL ".join(
        f"SELECT {place}L AS `from here`, * FROM {table} VERSION AS OF {place}" for place in places
    )
    snapshots: dict[int, Counter[str]] = {place: Counter() for place in places}
    for row in spark.sql(read).collect():
        values = row.asDict(recursive=True)
        snapshots[values.pop("from here")][repr(values)] += 1
    found = {}
    for start, end in ranges:
        difference = Counter(snapshots[end])
        difference.subtract(snapshots[start])
        found[start, end] = _without_zeros(difference)
    return found


def _without_zeros(counter: Counter[str]) -> Counter[str]:
    return Counter({row: weight for row, weight in counter.items() if weight})
