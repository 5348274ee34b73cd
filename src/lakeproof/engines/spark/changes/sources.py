"""Which way a table's changes can be read, and the reader for the way that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeproof.config import TableSettings
from lakeproof.engines.engine import ChangeSource, Rows
from lakeproof.engines.spark.changes.delta import DeltaChanges, delta_abilities
from lakeproof.engines.spark.changes.iceberg import IcebergChanges, iceberg_abilities
from lakeproof.engines.spark.changes.pinned_source import KEEP_ROWS, PinnedSource, gap
from lakeproof.errors import ConfigError
from lakeproof.model.reading import Mark, Mode, Reading
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import STAND_IN, PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FEEDS: dict[str, type[PinnedSource]] = {"delta": DeltaChanges, "iceberg": IcebergChanges}
_SHARED = "deltasharing"
"""The provider of a table that somebody else shares by Delta Sharing."""


class WholeTable(PinnedSource):
    """A table of which nothing but its present rows is asked."""

    mode = Mode.SNAPSHOT

    def _look(self, since: Mark) -> Reading:
        return gap("snapshot", "the whole table is read each time")

    def changes(self, since: Mark) -> Sequence[Rows]:
        raise AssertionError(f"mode snapshot knows no changes since {since}")


def abilities(spark: SparkSession, pinned: PinnedTable, settings: TableSettings) -> Abilities:
    """How the table's changes could be read; reads metadata only."""
    if pinned.format == "iceberg":
        return iceberg_abilities(spark, pinned)
    if pinned.format == "delta" and pinned.position is not None:
        return delta_abilities(spark, pinned)
    has_another_way = pinned.format == STAND_IN or settings.watermark is not None
    return Abilities(
        has_feed=False,
        no_feed=_why_no_feed(pinned.format),
        advice="" if has_another_way else KEEP_ROWS,
        is_pinned=False,
    )


def _why_no_feed(format_name: str) -> str:
    if format_name == _SHARED:
        # Who shares it may share its history as well: that there is none would be a guess.
        return "Lakeproof does not ask Delta Sharing for a change feed"
    return f"a {format_name} table has no change feed"


def change_source(
    spark: SparkSession,
    pinned: PinnedTable,
    mode: Mode,
    settings: TableSettings,
    kept: str | None,
) -> ChangeSource:
    """The changes of the table up to where it is pinned; reads nothing yet."""
    match mode:
        case Mode.SNAPSHOT:
            return WholeTable(spark, pinned)
        case Mode.WATERMARK:
            from lakeproof.engines.spark.changes.watermark import WatermarkChanges

            return WatermarkChanges(spark, pinned, settings, kept)
        case Mode.SNAPSHOT_DIFF:
            from lakeproof.engines.spark.changes.snapshot_diff import KeptChanges

            return KeptChanges(spark, pinned, settings, kept)
        case Mode.CDF if pinned.format in _FEEDS:
            return _FEEDS[pinned.format](spark, pinned)
    raise ConfigError(f"{pinned.table}: mode {mode}: {_why_no_feed(pinned.format)}")
