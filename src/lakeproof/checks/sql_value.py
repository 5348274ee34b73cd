from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from lakeproof.checks.bounds import (
    NUMBER,
    OUT_OF_REACH,
    Bounds,
    exact,
    limits_text,
    require_usable,
    share_of,
)
from lakeproof.checks.counted_rows import is_counting
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.user_sql import canonical_sql
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.comparison import Comparison, Value, shown

_BOUND_NAMES = ("min_value", "max_value")
_TEXT_SHOWN_MAX = 80
COUNTED_ROWS = "counted_rows"
"""The measure of a query that counts rows: how many."""


class SqlValue(MeasureCheck):
    """A read-only query that returns one value, within [min_value, max_value].

    Without bounds the value must be true: neither false nor zero. NULL fails. More than one
    row or column, or no row, is an error. Every table in the query is read at the run's pinned
    position, unless it has an `AS OF` of its own; a `filter` narrows the checked table inside it.

    `failing_rows` is 0 or 1, but where the query counts rows (`SELECT count(*) FROM ... WHERE
    ...`) and has `max_value` only, it is the count: these rows are the bad ones and are listed by
    key, if the checked table is once in FROM or JOIN. A tolerance widens the bound that was
    missed. The query is an action of its own.
    """

    name = "sql_value"
    dimension = "conformity"
    columns_min = 0
    columns_max = 0
    shows_values = True
    parameters = (
        Parameter("sql", (str,), "one SELECT that returns one value", required=True),
        Parameter("min_value", NUMBER, "the smallest allowed value"),
        Parameter("max_value", NUMBER, "the largest allowed value"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        read_query(self.query(arguments))
        require_usable(self.name, arguments, *_BOUND_NAMES)
        return arguments

    def identity(self, arguments: Arguments) -> Arguments:
        return {**arguments, "sql": canonical_sql(self.query(arguments))}

    def query(self, arguments: Arguments) -> str:
        """The SQL text as the user wrote it."""
        return str(arguments["sql"])

    def may_show_values(self, arguments: Arguments) -> bool:
        return False  # the plan withholds it: it knows the columns of every table in the query

    def counts_bad_rows(self, arguments: Arguments) -> bool:
        """Whether by its own bounds the value counts what is bad: the fewer the better."""
        return arguments["min_value"] is None and arguments["max_value"] is not None

    def needs_own_action(self, arguments: Arguments) -> bool:
        return True

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the query is the measure

    def require_one_value(self, columns: Sequence[Column]) -> None:
        """Refuse a query by its columns: one number, truth value or text it must be."""
        if len(columns) != 1:
            raise CheckDefinitionError(
                f"the query returns {len(columns)} columns; check 'sql_value' needs one"
            )
        family = columns[0].family
        fits = family.is_number or family in {TypeFamily.BOOLEAN, TypeFamily.STRING}
        if not fits and columns[0].type_text != "void":
            raise CheckDefinitionError(
                f"the query returns a {columns[0].type_text.upper()}; check 'sql_value' needs a "
                "number, a truth value or a text"
            )

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        rows = int(str(values["rows"]))
        if rows != 1:
            told = "no row" if rows == 0 else "more than one row"
            raise CheckDefinitionError(f"the query returned {told}; check 'sql_value' needs one")
        found = values["value"]
        low, high = (arguments[name] for name in _BOUND_NAMES)
        is_free = low is None and high is None
        limits = "" if is_free else limits_text(low, "value", high)
        if not isinstance(found, (bool, int, float, Decimal, str)):
            details = "the query returned NULL"
            return Verdict(1, facts.total, OUT_OF_REACH, math.inf, None, details, bound=limits)
        distance, bound = _miss(found, Bounds(_exact(low), _exact(high)), is_free=is_free)
        is_count = isinstance(found, int) and is_counting(self.query(arguments))
        is_bad_count = is_count and self.counts_bad_rows(arguments)
        return Verdict(
            failing=int(found) if is_bad_count else int(bool(distance)),
            total=facts.total,
            excess=math.ceil(distance),
            share=math.inf if distance == OUT_OF_REACH else share_of(distance, bound),
            measure=None if isinstance(found, str) else float(found),
            details=_details(found, limits, is_missed=bool(distance)),
            measures={COUNTED_ROWS: int(found)} if is_count else {},
            bound=limits,
            number=found,
        )


def _miss(found: Value, bounds: Bounds, *, is_free: bool) -> tuple[Fraction, Fraction]:
    """How far the value is from what it must be, and the bound that it missed."""
    if is_free:
        return Fraction(0 if Comparison().holds(found) else OUT_OF_REACH), Fraction(0)
    if isinstance(found, str):
        raise CheckDefinitionError("the query returned a text, which has no place between bounds")
    if isinstance(found, float) and not math.isfinite(found):
        return Fraction(OUT_OF_REACH), Fraction(0)
    return bounds.miss(Fraction(int(found)) if isinstance(found, bool) else exact(found))


def _exact(bound: object) -> Fraction | None:
    return None if bound is None else exact(bound)


def _details(found: Value, limits: str, *, is_missed: bool) -> str:
    told = shown(found)
    if isinstance(found, str):
        told = repr(found[:_TEXT_SHOWN_MAX])
    within = f", {'outside' if is_missed else 'within'} {limits}" if limits else ""
    return f"the query returned {told}{within}"
