"""What a caller may choose, read from plain words and refused where it is none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AllowedOverlap

_Choice = TypeVar("_Choice", bound=StrEnum)
_OVERLAPPING_MIN: Final = 2


def one_of(kind: type[_Choice], given: str, option: str) -> _Choice:
    """The member that a text names, in capitals or not."""
    alike = [member for member in kind if member.casefold() == str(given).casefold()]
    try:
        return alike[0] if alike else kind(given)
    except ValueError:
        known = ", ".join(kind)
        raise LedgerError(f"{option} is {given!r}; it may be {known}") from None


def key_names(source_key_field: str | Sequence[str]) -> tuple[str, ...]:
    names = (source_key_field,) if isinstance(source_key_field, str) else tuple(source_key_field)
    if not names or len(set(names)) < len(names):
        raise LedgerError(f"the source key {list(names)!r} must name columns, each once")
    return names


def overlap_of(given: AllowedOverlap | Mapping[str, Any]) -> AllowedOverlap:
    overlap = given if isinstance(given, AllowedOverlap) else _read_overlap(given)
    if len(set(overlap.partitions)) < _OVERLAPPING_MIN:
        raise LedgerError(
            f"allowed overlap {overlap.reason!r} names {list(overlap.partitions)!r}: one partition "
            "alone cannot overlap. Name each that a record may stand in"
        )
    if overlap.max < 1:
        raise LedgerError(
            f"allowed overlap {overlap.reason!r} has max {overlap.max}: allow at least 1 record, "
            "or leave it out"
        )
    return overlap


def _read_overlap(given: Mapping[str, Any]) -> AllowedOverlap:
    try:
        named = given["partitions"]
        partitions = (named,) if isinstance(named, str) else tuple(map(str, named))
        return AllowedOverlap(partitions, str(given["reason"]), int(given["max"]))
    except (KeyError, TypeError, ValueError) as problem:
        raise LedgerError(
            f"allowed overlap {given!r} cannot be read ({problem}); it needs partitions "
            "(their types or morphisms), reason and max"
        ) from None
