"""Looking into the state tables: one question, answered by Spark or without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakeproof.errors import EngineUnavailableError, short_message
from lakeproof.model.names import quote
from lakeproof.model.promotion import PROMOTION
from lakeproof.state import literals
from lakeproof.state.access import spark_errors
from lakeproof.state.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import Column

    from lakeproof.state.spark_store import SparkStore

NOTHING_KEPT = "Next: lakeproof store init, or a run that keeps its results"

RESULTS, PROMOTIONS = "results", "promotions"
"""Both are rows of the results table: a question about results is about those of rules."""


@dataclass(frozen=True, slots=True)
class Among:
    """At least one of the columns holds one of the values."""

    columns: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Rows of one state table: all conditions hold; a `-` before a column sorts it downwards.

    `kind` is that of the table, or `promotions`. `columns` are those to bring, all if none are
    named.
    """

    kind: str
    where: tuple[Among, ...] = ()
    order: tuple[str, ...] = ()
    limit: int | None = None
    columns: tuple[str, ...] = ()

    @property
    def table_kind(self) -> str:
        return RESULTS if self.kind == PROMOTIONS else self.kind


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows asked for, by column name, and how many there are without the limit.

    A column that a table of an older version does not have is None in every row.
    """

    rows: tuple[Mapping[str, object], ...]
    total: int


class StateReader(Protocol):
    """Answers questions; never writes, never creates."""

    def ask(self, question: Question) -> Answer: ...


class SparkReader:
    """Through the store's own frames."""

    def __init__(self, store: SparkStore) -> None:
        self._store = store

    def ask(self, question: Question) -> Answer:
        try:
            return self._ask(question)
        except spark_errors() as problem:
            place = self._store.description
            told = (
                f"no {question.kind} yet in {place}: nothing was kept there"
                if _is_absent(problem)
                else f"the {question.kind} cannot be read ({place}): {short_message(problem)}"
            )
            raise EngineUnavailableError(f"{told}. {NOTHING_KEPT}") from problem

    def _ask(self, question: Question) -> Answer:
        frame = self._store.frame_of(question.table_kind)
        if question.table_kind == RESULTS:
            is_promotion = f"`check_type` <=> {literals.text(PROMOTION)}"
            wanted = is_promotion if question.kind == PROMOTIONS else f"NOT {is_promotion}"
            frame = frame.where(wanted)
        for condition in question.where:
            frame = frame.where(_sql(condition))
        total = None if question.limit is None else frame.count()
        if question.order:
            names: list[int | str | Column] = [
                quote(name.removeprefix("-")) for name in question.order
            ]
            rising = [not name.startswith("-") for name in question.order]
            frame = frame.orderBy(names, ascending=rising)
        if question.limit is not None:
            frame = frame.limit(question.limit)
        brought = [name for name in wanted_columns(question) if name in frame.columns]
        rows = frame.select(*(quote(name) for name in brought)).collect()
        found = [row.asDict() for row in rows]
        return answer_of(question, found, len(found) if total is None else total)


def wanted_columns(question: Question) -> tuple[str, ...]:
    return question.columns or tuple(column.name for column in TABLES[question.table_kind].columns)


def answer_of(question: Question, rows: Iterable[Mapping[str, object]], total: int) -> Answer:
    """The rows with every wanted column, there or not."""
    absent = dict.fromkeys(wanted_columns(question))
    return Answer(tuple({**absent, **row} for row in rows), total)


def _is_absent(problem: Exception) -> bool:
    """Whether Spark found no such table, or not even its namespace."""
    from pyspark.errors import PySparkException

    condition = problem.getCondition() if isinstance(problem, PySparkException) else None
    return condition in {"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"}


def _sql(condition: Among) -> str:
    values = literals.texts(condition.values)
    return " OR ".join(f"{quote(column)} IN ({values})" for column in condition.columns)
