"""What somebody may have meant, for as many mistakes as one reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakeproof.model.nearest import NEAREST_MAX, nearest

_WORD_CHARACTERS_MAX = 60


@dataclass(slots=True)
class Hints:
    """Gives near names until `left` is used up: in a file of mistakes, comparing takes longest."""

    left: int = 100

    def near(self, word: str, known: Iterable[str], count_max: int = NEAREST_MAX) -> list[str]:
        """The nearest known names; none for what is too long to be a slip of the pen."""
        if self.left <= 0 or len(word) > _WORD_CHARACTERS_MAX:
            return []
        self.left -= 1
        return nearest(word, known, count_max)

    def did_you_mean(self, word: str, known: Iterable[str]) -> str:
        """A sentence to put behind a message, or nothing."""
        near = self.near(word, known, 1)
        return f" Did you mean {near[0]!r}?" if near else ""
