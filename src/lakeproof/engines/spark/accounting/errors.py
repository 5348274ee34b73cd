"""Records that fail: told apart by one chain of conditions and written as error records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.captures import (
    Step,
    column_named,
    condition_column,
    condition_text,
    ensure_keyed,
    identity_columns,
    quoted,
)
from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.engines.spark.accounting.repeatable import ensure_repeatable
from lakeproof.engines.spark.accounting.source_keys import (
    KEY,
    RAW,
    WEIGHT,
    is_positional_sql,
    weight_of,
    written_key_sql,
)
from lakeproof.errors import LedgerError
from lakeproof.faults import reach

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ERROR_TYPES: Final = ("parse", "type_cast", "validation", "null", "join", "refinement")
ACTUAL_CHARACTERS_MAX: Final = 1000
_FAILED: Final = "_lakeproof_failed"
_NO_CODE: Final = re.compile(r"[^A-Z0-9]+")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a record must meet; one for which it is false or NULL becomes an error record.

    `error_type` is parse, type_cast, validation, null, join or refinement. `of` is the column, by
    name or as an expression, whose value the error record shows. `error_code` is made of the name
    if not given, `expected` is the condition.
    """

    name: str
    condition: Column | str = field(compare=False)
    error_type: str = "validation"
    error_code: str = ""
    expected: str = ""
    of: Column | str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class _Fault:
    """One way to fail, with the texts of its error record; `actual` may be unknown."""

    name: str
    error_type: str
    error_code: str
    expected: str
    is_met: Column = field(compare=False)
    actual: Column | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ErrorCapture:
    """The records of a frame parted by requirements: the first that fails decides.

    Before them stand a line that could not be parsed, and a record without a readable key.
    """

    frame: DataFrame
    faults: tuple[_Fault, ...]
    step: Step

    def live(self) -> DataFrame:
        """Records that meet all; none of them has a raw line any more."""
        return self.frame.where(_failure(self.faults).isNull()).drop(RAW)

    def first_errors(self, rows_max: int) -> tuple[int, int]:
        """How many of the first rows fail, and how many rows these were."""
        failed = self.frame.select(_failure(self.faults).isNotNull().alias(_FAILED))
        # Collected, not counted by Spark: so it reads from the start and stops there.
        found = [bool(row[_FAILED]) for row in failed.limit(rows_max).collect()]
        return sum(found), len(found)

    def write(self) -> None:
        """Append all error records to the folder that the steps of a run share."""
        _append(self._records(self.frame), self.step)

    def write_samples(self, rows_max: int, samples_max: int) -> None:
        """Append some error records of the first rows only."""
        _append(self._records(self.frame.limit(rows_max)).limit(samples_max), self.step)

    def records(self) -> int:
        """All records of the frame, good and bad."""
        return _total(self.frame, weight_of(self.frame) or "1")

    def stored(self) -> DataFrame:
        """The error records of this step as they are stored."""
        from pyspark.sql import functions as F  # noqa: N812 (its usual name)

        own = F.col("morphism_path").startswith(f"{self.step.morphism_id}/")
        return self._stored_by_all().where(own)

    def stored_errors(self) -> int:
        """The error records of the whole run so far."""
        return _total(self._stored_by_all(), WEIGHT)

    def _stored_by_all(self) -> DataFrame:
        reader = self.frame.sparkSession.read.schema(self._records(self.frame).schema)
        return reader.json(literal_path(self.step.errors_location))

    def _records(self, frame: DataFrame) -> DataFrame:
        """The ErrorRecords table. Nothing in it depends on when it is written."""
        from pyspark.sql import functions as F  # noqa: N812 (its usual name)

        failed = frame.withColumn(_FAILED, _failure(self.faults)).where(f"{_FAILED} IS NOT NULL")
        step = self.step
        paths = [f"{step.morphism_id}/{fault.name}" for fault in self.faults]
        identity = F.when(F.expr(is_positional_sql(KEY)), "position").otherwise("key")
        context = F.create_map(
            *(F.lit("step"), _told([fault.name for fault in self.faults])),
            *(F.lit("identity"), identity),
            *(F.lit("epoch"), F.lit(step.epoch)),
        )
        return failed.select(
            _told([fault.error_type for fault in self.faults]).alias("error_type"),
            F.expr(written_key_sql(frame.sparkSession.version)).alias("source_key"),
            _told(paths).alias("morphism_path"),
            _told([fault.expected for fault in self.faults]).alias("expected"),
            _actual(self.faults).alias("actual"),
            context.alias("context"),
            F.lit(step.run_id).alias("run_id"),
            F.lit(step.openlineage_run_id).alias("openlineage_run_id"),
            F.lit(step.started_at).alias("timestamp"),
            _told([fault.error_code for fault in self.faults]).alias("error_code"),
            *identity_columns(frame),
        )


def error_capture(
    frame: DataFrame, requirements: Sequence[Requirement], step: Step
) -> ErrorCapture:
    """The capture of a frame with hidden columns; nothing is read yet."""
    ensure_keyed(frame, step)
    _ensure_requirements(requirements, step)
    conditions = {f"requirement {one.name!r}": one.condition for one in requirements}
    ensure_repeatable(frame, conditions, step)
    own = [_fault(frame, requirement, step) for requirement in requirements]
    return ErrorCapture(frame, (*_builtin(frame), *own), step)


def plain_requirements(frame: DataFrame, requirements: Sequence[Requirement]) -> DataFrame:
    """Records that meet all, without books."""
    for requirement in requirements:
        frame = frame.where(condition_column(requirement.condition))
    return frame


def _ensure_requirements(requirements: Sequence[Requirement], step: Step) -> None:
    names = [*_builtin_names(), *(requirement.name for requirement in requirements)]
    for at, requirement in enumerate(requirements, start=len(_builtin_names())):
        if requirement.error_type not in ERROR_TYPES:
            raise LedgerError(
                f"step {step.morphism_id!r}: requirement {requirement.name!r} has error_type "
                f"{requirement.error_type!r}; known are {', '.join(ERROR_TYPES)}"
            )
        if not requirement.name or requirement.name in names[:at]:
            raise LedgerError(
                f"step {step.morphism_id!r}: the name {requirement.name!r} of a requirement is "
                f"empty or taken. Give each a name of its own, none of {', '.join(names[:at])}"
            )


def _fault(frame: DataFrame, requirement: Requirement, step: Step) -> _Fault:
    code = _NO_CODE.sub("_", requirement.name.upper()).strip("_")
    return _Fault(
        requirement.name,
        requirement.error_type,
        requirement.error_code or code,
        requirement.expected or condition_text(frame, requirement.condition),
        ~_coalesced(condition_column(requirement.condition)),
        _value_of(frame, requirement, step),
    )


def _coalesced(condition: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return F.coalesce(condition, F.lit(False))


def _value_of(frame: DataFrame, requirement: Requirement, step: Step) -> Column | None:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    if requirement.of is None:
        return None
    value = requirement.of
    if isinstance(value, str):
        value = quoted(column_named(frame, value, f"`of` of {requirement.name!r},", step))
    is_binary = frame.select(value.alias("value")).schema["value"].dataType.typeName() == "binary"
    return F.hex(value) if is_binary else value.cast("string")


def _builtin_names() -> tuple[str, str]:
    return "well_formed", "readable_key"


def _builtin(frame: DataFrame) -> tuple[_Fault, _Fault]:
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    malformed, keyless = _builtin_names()
    has_raw = RAW in frame.columns
    return (
        _Fault(
            malformed,
            "parse",
            "MALFORMED_RECORD",
            "a record that fits the schema",
            # By all columns of the input, whichever a query reads: this one refers to each.
            F.col(RAW).isNotNull() if has_raw else F.lit(False),
            F.col(RAW) if has_raw else None,
        ),
        _Fault(keyless, "null", "NULL_KEY", "a readable key", F.expr(is_positional_sql(KEY))),
    )


def _failure(faults: Sequence[_Fault]) -> Column:
    """The number of the first fault, or NULL. Later conditions are not evaluated after it.

    So a condition may rely on those before it: what would raise in ANSI mode on a value that an
    earlier one refuses is never computed.
    """
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    chain = F.when(faults[0].is_met, F.lit(0))
    for number, fault in enumerate(faults[1:], start=1):
        chain = chain.when(fault.is_met, F.lit(number))
    return chain


def _told(texts: Sequence[str]) -> Column:
    """The text that belongs to the fault of a row."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    return F.element_at(F.array(*map(F.lit, texts)), F.col(_FAILED) + 1)


def _actual(faults: Sequence[_Fault]) -> Column:
    """The offending value, cut short: an error record is no second copy of the data."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    value = F.lit(None).cast("string")
    for number, fault in enumerate(faults):
        if fault.actual is not None:
            value = F.when(F.col(_FAILED) == number, fault.actual).otherwise(value)
    return F.substring(value, 1, ACTUAL_CHARACTERS_MAX)


def _append(records: DataFrame, step: Step) -> None:
    writer = records.write.mode("append").partitionBy("error_type")
    writer.option("ignoreNullFields", "false").json(step.errors_location)
    reach("after_capture")


def _total(frame: DataFrame, weight_sql: str) -> int:
    (row,) = frame.selectExpr(f"coalesce(sum({weight_sql}), 0L) AS total").collect()
    return int(row["total"])
