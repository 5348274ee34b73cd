"""The few shapes that a check can have, and what each says to the planner.

A check is a class without state: its docstring is its meaning, `parameters` what it takes.
`RowCheck` says when a row violates, and `ColumnCheck` is one over a single column or element;
`MeasureCheck` takes numbers over the table and judges them; `KeyCheck` names columns that must
not repeat; `RelatedCheck` judges a row by other rows, of its own table or another one;
`QueryCheck` brings a user's SQL that returns the bad rows; `PairCheck` holds the table against
another one.
A predicate says when a row *violates*, never when it is fine: for NULL, "not fine" is unknown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Protocol

from sqlglot import exp

from lakeproof.checks.parameters import Parameter, read_arguments
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.comparison import Value
from lakeproof.model.pairing import PairFound
from lakeproof.model.threshold import Threshold

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check makes of its numbers, before any tolerance.

    `failing` is reported as failing_rows. `excess` and `share` are what the tolerance is held
    against; they differ from `failing` where a check counts values but tolerates rows.
    `measure` is None where a number says nothing. `skipped`: there was nothing to judge by, and
    `details` says why. `number` is what a contract's comparison is held against, exactly; an age
    is one in seconds. Where it is None, the number is that of failing rows or of duplicates.
    `passed` is there where the check has held its tolerance itself; `is_faulty` then says that
    something is wrong that no row shows and no tolerance covers.
    """

    failing: int
    total: int
    excess: int
    share: float
    measure: float | None
    details: str
    measures: Mapping[str, float] = field(default_factory=dict)
    bound: str = ""
    skipped: bool = False
    number: Value | None = None
    passed: bool | None = None
    is_faulty: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict may depend on besides measured values.

    `total` counts the rows in scope, `now` is the run's moment, `columns` are the rule's own,
    `table_columns` all of the table; `previous` is the measure of the rule's last run, if any.
    """

    total: int
    now: datetime
    columns: tuple[Column, ...] = ()
    table_columns: tuple[Column, ...] = ()
    previous: float | None = None


class Check(ABC):
    """What all checks share: a name, parameters, how many columns, and its identity.

    `shows_values`: its details or measure may hold a value out of the data, so they are withheld
    when a column of the rule is declared sensitive. `uses_clock`: what is bad depends on the
    run's moment; with `mends_with_time` only so that bad becomes good. `table_parameters` name
    other tables, which may be written short. `holds_tolerance`: its tolerance decides what is bad,
    so it is among the arguments.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    dimension: ClassVar[str] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    columns_min: ClassVar[int] = 1
    columns_max: ClassVar[int] = 1
    shows_values: ClassVar[bool] = False
    uses_clock: ClassVar[bool] = False
    mends_with_time: ClassVar[bool] = False
    table_parameters: ClassVar[tuple[str, ...]] = ()
    holds_tolerance: ClassVar[bool] = False

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        """The complete arguments; raises CheckDefinitionError with what is wrong and allowed."""
        if len(columns) < self.columns_min:
            wanted = "a column_name" if self.columns_min == 1 else f"{self.columns_min} columns"
            raise CheckDefinitionError(f"check {self.name!r} needs {wanted}")
        if len(columns) > self.columns_max:
            allowed = {0: "no column_name", 1: "one column"}.get(
                self.columns_max, f"at most {self.columns_max} columns"
            )
            raise CheckDefinitionError(
                f"check {self.name!r} takes {allowed}, got {', '.join(columns)}"
            )
        return read_arguments(self.name, self.parameters, params)

    def require_limits(self, arguments: Arguments) -> None:  # noqa: B027 (most need none)
        """Refuse arguments without a bound; a contract's comparison stands in for bounds."""

    def identity_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns as they are hashed."""
        return tuple(columns)

    def identity(self, arguments: Arguments) -> Arguments:
        """The arguments as they are hashed: cosmetic differences removed."""
        return arguments

    def for_arguments(self, arguments: Arguments) -> Check:
        """The check that runs: another shape of this one where the arguments ask for it."""
        return self

    def may_show_values(self, arguments: Arguments) -> bool:
        """Whether with these arguments a value out of the data may show."""
        return self.shows_values

    def condition(self, arguments: Arguments) -> str:
        """A user's condition over a row, which the planner vets before it is used; '' if none."""
        return ""

    def expression(self, arguments: Arguments) -> str:
        """A user's expression over a row, vetted and bound as one more column; '' if none."""
        return ""


class RowCheck(Check):
    """One predicate over one row: counted in the table's one scan, whatever their number."""

    @abstractmethod
    def row_violates(
        self, columns: Sequence[Column], arguments: Arguments, now: datetime
    ) -> exp.Expr:
        """True exactly for a bad row; raises CheckDefinitionError if a type does not fit."""

    @abstractmethod
    def complaint(self, column: str, arguments: Arguments) -> str:
        """What bad rows do, to stand after "3 of 10 rows": "have NULL in order_id"."""

    def judge(self, failing: int, total: int, column: str, arguments: Arguments) -> Verdict:
        return rows_verdict(failing, total, self.complaint(column, arguments))


class ColumnCheck(RowCheck):
    """A row check over one value: of a column, a field of a struct, or each element inside it."""

    def row_violates(
        self, columns: Sequence[Column], arguments: Arguments, now: datetime
    ) -> exp.Expr:
        return self.violates(columns[0], arguments, now)

    @abstractmethod
    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        """True exactly for a bad value; raises CheckDefinitionError if the type does not fit."""


class MeasureCheck(Check):
    """Numbers over all rows in scope, judged after the scan."""

    @abstractmethod
    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        """Named aggregates, one call each: a filter is put behind it as FILTER (WHERE ...)."""

    @abstractmethod
    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        """The verdict over the measured values."""

    def needs_previous(self, arguments: Arguments) -> bool:
        """Whether it compares with the measure of its own last run."""
        return False

    def needs_own_action(self, arguments: Arguments) -> bool:
        """Whether its aggregates would slow the scan that all rules share."""
        return False


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """How often keys repeat: how many values do, rows beyond the first, all rows with them."""

    duplicated_values: int
    surplus_rows: int
    rows_involved: int


class NullPolicy(StrEnum):
    """What a NULL means in a key.

    `DISTINCT`: it equals nothing, its row is left out. `EQUAL`: NULLs are one value. `FORBID`:
    a row with a NULL is bad in itself.
    """

    DISTINCT = "distinct"
    EQUAL = "equal"
    FORBID = "forbid"


class KeyCheck(Check):
    """Columns whose values together must not repeat."""

    columns_max: ClassVar[int] = 32

    def identity_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Sorted: a key is the same key in whatever order its columns are named."""
        return tuple(sorted(columns))

    def nulls(self, arguments: Arguments) -> NullPolicy:
        """What a NULL in the key means."""
        return NullPolicy.DISTINCT

    @abstractmethod
    def judge(
        self, counts: KeyCounts, total: int, columns: Sequence[str], arguments: Arguments
    ) -> Verdict:
        """The verdict over the counts."""


class Lookup(Protocol):
    """What a row may be held against: other tables, and lists too long for a statement.

    `scope` is the rule's filter (`true` if none): a windowed predicate must not look at rows
    outside it. `key` is the row's key, by which equal rows are put in an order.
    """

    @property
    def scope(self) -> str: ...

    @property
    def key(self) -> str: ...

    def column(self, name: str) -> str:
        """SQL of a column of the checked table, by the name that a parameter gives it."""

    def table(self, name: str) -> tuple[str, tuple[Column, ...]]:
        """SQL that reads the table where the run reads it, and its columns."""

    def values(self, values: Sequence[str], type_text: str) -> str:
        """SQL of a relation with these values in one column `value` of that type."""


class RelatedCheck(Check):
    """A row judged by other rows: an action of its own.

    `is_windowed`: the predicate looks along the table, so it may not stand in a WHERE clause.
    `keyed_by_columns`: a violation is known by the values of the rule's columns, not by the row.
    """

    is_windowed: ClassVar[bool] = False
    keyed_by_columns: ClassVar[bool] = False

    @abstractmethod
    def row_violates(self, columns: Sequence[Column], arguments: Arguments, lookup: Lookup) -> str:
        """Spark SQL that is true exactly for a bad row."""

    def refers_to(self, arguments: Arguments) -> tuple[str, tuple[str, ...]] | None:
        """The table that must have a row's values, and its columns in their order.

        None unless a row is bad exactly where that table has no row with these values.
        """
        return None

    @abstractmethod
    def judge(
        self, failing: int, total: int, keys: int, column: str, arguments: Arguments
    ) -> Verdict:
        """The verdict over the bad rows, which have so many different keys."""


class QueryCheck(Check):
    """A user's query that returns the bad rows."""

    columns_min: ClassVar[int] = 0
    columns_max: ClassVar[int] = 0

    @abstractmethod
    def query(self, arguments: Arguments) -> str:
        """The SQL text as the user wrote it."""

    @abstractmethod
    def judge(self, failing: int, total: int) -> Verdict:
        """The verdict over the rows returned and the rows of the checked table."""


class PairCheck(Check):
    """The table, which is the target, held against a source.

    `filter` of its rule is the target's, parameter `where_clause` the source's.
    """

    columns_min: ClassVar[int] = 0
    columns_max: ClassVar[int] = 0
    dimension: ClassVar[str] = "consistency"
    table_parameters: ClassVar[tuple[str, ...]] = ("source_table",)

    @abstractmethod
    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        """The verdict over what was found; it holds the tolerance itself."""


def rows_verdict(failing: int, total: int, complaint: str) -> Verdict:
    """The verdict over bad rows that are tolerated by number or share."""
    share = failing / total if total else 0.0
    counted = f"{failing} of {total} rows" if failing else f"none of {total} rows"
    return Verdict(
        failing=failing,
        total=total,
        excess=failing,
        share=share,
        measure=share,
        details=f"{counted} {complaint}",
    )


def column_expression(column: Column) -> exp.Expr:
    """The column, the part of it or the user's expression, quoted whatever its name holds."""
    if column.sql:
        return user_sql(column.sql)
    root, *fields = column.path or (column.name,)
    found: exp.Expr = exp.column(root, quoted=True)
    for name in fields:
        found = exp.Dot(this=found, expression=exp.to_identifier(name, quoted=True))
    return found


def user_sql(text: str) -> exp.Expr:
    """A vetted text as it was written.

    It stands on a line of its own: a `--` comment at its end cannot swallow our bracket.
    """
    return exp.Var(this=f"(\n{text}\n)")


def require_family(check: str, column: Column, *, fits: bool, wanted: str) -> None:
    """Refuse a column whose type the check has no meaning for."""
    if not fits:
        raise CheckDefinitionError(
            f"check {check!r} needs {wanted}; column {column.name!r} is {column.type_text.upper()}"
        )


def any_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The disjunction, in brackets where there is more than one."""
    if len(conditions) == 1:
        return conditions[0]
    return exp.or_(*conditions)


def count_where(condition: exp.Expr) -> exp.Expr:
    """How many rows fulfil the condition, which may be NULL; NULL if there are no rows.

    A sum on purpose: measured faster than count_if.
    """
    one, none = exp.Literal.number(1), exp.Literal.number(0)
    return exp.Sum(this=exp.case().when(condition, one).else_(none))
