"""The few shapes that a check can have, and what each says to the planner.

A check is a class without state: its docstring is its meaning, `parameters` what it takes.
`RowCheck` says when a row violates, `MeasureCheck` takes a number over the table and judges it,
`KeyCheck` names columns that must not repeat, `QueryCheck` brings SQL that returns bad rows.
A predicate says when a row *violates*, never when it is fine: for NULL, "not fine" is unknown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from sqlglot import exp

from lakeproof.checks.parameters import Parameter, read_arguments
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check makes of its numbers, before any tolerance.

    `failing` is reported as failing_rows. `excess` and `share` are what the tolerance is held
    against; they differ from `failing` where a check counts values but tolerates rows.
    """

    failing: int
    total: int
    excess: int
    share: float
    measure: float
    details: str
    measures: Mapping[str, float] = field(default_factory=dict)
    bound: str = ""


class Check(ABC):
    """What all checks share: a name, parameters, how many columns, and its identity."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    dimension: ClassVar[str] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    columns_min: ClassVar[int] = 1
    columns_max: ClassVar[int] = 1

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        """The complete arguments; raises CheckDefinitionError with what is wrong and allowed."""
        if len(columns) < self.columns_min:
            raise CheckDefinitionError(f"check {self.name!r} needs a column_name")
        if len(columns) > self.columns_max:
            allowed = {0: "no column_name", 1: "one column"}.get(
                self.columns_max, f"at most {self.columns_max} columns"
            )
            raise CheckDefinitionError(
                f"check {self.name!r} takes {allowed}, got {', '.join(columns)}"
            )
        return read_arguments(self.name, self.parameters, params)

    def identity_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns as they are hashed."""
        return tuple(columns)

    def identity(self, arguments: Arguments) -> Arguments:
        """The arguments as they are hashed: cosmetic differences removed."""
        return arguments


class RowCheck(Check):
    """One predicate over one row."""

    @abstractmethod
    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        """True exactly for a bad row; raises CheckDefinitionError if the type does not fit."""

    @abstractmethod
    def complaint(self, column: str, arguments: Arguments) -> str:
        """What bad rows do, to stand after "3 of 10 rows": "have NULL in order_id"."""

    def judge(self, failing: int, total: int, column: str, arguments: Arguments) -> Verdict:
        share = failing / total if total else 0.0
        counted = f"{failing} of {total} rows" if failing else f"none of {total} rows"
        return Verdict(
            failing=failing,
            total=total,
            excess=failing,
            share=share,
            measure=share,
            details=f"{counted} {self.complaint(column, arguments)}",
        )


class MeasureCheck(Check):
    """A number over all rows in scope, judged after the scan."""

    @abstractmethod
    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        """Named aggregates; rows outside the filter's scope are NULL in every column."""

    @abstractmethod
    def judge(self, values: Mapping[str, object], total: int, arguments: Arguments) -> Verdict:
        """The verdict over the measured values and the rows in scope."""


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """How often keys repeat: how many values do, rows beyond the first, all rows with them."""

    duplicated_values: int
    surplus_rows: int
    rows_involved: int


class KeyCheck(Check):
    """Columns whose values together must not repeat."""

    columns_max: ClassVar[int] = 32

    def identity_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Sorted: a key is the same key in whatever order its columns are named."""
        return tuple(sorted(columns))

    @abstractmethod
    def judge(self, counts: KeyCounts, total: int, columns: Sequence[str]) -> Verdict:
        """The verdict over the counts."""


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


def column_expression(column: Column) -> exp.Column:
    """The column, quoted whatever its name holds."""
    return exp.column(column.name, quoted=True)


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
