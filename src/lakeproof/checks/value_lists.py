"""A list of values as a parameter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from lakeproof.checks.parameters import normalise_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import canonical_payload

LIST = (list, tuple, set, frozenset, str)
"""The Python types that a list may come in; a text is read as a JSON array."""
_VALUE = (str, bool, int, float, Decimal, date, datetime)
_SHOWN_MAX = 5


def read_values(check: str, parameter: str, given: object) -> tuple[object, ...]:
    """The values once each, NULL left out; refuses what cannot stand in a column."""
    values = _read_json_list(check, parameter, given) if isinstance(given, str) else given
    kept = [value for value in values if value is not None]  # type: ignore[attr-defined]
    if set(map(type, kept)) == {str}:  # a million of them are no rarity
        return tuple(dict.fromkeys(kept))
    for value in kept:
        if not isinstance(value, _VALUE) or _is_signalling(value):
            raise CheckDefinitionError(
                f"parameter {parameter!r} of check {check!r} holds {value!r}, which is "
                "no text, number, boolean, date or timestamp"
            )
    if not kept:
        raise CheckDefinitionError(f"parameter {parameter!r} of check {check!r} is empty")
    # By type too: to Python 1, 1.0 and True are one.
    return tuple({(type(value), value): value for value in kept}.values())


def sorted_values(values: Iterable[object]) -> list[object]:
    """The values as they are hashed, in whatever order they were listed."""
    # Not a set: to Python 1 equals True, to a column it does not.
    unique = {canonical_payload(value): value for value in values}
    return [unique[text] for text in sorted(unique)]


def values_text(values: Sequence[object]) -> str:
    """The first few values, and how many more there are."""
    shown = ", ".join(str(value) for value in values[:_SHOWN_MAX])
    more = f" and {len(values) - _SHOWN_MAX} more" if len(values) > _SHOWN_MAX else ""
    return shown + more


def _is_signalling(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_snan()


def _read_json_list(check: str, parameter: str, text: str) -> tuple[object, ...]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, list):
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} must be a list, got the text {text!r}"
        )
    return tuple(normalise_text(value) for value in values)
