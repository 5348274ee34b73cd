"""Whether two numbers agree within a tolerance, as SQL that does not round.

Integers and decimals are compared as decimals: their difference is taken to the last digit, and
what does not fit is unequal. A share `a / 10^b` is multiplied out, so that nothing is divided:
|target - source| * 10^b <= a * |source|. The types are chosen so narrow that Spark keeps every
digit of the products. Everything is compared as doubles where a side is one.
"""

from __future__ import annotations

import sys
from decimal import ROUND_FLOOR, Context, Decimal

from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.pairing import ColumnTolerance
from lakeproof.planning.pairs.types import DECIMAL_DIGITS_MAX, decimal_size

_WIDE = Context(prec=1000)
_EXACT_DOUBLE_MAX = 10**15
_KEPT_SCALE = 6
_LEAN = "1.00000000000001D"
"""More than doubles may err in a product."""
_FAR_FROM_INFINITY = "1e290D"


def equal_numbers_sql(source: Column, target: Column, tolerance: ColumnTolerance) -> str:
    """A template over {source} and {target}, never NULL: whether they agree; NULL is no zero.

    Without a tolerance they must be equal, whatever their scale. NaN equals NaN.
    """
    if TypeFamily.FLOAT in {source.family, target.family}:
        return null_safe(_as_doubles(tolerance))
    whole, scale = map(max, zip(decimal_size(source), decimal_size(target), strict=True))
    # The wider scale holds all values of its side, so a cast that fails says they differ.
    left, right = _decimals(DECIMAL_DIGITS_MAX, scale)
    within = [f"{left} = {right}"]
    if Decimal(tolerance.relative or 0):
        within += _shares(tolerance, whole, scale)
    if Decimal(tolerance.absolute or 0):
        within.append(f"{_apart(scale)} <= {_floored(tolerance.absolute, scale)}")
    return null_safe(f"coalesce({' OR '.join(within)}, false)")


def null_safe(equal: str) -> str:
    """The template for values that may be NULL, of which each is equal to the other only."""
    return (
        "CASE WHEN {source} IS NULL OR {target} IS NULL "
        f"THEN {{source}} IS NULL AND {{target}} IS NULL ELSE {equal} END"
    )


def _decimals(digits: int, scale: int) -> list[str]:
    """Source and target under one type; NULL where the value does not fit."""
    return [f"try_cast({side} AS DECIMAL({digits},{scale}))" for side in ("{source}", "{target}")]


def _apart(scale: int) -> str:
    """How far they are apart, to the last digit; NULL if that does not fit."""
    source, target = _decimals(_wide_digits(scale), scale)
    return f"abs(try_subtract({target}, {source}))"


def _wide_digits(scale: int) -> int:
    # Of a difference with a digit too many, Spark drops the last one behind the point, if there
    # are more than six.
    return DECIMAL_DIGITS_MAX - (scale > _KEPT_SCALE)


def _floored(bound: str, scale: int) -> str:
    """The bound at that scale: no difference lies between it and the bound."""
    largest = _WIDE.scaleb(Decimal(10**DECIMAL_DIGITS_MAX - 1), -scale)
    floor = min(Decimal(bound), largest).quantize(
        _WIDE.scaleb(Decimal(1), -scale), ROUND_FLOOR, _WIDE
    )
    return f"{floor:f}BD"


def _shares(tolerance: ColumnTolerance, whole: int, scale: int) -> list[str]:
    """Conditions of which each is enough; the numbers have so many digits around the point.

    The first is exact, of numbers with room for the products. The second is for larger ones: the
    products are doubles, and what is so near to the bound that these may err is unequal.
    """
    factor, power = _multiplied_out(tolerance)
    # A difference has one digit more than its numbers, a product one more than its factors.
    digits = DECIMAL_DIGITS_MAX - 2 - max(len(str(factor)), power + 1)
    found = []
    if digits > scale:
        source, target = _decimals(digits, scale)
        found.append(
            f"abs({target} - {source}) * {10**power}BD <= {factor}BD * abs({source})",
        )
    if digits < whole + scale:
        share = _double(Decimal(tolerance.relative))
        found.append(
            f"CAST({_apart(scale)} AS DOUBLE) * {_LEAN} <= "
            f"{share} * abs(CAST({{source}} AS DOUBLE))"
        )
    return found


def _as_doubles(tolerance: ColumnTolerance) -> str:
    source, target = "CAST({source} AS DOUBLE)", "CAST({target} AS DOUBLE)"
    apart = f"abs({target} - {source})"
    within = []
    if Decimal(tolerance.relative or 0):
        within.append(_share_of_double(tolerance, apart, f"abs({source})"))
    if Decimal(tolerance.absolute or 0):
        within.append(f"{apart} <= {_double(Decimal(tolerance.absolute))}")
    if not within:
        return f"({source} = {target})"
    # Infinity is near to nothing but itself; to Spark NaN is larger still.
    finite = " AND ".join(f"abs({side}) < double('Infinity')" for side in (source, target))
    return f"({source} = {target} OR ({finite} AND ({' OR '.join(within)})))"


def _share_of_double(tolerance: ColumnTolerance, apart: str, size: str) -> str:
    share = f"{apart} <= {_double(Decimal(tolerance.relative))} * {size}"
    factor, power = _multiplied_out(tolerance)
    if max(factor, 10**power) > _EXACT_DOUBLE_MAX:
        return share
    return (
        f"if({apart} < {_FAR_FROM_INFINITY} AND {size} < {_FAR_FROM_INFINITY}, "
        f"{apart} * 1e{power}D <= {factor}D * {size}, {share})"
    )


def _multiplied_out(tolerance: ColumnTolerance) -> tuple[int, int]:
    """The share as a whole number and the power of ten that divides it."""
    share = Decimal(tolerance.relative or 0)
    power = max(0, -int(share.as_tuple().exponent))
    return int(share.scaleb(power, _WIDE)), power


def _double(number: Decimal) -> str:
    return f"{min(float(number), sys.float_info.max)!r}D"
