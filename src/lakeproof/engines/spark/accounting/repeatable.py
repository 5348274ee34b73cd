"""Whether a condition says the same of a record each time: rejects and live rows ask it apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from lakeproof.engines.spark.accounting.captures import Step, condition_column
from lakeproof.engines.spark.flavour import is_connect
from lakeproof.errors import LedgerError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CHANCE: Final = frozenset(
    {
        "monotonically_increasing_id",
        "rand",
        "randn",
        "random",
        "randstr",
        "shuffle",
        "spark_partition_id",
        "uniform",
        "uuid",
    }
)
_CLOCK: Final = frozenset(
    {"curdate", "current_date", "current_time", "current_timestamp", "localtimestamp", "now"}
)
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`", re.DOTALL)
_PRINTED_COLUMN: Final = re.compile(r"\AColumn<'(.*)'>\Z", re.DOTALL)
_CALLED: Final = re.compile(r"\b(\w+)\s*\(")
_WORD: Final = re.compile(r"\b\w+\b")
_NOW_IN_SECONDS: Final = re.compile(r"\bunix_timestamp\s*\(\s*\)", re.IGNORECASE)


def ensure_repeatable(frame: DataFrame, conditions: Mapping[str, Column | str], step: Step) -> None:
    """Refuse what chance or the clock decides: a record could be dropped and kept, or neither.

    A classic session tells it by the analysed plan, of the condition and of all in the frame that
    has a part in it. On Connect functions are known by their names in the condition, and nothing
    is known of the frame.
    """
    connect = is_connect(frame.sparkSession)
    if not connect:
        ensure_repeatable_frame(frame, step)
    for what, condition in conditions.items():
        if connect:
            found = _named_in_text(condition, frame.columns)
        else:
            found = _named_in_plan(frame, condition)
        if found:
            raise LedgerError(
                f"step {step.morphism_id!r}: the {what} depends on {found}, so a record could be "
                "both dropped and kept, or neither. Compute that value once and give it as a "
                "literal, or write the frame that holds it to storage first"
            )


def ensure_repeatable_frame(frame: DataFrame, step: Step) -> None:
    """Refuse a frame that chance has a part in, as far as the session can tell."""
    if not is_connect(frame.sparkSession) and not _analysed(frame).deterministic():
        raise LedgerError(
            f"step {step.morphism_id!r}: the frame holds values that differ each time it is read "
            "(rand, uuid or the like), so a record could end in two places, or none. Write the "
            "frame to storage or checkpoint it before this step; a cache is not enough"
        )


def _named_in_plan(frame: DataFrame, condition: Column | str) -> str:
    """What makes a condition unrepeatable, by Spark's own reading of it."""
    plan = _analysed(frame.select(condition_column(condition).alias("condition")))
    called = {name for text in _deciding(plan, _ids(plan.output())) for name in _called(text)}
    found = sorted(called & (_CHANCE | _CLOCK))
    if found:
        return _listed(found)
    return "" if plan.deterministic() else "chance"


def _named_in_text(condition: Column | str, columns: Iterable[str]) -> str:
    text = _QUOTED.sub(" ", _PRINTED_COLUMN.sub(r"\1", str(condition)))
    bare = {word.lower() for word in _WORD.findall(text)} & _CLOCK
    found = (_called(text) & (_CHANCE | _CLOCK)) | (bare - {name.lower() for name in columns})
    if _NOW_IN_SECONDS.search(text):
        found |= {"unix_timestamp"}
    return _listed(sorted(found))


def _called(text: str) -> set[str]:
    return {name.lower() for name in _CALLED.findall(_QUOTED.sub(" ", text))}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name}()" for name in names)


# Java objects have no Python type.
def _analysed(frame: DataFrame) -> Any:  # noqa: ANN401
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - the only handle to the plan


def _deciding(plan: Any, needed: set[int]) -> Iterable[str]:  # noqa: ANN401
    """All that has a part in these columns, or in which rows there are, down to the sources.

    A column that only stands beside them, such as when a row was processed, decides nothing.
    """
    expressions = list(_each(plan.expressions()))
    if plan.nodeName() == "Project":
        expressions = [one for one in expressions if one.exprId().id() in needed]
        needed = set()
    for expression in expressions:
        yield str(expression.sql())
        needed = needed | _ids(expression.references())
    for child in _each(plan.children()):
        yield from _deciding(child, needed)


def _ids(attributes: Any) -> set[int]:  # noqa: ANN401
    return {attribute.exprId().id() for attribute in _each(attributes)}


def _each(found: Any) -> Iterable[Any]:  # noqa: ANN401
    following = found.iterator()
    while following.hasNext():
        yield following.next()
