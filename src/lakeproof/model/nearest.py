"""Which known names somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

NEAREST_MAX = 3


def nearest(word: str, known: Iterable[str], count_max: int = NEAREST_MAX) -> list[str]:
    """The names that contain the word first, shortest first, then those spelled alike.

    Case does not matter. Empty if nothing is near.
    """
    folded = word.casefold()
    names = sorted(set(known), key=lambda name: (len(name), name))
    containing = [name for name in names if folded and folded in name.casefold()]
    by_folded = {name.casefold(): name for name in reversed(names)}
    alike = [by_folded[near] for near in get_close_matches(folded, by_folded, n=count_max)]
    return list(dict.fromkeys([*containing, *alike]))[:count_max]
