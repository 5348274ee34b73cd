"""How a table is read in a run, how far a rule has come in it, and what can be read from there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from lakeproof.model.position import Position


class Mode(StrEnum):
    """Where the rows of a run come from.

    `CDF`: the change feed of Delta or the changelog of Iceberg. `WATERMARK`: rows at or above the
    last value of a declared column. `SNAPSHOT_DIFF`: the difference to the rows kept by the last
    run. `SNAPSHOT`: the whole table.
    """

    CDF = "cdf"
    WATERMARK = "watermark"
    SNAPSHOT_DIFF = "snapshot_diff"
    SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Watermark:
    """The highest value that was read, typed: text of the value under the name of its type.

    Moments are microseconds since 1970 in UTC, so that no session's zone takes part; those without
    zone are local, with the zone in the type. Dates are days since then.
    """

    type: str
    value: str

    def __str__(self) -> str:
        """Dates and moments as people write them, all else as it is."""
        is_date = self.type == "date"
        if not (is_date or self.type.startswith("timestamp")):
            return self.value
        unit = timedelta(days=1) if is_date else timedelta(microseconds=1)
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + int(self.value) * unit
        except OverflowError:  # outside of Python's calendar
            return self.value
        return f"{moment:%Y-%m-%d}" if is_date else f"{moment:%Y-%m-%d %H:%M:%S.%f}"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a rule has come in one table.

    `table_id` is the table's own uuid: a table that was dropped and made again is another one.
    """

    table_id: str
    position: Position | None
    watermark: Watermark | None = None

    def to_json(self) -> str:
        fields: dict[str, object] = {"table_id": self.table_id}
        if self.position is not None:
            fields["position"] = {"kind": self.position.kind, "value": self.position.value}
        if self.watermark is not None:
            fields["watermark"] = {"type": self.watermark.type, "value": self.watermark.value}
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Mark:
        fields = json.loads(text)
        position, watermark = fields.get("position"), fields.get("watermark")
        return cls(
            table_id=str(fields["table_id"]),
            position=Position(str(position["kind"]), int(position["value"])) if position else None,
            watermark=Watermark(str(watermark["type"]), str(watermark["value"]))
            if watermark
            else None,
        )


class Method(StrEnum):
    """How rules over rows are answered; `AUTO` asks the statistics where that is worth it."""

    AUTO = "auto"
    STATISTICS = "statistics"
    SCAN = "scan"


METHODS = tuple(method.value for method in Method)


class Readable(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    """Nothing happened between the two marks that changes a row."""
    SPLIT = "split"
    """It is to be had, but columns of the table were altered on the way; maybe in parts."""
    GAP = "gap"
    """What happened is not to be had: state must be built anew from a snapshot."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Whether the changes between two marks can be read; found out before a row is read.

    `code` names the cause of a gap in one word (`feed_off`, `expired`, ...), `reason` tells it.

    Of a split, `at` are the versions at which new parts begin, if it is read in parts. What has a
    name in `altered` is not what had it at the mark, or is gone: rows that nobody touched may have
    another value in it. A column that was `widened` has the same whole numbers in a wider type. Of
    one that was `added` there was none by that name: rules that stood there do not name it.
    """

    outcome: Readable
    code: str = ""
    reason: str = ""
    at: tuple[int, ...] = ()
    altered: frozenset[str] = frozenset()
    widened: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
