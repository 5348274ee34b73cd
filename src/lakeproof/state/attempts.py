"""Whose appended rows count: the attempts that a rule's newest progress names.

An attempt is one write of one batch, told by a token that the driver made up for it. What a
driver that died or was overtaken has appended is named by no progress, and so is never seen; nor
is a write that failed in a way that does not tell whether its rows came through.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lakeproof.state import literals

ATTEMPTS_MAX = 32
"""A log that has more parts than these is merged where that costs little."""


@dataclass(frozen=True, slots=True, order=True)
class Attempt:
    """`rows` is how many it has appended of one rule, to tell small parts of a log from large.

    `is_tiled`: some of them are tiles of keys. Its batch and token are what it is: rules that have
    the same parts are asked for together.
    """

    batch_seq: int
    token: str
    rows: int = field(default=0, compare=False)
    is_tiled: bool = field(default=False, compare=False)

    @classmethod
    def anew(cls, batch_seq: int) -> Attempt:
        """One that nobody else has; two drivers of one run may hold the same epoch."""
        return cls(batch_seq, uuid.uuid4().hex[:16])

    def to_text(self) -> str:
        text = f"{self.batch_seq}.{self.token}.{self.rows}"
        return f"{text}.{_TILED}" if self.is_tiled else text

    @classmethod
    def from_text(cls, text: str) -> Attempt:
        batch_seq, token, rows, *more = text.split(".")
        return cls(int(batch_seq), token, int(rows), _TILED in more)


_TILED = "tiled"


def to_merge(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """The parts at the end of a long log that are to become one; none while it is short.

    What is larger than everything after it stays as it is: a row is written again only when the
    log behind it has grown as large, so the cost of merging follows that of the changes. Tiles
    stay: what came after them are single keys.
    """
    if len(attempts) < ATTEMPTS_MAX:
        return ()
    behind = 0
    first = 0
    for place in range(len(attempts) - 1, -1, -1):
        is_larger = attempts[place].rows > behind and place < len(attempts) - 1
        if is_larger or attempts[place].is_tiled:
            first = place + 1
            break
        behind += attempts[place].rows
    return tuple(attempts[first:])


def is_named(attempts: Iterable[Attempt], column: str = "token") -> str:
    """An SQL condition: the row is of one of these.

    By texts alone, and by more of them than there may be: Spark writes numbers, and each text of a
    short list, into the Java that it makes of a statement. One that is another in each run would
    have it compiled, and found out to be hot, in each run again.
    """
    known = [one.token for one in sorted(attempts)]
    if not known:
        return "false"
    # Right behind one that is there: files are left out by the least and the greatest of a list.
    nobody = [f"{known[0]} {number}" for number in range(_LISTED_MIN - len(known))]
    return f"{column} IN ({literals.texts([*known, *nobody])})"


_LISTED_MIN = 11
"""What Spark takes for a set: `spark.sql.optimizer.inSetConversionThreshold`, and one more."""
