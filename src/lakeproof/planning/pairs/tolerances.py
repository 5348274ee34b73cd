"""Whether two numbers agree within a tolerance, as SQL that does not round.

Integers and decimals are compared as decimals. A share `a / 10^b` is multiplied out, so that
nothing is divided: |target - source| * 10^b <= a * |source|. The types are chosen so narrow that
Spark keeps every digit of the products; values too wide for them are compared as doubles, as is
everything where a side is one.
"""

from __future__ import annotations

import sys
from decimal import ROUND_FLOOR, Context, Decimal

from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.pairing import ColumnTolerance
from lakeproof.planning.pairs.types import DECIMAL_DIGITS_MAX, decimal_size

_WIDE = Context(prec=1000)
_EXACT_DOUBLE_MAX = 10**15
_FAR_FROM_INFINITY = "1e290D"


def equal_numbers_sql(source: Column, target: Column, tolerance: ColumnTolerance) -> str:
    """A template over {source} and {target}, never NULL: whether they agree; NULL is no zero.

    Without a tolerance they must be equal, whatever their scale. NaN equals NaN.
    """
    if TypeFamily.FLOAT in {source.family, target.family}:
        return null_safe(_as_doubles(tolerance))
    scale = max(decimal_size(column)[1] for column in (source, target))
    if not _is_given(tolerance):
        # The wider scale holds all values of its side, so a cast that fails says they differ.
        left, right = (
            f"try_cast({side} AS DECIMAL({DECIMAL_DIGITS_MAX},{scale}))"
            for side in ("{source}", "{target}")
        )
        return null_safe(f"{left} <=> {right}")
    exact = _as_decimals(tolerance, scale)
    doubles = _as_doubles(tolerance)
    return null_safe(f"coalesce({exact}, {doubles})" if exact else doubles)


def null_safe(equal: str) -> str:
    """The template for values that may be NULL, of which each is equal to the other only."""
    return (
        "CASE WHEN {source} IS NULL OR {target} IS NULL "
        f"THEN {{source}} IS NULL AND {{target}} IS NULL ELSE {equal} END"
    )


def _is_given(tolerance: ColumnTolerance) -> bool:
    return any(Decimal(bound or 0) for bound in (tolerance.absolute, tolerance.relative))


def _as_decimals(tolerance: ColumnTolerance, scale: int) -> str:
    """NULL where a value does not fit; '' if none would."""
    factor, power = _multiplied_out(tolerance)
    # A difference has one digit more than its numbers, a product one more than its factors.
    digits = DECIMAL_DIGITS_MAX - 2 - max(len(str(factor)), power + 1)
    if digits <= scale:
        return ""
    source, target = (
        f"try_cast({side} AS DECIMAL({digits},{scale}))" for side in ("{source}", "{target}")
    )
    apart = f"abs({target} - {source})"
    share = f"{apart} * {10**power}BD <= {factor}BD * abs({source})"
    if not tolerance.absolute:
        return f"({share})"
    largest = _WIDE.scaleb(Decimal(10 ** (digits + 1) - 1), -scale)
    bound = min(Decimal(tolerance.absolute), largest)
    floor = bound.quantize(_WIDE.scaleb(Decimal(1), -scale), ROUND_FLOOR, _WIDE)
    return f"({share} OR {apart} <= {floor:f}BD)"


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
