from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

from lakeproof.checks.bounds import as_float, exact
from lakeproof.checks.kinds import Arguments, Verdict
from lakeproof.checks.pair_judging import (
    floats_of,
    lone_side,
    number_in,
    scope_text,
    verdict_on_nothing,
)
from lakeproof.checks.pair_parameters import (
    ON_EMPTY,
    SCOPE,
    TwoTableCheck,
    read_empty,
    read_scope,
    read_word,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.model.pairing import PairFound
from lakeproof.model.printable import counted
from lakeproof.model.threshold import Threshold


class CountRule(StrEnum):
    """What is asked of the two row counts."""

    PARITY = "rowcount_parity"
    AT_LEAST = "rowcount_gte"


class Reconciliation(TwoTableCheck):
    """The table has as many rows as a source, or with `rowcount_gte` at least as many.

    The difference is held against the tolerance as a share of the source's rows, or as a number
    of rows. `rowcount_gte` lets only missing rows count. One side without any rows fails whatever
    is tolerated, unless more rows are fine and it is the source; two empty tables are equal. It
    lists no rows: `failing_rows` is how many are missing or too many, `total_rows` those of the
    source.
    """

    name = "reconciliation"
    parameters = (
        *SCOPE,
        Parameter(
            "check_type",
            (str,),
            "`rowcount_parity` (as many rows) or `rowcount_gte` (at least as many)",
            default=CountRule.PARITY.value,
        ),
        ON_EMPTY,
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        word = read_word(self.name, "check_type", arguments["check_type"], CountRule)
        return {
            **read_scope(self.name, arguments),
            "check_type": word,
            "on_empty": read_empty(self.name, arguments),
        }

    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        numbers = count_numbers(found)
        source, target = number_in(found, "source_count"), number_in(found, "target_count")
        if not source and not target:
            return verdict_on_nothing(found, arguments, floats_of(numbers))
        at_least = arguments["check_type"] == CountRule.AT_LEAST
        failing = max(source - target, 0) if at_least else abs(target - source)
        share = _share(failing, source)
        limit = Fraction(0) if threshold.share is None else exact(threshold.share)
        fits = share <= limit or (threshold.rows is not None and failing <= threshold.rows)
        faults = lone_side(source, target) if failing else []
        return Verdict(
            failing=failing,
            total=source,
            excess=failing,
            share=as_float(share),
            measure=numbers["difference_pct"],
            details="; ".join([*faults, _counts_text(source, target), scope_text(arguments)]),
            measures=floats_of(numbers),
            passed=fits and not faults,
        )


def count_numbers(found: PairFound) -> dict[str, int | float]:
    """Both counts and how far they are apart, as a share of the source's and in rows."""
    source, target = number_in(found, "source_count"), number_in(found, "target_count")
    apart = abs(target - source)
    return {
        "target_count": target,
        "source_count": source,
        "difference_pct": as_float(_share(apart, source)),
        "difference_abs": apart,
    }


def _share(rows: int, source: int) -> Fraction:
    """The rows as a share of the source's; of an empty source, any are all."""
    if not source:
        return Fraction(1 if rows else 0)
    return Fraction(rows, source)


def _counts_text(source: int, target: int) -> str:
    if source == target:
        return f"{counted(target, 'row')} on both sides"
    more = "more" if target > source else "fewer"
    return (
        f"target has {counted(target, 'row')}, {abs(target - source):,} {more} than source with "
        f"{source:,}"
    )
