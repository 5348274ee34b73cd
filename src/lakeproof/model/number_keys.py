"""Keys that are one whole number: known by that number, without text and without hash.

The number is all there is to such a key, and costs a tenth of its text to make, to move and to
compare. Its text is written only where somebody reads it: in violations.
"""

from __future__ import annotations

from lakeproof.model.canonical import encode_key


def text_before(name: str) -> str:
    """What stands before the number in the canonical key of this one column."""
    return encode_key({name: 0}).removesuffix(f"0{_BEHIND}")


def key_text(before: str, number: str) -> str:
    """SQL of the canonical key of a number; `before` is SQL of what stands before it."""
    return f"concat({before}, CAST({number} AS STRING), '{_BEHIND}')"


def number_in(key: str) -> str:
    """SQL of the number in a canonical key of one whole number."""
    return f"try_cast(substring_index(substring_index({key}, '\"', -2), '\"', 1) AS BIGINT)"


_BEHIND = '"]}'
