"""A measured number held against its bounds: as fractions, so that no rounding decides."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from lakeproof.checks.literals import as_datetime, exact_decimal
from lakeproof.errors import CheckDefinitionError

NUMBER = (int, float, Decimal)
OUT_OF_REACH = 10**400
"""A distance that no tolerance covers: the value is NaN, infinite or not there at all."""
_EXPONENT_MAX = 400


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest allowed value; None where there is none."""

    low: Fraction | None
    high: Fraction | None

    def miss(self, value: Fraction) -> tuple[Fraction, Fraction]:
        """How far the value lies outside, and the bound that it missed; 0 and 0 if inside."""
        if self.low is not None and value < self.low:
            return self.low - value, self.low
        if self.high is not None and value > self.high:
            return value - self.high, self.high
        return Fraction(0), Fraction(0)


def require_bounds(check: str, arguments: Mapping[str, object], low: str, high: str) -> None:
    """Refuse bounds that are both left out."""
    if arguments[low] is None and arguments[high] is None:
        raise CheckDefinitionError(f"check {check!r} needs {low}, {high} or both")


def require_usable(check: str, arguments: Mapping[str, object], low: str, high: str) -> None:
    """Refuse bounds that no value can miss, or that are the wrong way round."""
    least, greatest = arguments[low], arguments[high]
    for name, bound in ((low, least), (high, greatest)):
        if isinstance(bound, NUMBER) and not _is_usable(bound):
            raise CheckDefinitionError(
                f"parameter {name!r} of check {check!r} is {bound}; leave out a bound that "
                "no value can miss"
            )
    if is_above(least, greatest):
        raise CheckDefinitionError(f"check {check!r} has {low} {least!r} above {high} {greatest!r}")


def require_shares(check: str, arguments: Mapping[str, object], *names: str) -> None:
    """Refuse a share below 0; one above 1 is for the check to judge."""
    for name in names:
        share = arguments[name]
        if isinstance(share, NUMBER) and not (_is_usable(share) and share >= 0):
            raise CheckDefinitionError(
                f"parameter {name!r} of check {check!r} is {share}; it must be a share such as "
                "0.1, which is 10 %"
            )


def exact(number: object) -> Fraction:
    """The number that was written or measured, exactly."""
    return Fraction(exact_decimal(number))


def is_above(low: object, high: object) -> bool:
    """Whether the bounds are the wrong way round; bounds of different kinds cannot tell."""
    if isinstance(low, NUMBER) and isinstance(high, NUMBER):
        return exact_decimal(low) > exact_decimal(high)
    first, second = as_datetime(low), as_datetime(high)
    if first is None or second is None:
        return False
    return _in_utc(first) > _in_utc(second)


def share_of(distance: Fraction, whole: Fraction) -> float:
    """The distance as a share of the whole; of nothing, it is infinite."""
    if not distance:
        return 0.0
    return as_float(distance / abs(whole)) if whole else math.inf


def as_float(number: Fraction) -> float:
    """The nearest float; beyond all floats, infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def nearest_float(number: object, type_text: str) -> float:
    """The number as a FLOAT or DOUBLE column holds it: to a FLOAT, 0.1 is its own 0.1."""
    wide = float(str(number))
    if type_text != "float":
        return wide
    try:
        return float(struct.unpack("f", struct.pack("f", wide))[0])
    except OverflowError:
        return math.copysign(math.inf, wide)


def limits_text(low: object, name: str, high: object) -> str:
    """The bounds as people write them: `1 <= name <= 10`."""
    return f"{'' if low is None else f'{low} <= '}{name}{'' if high is None else f' <= {high}'}"


def _is_usable(bound: float | Decimal) -> bool:
    number = exact_decimal(bound)
    # As a fraction, 1E999999 would fill the memory.
    return number.is_finite() and abs(number.adjusted()) <= _EXPONENT_MAX


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
