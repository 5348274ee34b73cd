"""Rules drafted from a profile: each holds on the profiled rows, with room for ordinary change.

Drafts are beginnings to be edited, so each says what it was drawn from. A bound leaves as much
room beyond the rows as they themselves span, and stays on the side of zero where they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import TypeGuard

from lakeproof.model.column import TypeFamily
from lakeproof.model.printable import counted
from lakeproof.profiling.profile import ColumnProfile, Moment, Number, TableProfile

VALUES_MAX = 20
_ROWS_PER_VALUE_MIN = 5
_LEADING_DIGITS = 2
_ROOM = "as much room again is left"
_LONG_NUMBER = 10**15
_DIGITS_MAX = 2000
"""Exact for every DOUBLE and DECIMAL(38); the default context would round at 28 digits."""
# Numbers that name things grow or jump without being wrong.
_IDENTIFIER = re.compile(
    r"(?i:(?:^|_)(?:id|key|code|number|no|nr|uuid|guid|hash|sku))$|[a-z](?:Id|Key|Code|Number|Nr)$"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A check to be written down, and the evidence for it; `column` is '' for the whole table."""

    name: str
    check: str
    evidence: str
    column: str = ""
    params: Mapping[str, object] = field(default_factory=dict)


def draft_rules(profile: TableProfile, now: datetime) -> list[Draft]:
    """The drafts, the table's first, then column by column; none for a table without rows."""
    if not profile.rows:
        return []
    names = _Names(profile.table.short)
    fewest = max(1, profile.rows // 2)
    drafts = [
        Draft(
            names.of("", "row_count"),
            "row_count_range",
            f"{counted(profile.rows, 'row')} now; fewer than half as many would be a loss",
            params={"min_count": fewest},
        )
    ]
    for column in profile.columns:
        for suffix, check, evidence, params in _of_column(column, profile.rows, now):
            name = names.of(column.column.name, suffix)
            drafts.append(Draft(name, check, evidence, column.column.name, params))
    return drafts


Drawn = tuple[str, str, str, dict[str, object]]
"""Suffix of the name, check, evidence, parameters."""


def _of_column(found: ColumnProfile, rows: int, now: datetime) -> Iterator[Drawn]:
    filled = rows - found.nulls
    if not found.nulls:
        yield "not_null", "not_null", f"0 NULLs in {counted(rows, 'row')}", {}
    if found.is_unique:
        yield "unique", "uniqueness", f"no value twice in {counted(filled, 'row')}", {}
    if found.private or not filled:
        return
    if found.column.family.is_number and not found.nans:
        yield from _of_numbers(found, filled)
    elif found.column.family.is_moment:
        yield from _of_moments(found, now)
    elif _is_few_values(found, filled):
        values = sorted(found.values or ())
        evidence = f"{counted(len(values), 'distinct value')} in {counted(filled, 'row')}"
        yield "accepted", "accepted_values", evidence, {"accepted": values}


def is_identifier(name: str) -> bool:
    """Named like something that names things: `order_id`, `customerKey`; not `amount_paid`."""
    return _IDENTIFIER.search(name) is not None


def _is_few_values(found: ColumnProfile, filled: int) -> bool:
    values = found.values
    return bool(values) and filled >= _ROWS_PER_VALUE_MIN * len(values or ())


def _of_numbers(found: ColumnProfile, filled: int) -> Iterator[Drawn]:
    low, high = found.low, found.high
    if found.is_unique or is_identifier(found.column.name):
        return
    if not _is_finite(low) or not _is_finite(high):
        return
    if low > 0:
        yield "positive", "positive", f"smallest {low} in {counted(filled, 'row')}", {}
    params = _bounds(Decimal(str(low)), Decimal(str(high)), found.column.family)
    if params:
        told = f"from {low} to {high} in {counted(filled, 'row')}; {_ROOM}"
        yield "range", "range", told, params


def _bounds(low: Decimal, high: Decimal, family: TypeFamily) -> dict[str, object]:
    """Bounds around the numbers; none below numbers above 0, since `positive` says that."""
    with localcontext(prec=_DIGITS_MAX):
        # A column of one value spans nothing; its own size is the room then.
        room = high - low or abs(high) or Decimal(1)
        below = _outward(low - room, ROUND_FLOOR) if low < 0 else Decimal(0)
        above = _outward(high + room, ROUND_CEILING) if high > 0 else Decimal(0)
    bounds = {"max_value": above} if low > 0 else {"min_value": below, "max_value": above}
    written = {name: _plain(bound, family) for name, bound in bounds.items()}
    return {name: bound for name, bound in written.items() if abs(bound) != math.inf}


def _is_finite(value: Number | Moment | None) -> TypeGuard[Number]:
    return isinstance(value, (int, float, Decimal)) and math.isfinite(value)


def _outward(value: Decimal, rounding: str) -> Decimal:
    """The next number, away from the data, that people would write: two digits and zeros."""
    if not value:
        return value
    step = Decimal(1).scaleb(value.adjusted() - _LEADING_DIGITS + 1)
    return (value / step).to_integral_value(rounding=rounding) * step


def _plain(bound: Decimal, family: TypeFamily) -> Number:
    """Whole where it is whole; else as exact as the column."""
    is_whole = bound == bound.to_integral_value()
    if family is TypeFamily.FLOAT and (not is_whole or abs(bound) >= _LONG_NUMBER):
        return float(bound)
    return int(bound) if is_whole else bound


def _of_moments(found: ColumnProfile, now: datetime) -> Iterator[Drawn]:
    low, high = found.low, found.high
    if not isinstance(low, date) or not isinstance(high, date):
        return
    told = f"from {_day(low)} to {_day(high)}"
    if not _is_after(high, now):
        yield "not_future", "no_future_dates", told, {}
    earliest = _start_of_year(_day(low), _day(high) - _day(low))
    if earliest is not None:
        yield "range", "range", f"{told}; {_ROOM}", {"min_value": earliest.isoformat()}


def _is_after(moment: Moment, now: datetime) -> bool:
    if not isinstance(moment, datetime):
        return moment > now.date()
    return moment > (now if moment.tzinfo else now.replace(tzinfo=None))


def _day(moment: Moment) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _start_of_year(earliest: date, span: timedelta) -> date | None:
    try:
        return (earliest - span).replace(month=1, day=1)
    except OverflowError:  # before the year 1: no bound says more than the type does
        return None


class _Names:
    """Rule names made of the table's, the column's and a word; never one twice."""

    def __init__(self, table: str) -> None:
        self._table = _slug(table)
        self._taken: set[str] = set()

    def of(self, column: str, suffix: str) -> str:
        base = "_".join(part for part in (self._table, _slug(column), suffix) if part)
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()
