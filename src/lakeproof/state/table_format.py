"""What differs between the formats that can keep state, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Fence:
    """A write that counts once: `application` may write each `version` once, and never lower."""

    application: str
    version: int


@dataclass(frozen=True, slots=True)
class TableFormat:
    """`properties` go into every CREATE TABLE; `conflicts` mark an error that a retry may cure.

    `insert_guard` is put into an insert-only MERGE where the format would otherwise append
    without looking at what others committed meanwhile. `writing` surrounds every write.
    `kept_extremes` gives the properties of a table whose files are told apart by some columns only:
    none where it costs nothing to keep the extremes of all.
    """

    name: str
    properties: Mapping[str, str]
    conflicts: tuple[str, ...]
    caches_metadata: bool
    insert_guard: str
    writing: Callable[[SparkSession, Fence | None], AbstractContextManager[None]]
    kept_extremes: Callable[[Sequence[str]], Mapping[str, str]]

    def extremes_of(self, looked_up_by: Sequence[str] | None) -> Mapping[str, str]:
        """The properties of a table that is looked up by these columns; None: by any."""
        return {} if looked_up_by is None else self.kept_extremes(looked_up_by)

    def is_conflict(self, problem: BaseException) -> bool:
        """Whether another writer was faster, or the catalog busy: the write may be tried again.

        It may have come through even so, where the answer of the catalog was lost. Told by text,
        because the class is lost on the way from a Spark Connect server.
        """
        text = f"{type(problem).__name__}: {problem}"
        return any(mark in text for mark in self.conflicts)
