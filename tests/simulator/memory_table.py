"""A table in memory with a history of commits, as a lakehouse format keeps one.

Everything that happens to it is a commit with a number. A commit may record the rows that it
changed (its feed); a table that is made again is another table under the same name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from lakeproof.model.names import TableName
from lakeproof.model.position import Position

if TYPE_CHECKING:
    from lakeproof.model.column import Column

Row = tuple[object, ...]


class Kind(StrEnum):
    """What a row of a feed says of a row of the table."""

    INSERT = "insert"
    DELETE = "delete"
    BEFORE = "update_preimage"
    AFTER = "update_postimage"

    @property
    def weight(self) -> int:
        return 1 if self in {Kind.INSERT, Kind.AFTER} else -1


@dataclass(frozen=True, slots=True)
class Change:
    kind: Kind
    row: Row


@dataclass(frozen=True, slots=True)
class Commit:
    """The table after a commit. `feed` is None if the commit changed nothing but metadata or files;
    `is_recorded` says whether the feed was on."""

    number: int
    parent: int | None
    rows: Mapping[Row, int]
    feed: tuple[Change, ...] | None
    is_recorded: bool
    what: str


@dataclass(slots=True)
class History:
    """One life of a table, from when it was made until it is dropped."""

    table_id: str
    commits: list[Commit] = field(default_factory=list)
    head: int = 0
    feed_is_on: bool = True
    readable_from: int = 0
    """Feeds of commits before this one are gone."""
    heads: list[int] = field(default_factory=lambda: [0])
    """Where the head was, in order."""

    def path(self, since: int, until: int) -> list[Commit] | None:
        """The commits after `since` up to `until`; None if that is no ancestor of this."""
        found: list[Commit] = []
        at: int | None = until
        while at is not None and at != since:
            commit = self.commits[at]
            found.append(commit)
            at = commit.parent
        return None if at is None else found[::-1]


class MemoryTable:
    """A table by its name; each of its lives has its own history and numbers."""

    def __init__(self, name: str, columns: tuple[Column, ...]) -> None:
        self.name = TableName.parse(name)
        self.columns = columns
        self.lives: list[History] = []
        self.replace(())

    @property
    def now(self) -> History:
        return self.lives[-1]

    @property
    def position(self) -> Position:
        return Position("delta", self.now.head)

    @property
    def rows(self) -> Mapping[Row, int]:
        return self.now.commits[self.now.head].rows

    def at(self, life: int, number: int) -> Commit:
        return self.lives[life].commits[number]

    def replace(self, rows: Iterable[Row]) -> None:
        """Drop the table and make it again: its numbers begin anew."""
        life = History(f"{self.name.short}-{len(self.lives)}")
        self.lives.append(life)
        counted = Counter(rows)
        feed = tuple(Change(Kind.INSERT, row) for row in counted.elements())
        life.commits.append(Commit(0, None, counted, feed, True, "create"))

    def change(self, what: str, feed: Iterable[Change]) -> None:
        """Commit these changes; a feed may hold rows that come and go."""
        changes = tuple(feed)
        rows = Counter(self.rows)
        for change in changes:
            rows[change.row] += change.kind.weight
        assert min(rows.values(), default=0) >= 0, "a row was deleted that is not there"
        self._commit(what, +rows, changes)

    def touch(self, what: str) -> None:
        """Commit nothing: a property was set, files were compacted."""
        self._commit(what, self.rows, None)

    def restore(self, number: int) -> None:
        """The rows of an earlier commit, as a new one."""
        old, new = Counter(self.rows), Counter(self.now.commits[number].rows)
        feed = [Change(Kind.DELETE, row) for row in (old - new).elements()]
        feed += [Change(Kind.INSERT, row) for row in (new - old).elements()]
        self._commit("restore", new, tuple(feed))

    def roll_back(self, number: int) -> None:
        """Let the head point at an earlier commit: what came after it is no history any more."""
        self.now.head = number
        self.now.heads.append(number)

    def _commit(self, what: str, rows: Mapping[Row, int], feed: tuple[Change, ...] | None) -> None:
        life = self.now
        number = len(life.commits)
        life.commits.append(Commit(number, life.head, rows, feed, life.feed_is_on, what))
        life.head = number
        life.heads.append(number)
