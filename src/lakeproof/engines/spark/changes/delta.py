"""The change feed of a Delta table.

Delta checks a range when it plans to read it: whether the feed was on, the log is whole, the
columns fit and nothing is too old. So a range is planned before it is read. Three things it does
not check: the columns of the version before the range, commits that are missing inside of it, and
files that VACUUM removed. Where the columns do not fit, the range may be readable in parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakeproof.checks.literals import text_literal
from lakeproof.engines.engine import Rows
from lakeproof.engines.spark.changes.delta_parts import AlteredRange, FeedPart, altered_range
from lakeproof.engines.spark.changes.pinned_source import EMPTY, READABLE, PinnedSource, gap
from lakeproof.engines.spark.delta_history import QUIET
from lakeproof.errors import short_message
from lakeproof.model.reading import Mark, Readable, Reading
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CAME = "_change_type IN ('insert', 'update_postimage')"
_NEWER_COMMITS = 10
"""How many commits after the pinned version are expected in the history at most."""

_SCHEMA_CHANGED = "schema_changed"
_UNRECORDED = "DELTA_MISSING_CHANGE_DATA"
_UNRECORDED_VERSION = re.compile(r"version\s+\[(\d+)\]")
_GAPS = (
    (
        _SCHEMA_CHANGED,
        "its columns changed after version {0}",
        ("INCOMPATIBLE_DATA_SCHEMA", "INCOMPATIBLE_SCHEMA_CHANGE"),
    ),
    (
        "too_old",
        "version {0} is older than its delta.deletedFileRetentionDuration",
        ("BEYOND_DELETED_FILE_RETENTION_DURATION",),
    ),
    (
        "log_cleaned",
        "its log no longer reaches back to version {0}",
        (
            "DELTA_LOG_FILE_NOT_FOUND",
            "DELTA_TRUNCATED_TRANSACTION_LOG",
            "DELTA_VERSION_NOT_FOUND",
            "Could not find any delta files",
        ),
    ),
    (
        "vacuumed",
        "VACUUM removed files with changes after version {0}",
        ("FILE_NOT_EXIST",),
    ),
)
"""What a gap means to somebody who stands at version {0}, and the words of Delta that tell it."""


def delta_abilities(spark: SparkSession, pinned: PinnedTable) -> Abilities:
    """What the table's properties say of its feed."""
    rows = spark.sql(f"SHOW TBLPROPERTIES {pinned.table.sql}").collect()
    properties = {row["key"]: row["value"] for row in rows}
    if str(properties.get("delta.enableChangeDataFeed")).lower() == "true":
        return Abilities(has_feed=True, asked_for=True)
    return Abilities(
        has_feed=False,
        no_feed="its change data feed is off",
        advice=f"ALTER TABLE {pinned.table} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
    )


class DeltaChanges(PinnedSource):
    """Rows of the feed: an update is its image before and its image after."""

    def __init__(self, spark: SparkSession, pinned: PinnedTable) -> None:
        super().__init__(spark, pinned)
        self._parts: dict[Mark, Sequence[FeedPart]] = {}

    def changes(self, since: Mark) -> Sequence[Rows]:
        assert since.position is not None  # noqa: S101 (can_read has looked)
        if self.can_read(since).outcome is Readable.SPLIT:
            feeds = [self._present(part) for part in self._parts[since]]
        else:
            feeds = [self._feed(since.position.value + 1)]
        return [self._rows_of(since, self._weighted(feed, _CAME)) for feed in feeds]

    def _feed(self, first: int, last: int | None = None) -> str:
        """The commits from `first` on; an open end would move while it is read."""
        assert self.until.position is not None  # noqa: S101 (can_read has looked)
        table = text_literal(self._pinned.table.sql).sql("spark")
        end = self.until.position.value if last is None else last
        return f"table_changes({table}, {first}, {end})"

    def _present(self, part: FeedPart) -> str:
        """A part by the present columns."""
        return f"(SELECT {part.selected}, _change_type FROM {self._feed(part.first, part.last)})"

    def _look(self, since: Mark) -> Reading:
        known = self._by_marks(since)
        if known is not None:
            return known
        assert since.position is not None and self.until.position is not None  # noqa: S101, PT018
        start, end = since.position.value, self.until.position.value
        told = self._by_log(start, end) or self._by_plan(start)
        if told is not None and told.code == _SCHEMA_CHANGED:
            return self._by_parts(since, start, end) or told
        return told or self._by_files(since, start)

    def _by_marks(self, since: Mark) -> Reading | None:
        start, end = since.position, self.until.position
        if since.table_id != self.until.table_id:
            return gap("replaced", "another table has its name now")
        if start is None or end is None:
            return gap("unreadable", "there is no version to read from")
        if start == end:
            return EMPTY
        if start.value > end.value:
            return gap("not_ancestor", f"it is at version {end.value}, before {start.value}")
        return None

    def _by_log(self, start: int, end: int) -> Reading | None:
        operations = self._operations(start, end)
        missing = sorted(set(range(start + 1, end + 1)) - operations.keys())
        if missing:
            return gap("log_cleaned", f"version {missing[0]} is no longer in its log")
        return EMPTY if QUIET.issuperset(operations.values()) else None

    def _by_plan(self, start: int) -> Reading | None:
        """From the version that was read on: its columns must be those of the range too."""
        refused = self._why_unplanned(f"SELECT * FROM {self._feed(start)}")
        if not refused:
            return None
        return _told(refused, start) or gap("unreadable", short_message(RuntimeError(refused)))

    def _by_parts(self, since: Mark, start: int, end: int) -> Reading | None:
        """The range cut where its columns were altered; None if that does not make it readable."""
        found = altered_range(self._spark, self._pinned, start, end)
        if found is None:
            return None
        counts = []
        for part in found.parts:
            feed = self._present(part)
            refused = self._why_unplanned(f"SELECT * FROM {feed}")
            if refused:
                return _told(refused, start)
            counted = self._counted(feed, start)
            if isinstance(counted, Reading):
                return counted
            counts.append(counted)
        self._parts[since] = [part for part, n in zip(found.parts, counts, strict=True) if n]
        self._rows_changed[since] = sum(counts)
        return _split(found)

    def _by_files(self, since: Mark, start: int) -> Reading:
        """Whether the files are there."""
        counted = self._counted(self._feed(start + 1), start)
        if isinstance(counted, Reading):
            return counted
        self._rows_changed[since] = counted
        return READABLE if counted else EMPTY

    def _counted(self, feed: str, start: int) -> int | Reading:
        """How many rows a feed has, by the footers of its files; a gap if one is missing."""
        try:
            counted = self._spark.sql(f"SELECT count(*) AS changed FROM {feed}").collect()
        except Exception as problem:
            found = _told(str(problem), start)
            if found is None:
                raise
            return found
        return int(counted[0]["changed"])

    def _operations(self, start: int, end: int) -> Mapping[int, str]:
        """What each commit of the range did, as far as the log remembers."""
        history = self._history(end - start + _NEWER_COMMITS)
        newest = max(history)
        if newest - end > _NEWER_COMMITS:  # a run that is repeated: the table has moved far on
            history = self._history(newest - start + _NEWER_COMMITS)
        return {version: name for version, name in history.items() if start < version <= end}

    def _history(self, commits: int) -> Mapping[int, str]:
        rows = (
            self._spark.sql(f"DESCRIBE HISTORY {self._pinned.table.sql} LIMIT {commits}")
            .select("version", "operation")
            .collect()
        )
        return {int(row["version"]): str(row["operation"]) for row in rows}


def _told(refused: str, start: int) -> Reading | None:
    """The gap that Delta's words mean; None if they are about something else."""
    if _UNRECORDED in refused:
        version = _UNRECORDED_VERSION.search(refused)
        if version is not None and int(version[1]) == start:
            return gap("before_feed", f"its change feed was switched on after version {start}")
        return gap("feed_off", f"its change feed was switched off after version {start}")
    for code, reason, words in _GAPS:
        if any(word in refused for word in words):
            return gap(code, reason.format(start))
    return None


def _split(found: AlteredRange) -> Reading:
    *others, last = (str(version) for version in found.at)
    places = f"versions {', '.join(others)} and {last}" if others else f"version {last}"
    return Reading(
        Readable.SPLIT,
        reason=f"its columns changed at {places}",
        at=found.at,
        altered=found.altered,
        widened=found.widened,
        added=found.added,
    )
