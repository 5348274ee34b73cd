"""Values that are not of the type they should be, and still mean one thing."""

from __future__ import annotations

import re

_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_WHOLE = re.compile(r"-?[0-9]{1,9}")


def truth_of(value: object) -> bool | None:
    """True or false, also by a word: `yes` is a text in YAML 1.2. None if it is neither."""
    if isinstance(value, bool):
        return value
    return _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None


def whole_number_of(value: object) -> int | None:
    """The whole number, also as a text or with a fraction of zero; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value.strip()) else None
    return value if isinstance(value, int) else None
