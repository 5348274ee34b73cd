"""Steps of an ordinary PySpark pipeline that keep what they take out, for the books of its run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from lakeproof.accounting.choices import one_of
from lakeproof.accounting.manifest import Manifest, find_manifest
from lakeproof.accounting.run_directory import BREACH_FILE, CAPTURES_FOLDER, absolute_place
from lakeproof.accounting.storage import Storage, join, storage_for
from lakeproof.accounting.thresholds import EARLY_SAMPLES_MAX, ErrorThresholds
from lakeproof.engines.spark.accounting.captures import (
    FILTERED_KEYS,
    GROUPS,
    PARENT_CHILD,
    REVERSE_JOINS,
    Step,
)
from lakeproof.engines.spark.accounting.errors import ErrorCapture, Requirement
from lakeproof.engines.spark.accounting.source_keys import SOURCE
from lakeproof.errors import ErrorThresholdError, LedgerError
from lakeproof.faults import reach
from lakeproof.model.accounting import (
    AdjointType,
    Classification,
    Level,
    Lineage,
    OutputPartition,
    PartitionType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = [
    "AdjointConfig",
    "AdjointResult",
    "Requirement",
    "errors_with_adjoint",
    "explode_with_adjoint",
    "filter_with_adjoint",
    "group_by_with_adjoint",
]

_MORPHISM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, slots=True)
class AdjointConfig:
    """One step of a run: its name, and where and how its captures are kept.

    `output_path` lies in the run directory, or is it: the one that holds the manifest, which also
    says what is not given here. `AccountingLedger.adjoint` makes one. `source` names the input that
    all records of the frame are from, where the run has several. `capture_reverse_join=False` makes
    a grouping lossy. `records` are those of the input, of which `thresholds` are a share;
    `on_breach` is called when they are exceeded and all is written, before the error is raised.
    """

    morphism_id: str
    run_id: str
    output_path: str
    lineage: Lineage | str | None = None
    epoch: str | None = None
    level: Level | str | None = None
    capture_reverse_join: bool = True
    description: str = ""
    source: str = ""
    sink: str = ""
    thresholds: ErrorThresholds | None = None
    records: int | None = None
    on_breach: Callable[[ErrorThresholdError], None] | None = field(
        default=None, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not _MORPHISM_ID.fullmatch(self.morphism_id):
            raise LedgerError(
                f"morphism_id {self.morphism_id!r} is no slug, and files are named by it: 1 to 128 "
                "of a-z, A-Z, 0-9, '_' and '-', beginning with a letter or digit"
            )
        for name, kind in (("level", Level), ("lineage", Lineage)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, one_of(kind, given, name))

    @property
    def is_off(self) -> bool:
        """Whether the step keeps no books at all."""
        return self.level == Level.OFF


@dataclass(frozen=True, slots=True)
class AdjointResult:
    """What a step gives: the frame to go on with, and what it captured.

    `metadata` is the table of captured keys as it is stored, None if nothing was; `partitions` are
    for `AccountingLedger.add_result`.
    """

    output: DataFrame
    metadata: DataFrame | None
    classification: Classification
    partitions: tuple[OutputPartition, ...] = ()


def filter_with_adjoint(
    df: DataFrame,
    condition: Column | str,
    *,
    capture_filtered: bool = True,
    config: AdjointConfig,
) -> AdjointResult:
    """`df.filter(condition)`, with the key of each record that it drops, FALSE or NULL.

    Without capture the step is lossy: the ledger will report its records as missing.
    """
    if config.is_off or not capture_filtered:
        return _lossy(df.filter(condition))
    from lakeproof.engines.spark.accounting.filtered import capture_filtered_out

    run = _bind(config, df, FILTERED_KEYS)
    table = capture_filtered_out(df, condition, run.step)
    partitions = run.partitions(
        PartitionType.FILTERED,
        AdjointType.FilteredKeysMetadata,
        run.step.location(FILTERED_KEYS),
        f"Records dropped by {config.morphism_id}",
    )
    return AdjointResult(df.filter(condition), table, Classification.EMBEDDING, partitions)


def group_by_with_adjoint(
    df: DataFrame,
    group_cols: Sequence[str] | str,
    agg_exprs: Sequence[Column | str],
    config: AdjointConfig,
) -> AdjointResult:
    """`df.groupBy(*group_cols).agg(*agg_exprs)`, with a commitment of the records in each group.

    Computed by one action: the output reads what was written. Texts are SQL, as
    `sum(revenue) AS total`. No group columns make one group of all.
    """
    names = [group_cols] if isinstance(group_cols, str) else list(group_cols)
    aggregates = [agg_exprs] if isinstance(agg_exprs, str) else list(agg_exprs)
    if not aggregates:
        raise LedgerError(f"step {config.morphism_id!r}: name at least one aggregate")
    from lakeproof.engines.spark.accounting.groups import (
        capture_groups,
        ensure_one_source,
        plain_groups,
    )

    if config.is_off or not config.capture_reverse_join:
        return _lossy(plain_groups(df, names, aggregates))
    run = _bind(config, df, GROUPS, REVERSE_JOINS)
    if not config.source:
        ensure_one_source(df, run.step)
    captured = capture_groups(df, names, aggregates, run.step)
    is_full = captured.reverse_join is not None
    partitions = run.partitions(
        PartitionType.AGGREGATED,
        AdjointType.ReverseJoinMetadata if is_full else AdjointType.GroupCommitments,
        run.step.location(REVERSE_JOINS if is_full else GROUPS),
        f"Records aggregated by {config.morphism_id}",
        recompute=captured.members,
    )
    table = captured.groups if captured.reverse_join is None else captured.reverse_join
    return AdjointResult(captured.output, table, Classification.PROJECTION, partitions)


def explode_with_adjoint(
    df: DataFrame, column: str, config: AdjointConfig, output_column: str | None = None
) -> AdjointResult:
    """One row for each element of an array, as `withColumn(output_column, explode(column))`.

    The first child accounts for its parent. A record whose array is empty or NULL is captured as
    filtered. Without `output_column` the element takes the array's place.
    """
    from lakeproof.engines.spark.accounting.exploded import capture_exploded, plain_explode

    if config.is_off:
        return _lossy(plain_explode(df, column, output_column))
    run = _bind(config, df, FILTERED_KEYS, PARENT_CHILD)
    children, table = capture_exploded(df, column, output_column, run.step)
    partitions = run.partitions(
        PartitionType.FILTERED,
        AdjointType.FilteredKeysMetadata,
        run.step.location(FILTERED_KEYS),
        f"Records without elements in {column}",
    )
    return AdjointResult(children, table, Classification.PROJECTION, partitions)


def errors_with_adjoint(
    df: DataFrame, requirements: Sequence[Requirement], config: AdjointConfig
) -> AdjointResult:
    """The records that meet all requirements; each other one is written as an error record.

    First of all fail lines that could not be parsed and records without a readable key; then the
    first requirement that is false or NULL decides. With thresholds, ErrorThresholdError is raised:
    before anything but samples is written if the first rows are bad, else after all is written.

    At level OFF nothing tells a line that could not be parsed or a missing key: only the
    requirements are applied, and such records go on as Spark's reader gives them, with NULLs.
    """
    from lakeproof.engines.spark.accounting.errors import error_capture, plain_requirements

    if config.is_off:
        return _lossy(plain_requirements(df, requirements))
    run = _bind(config, df)
    run.ensure_unmarked()
    capture = error_capture(df, requirements, run.step)
    if config.thresholds is not None:
        _stop_early(capture, config.thresholds, run)
    capture.write()
    run.mark()
    if config.thresholds is not None:
        _stop_late(capture, config.thresholds, run)
    partitions = run.partitions(
        PartitionType.ERROR,
        AdjointType.ErrorRecords,
        run.step.errors_location,
        f"Records that failed {config.morphism_id}",
    )
    return AdjointResult(capture.live(), capture.stored(), Classification.EMBEDDING, partitions)


# ------------------------------------------------------------------------------------------ beneath

_VERIFICATIONS: Final = {
    AdjointType.FilteredKeysMetadata: "All filtered keys captured with filter predicate",
    AdjointType.ReverseJoinMetadata: "All source keys recoverable via backward traversal",
    AdjointType.GroupCommitments: "Source keys derivable and checked by each group's commitment",
    AdjointType.ErrorRecords: "All error records have source_key linking to input",
}


@dataclass(frozen=True, slots=True)
class _BoundStep:
    """A step with the run it belongs to."""

    step: Step
    config: AdjointConfig
    sources: tuple[str, ...]
    storage: Storage

    def partitions(
        self,
        kind: PartitionType,
        adjoint: AdjointType,
        location: str,
        description: str,
        **fields: Any,  # noqa: ANN401 - those of OutputPartition
    ) -> tuple[OutputPartition, ...]:
        """The captured records as partitions: one, or one for each input that they may be from."""
        partition = OutputPartition(
            kind,
            self.config.description or description,
            None,
            adjoint,
            location,
            _VERIFICATIONS[adjoint],
            morphism_id=self.config.morphism_id,
            sink=self.config.sink,
            **fields,
        )
        return tuple(replace(partition, source=source) for source in self.sources)

    @property
    def _mark(self) -> str:
        return join(self.step.directory, CAPTURES_FOLDER, f"{self.step.morphism_id}.json")

    def ensure_unmarked(self) -> None:
        """Error records of all steps share one folder: which have written there is noted apart."""
        if self.storage.exists(self._mark):
            raise _twice(self.step)

    def mark(self) -> None:
        self.storage.write_new(self._mark, b"{}\n")

    def fail(
        self, breach: str, advice: str, errors: int, records: int, *, structural: bool
    ) -> NoReturn:
        """Note for whoever verifies that the run is over, then raise; the first note stays."""
        told = f"step {self.step.morphism_id!r}: {breach}"
        place = join(self.step.directory, BREACH_FILE)
        if not self.storage.exists(place):
            noted = {"breach": told, "errors": errors, "records": records}
            self.storage.write_new(place, f"{json.dumps(noted, ensure_ascii=False)}\n".encode())
        reach("after_breach")
        problem = ErrorThresholdError(
            f"{told}. {advice}", errors=errors, records=records, structural=structural
        )
        if self.config.on_breach is not None:
            self.config.on_breach(problem)
        raise problem


def _lossy(output: DataFrame) -> AdjointResult:
    return AdjointResult(output, None, Classification.LOSSY)


def _bind(config: AdjointConfig, df: DataFrame, *kinds: str) -> _BoundStep:
    """The step with what the run's manifest says; refuses one whose captures are there already."""
    storage = storage_for(config.output_path, df.sparkSession)
    directory, manifest = find_manifest(config.output_path, storage)
    _ensure_same_run(config, manifest, directory)
    step = Step(
        morphism_id=config.morphism_id,
        run_id=config.run_id,
        epoch=config.epoch or manifest.epoch,
        directory=absolute_place(directory),
        salt=manifest.salt,
        level=manifest.level,
        lineage=Lineage(config.lineage or manifest.lineage),
        started_at=manifest.started_at,
        openlineage_run_id=manifest.openlineage_run_id,
    )
    if any(storage.files(step.location(kind)) for kind in kinds):
        raise _twice(step)
    return _BoundStep(step, config, _sources(config, manifest, df), storage)


def _ensure_same_run(config: AdjointConfig, manifest: Manifest, directory: str) -> None:
    if config.run_id != manifest.run_id:
        raise LedgerError(
            f"step {config.morphism_id!r} is of run {config.run_id!r}, and {directory} belongs to "
            f"run {manifest.run_id!r}. Give the directory of the step's own run"
        )
    if config.level is not None and config.level != manifest.level:
        raise LedgerError(
            f"step {config.morphism_id!r} has level {config.level}, and its run {manifest.level}: "
            "one run has one level. Leave it out here"
        )


def _sources(config: AdjointConfig, manifest: Manifest, df: DataFrame) -> tuple[str, ...]:
    """Which inputs the records may be from; '' is the only one."""
    known = [item.name for item in manifest.inputs]
    if config.source and known and config.source not in known:
        raise LedgerError(
            f"step {config.morphism_id!r} names the source {config.source!r}; its run has "
            f"{', '.join(map(repr, known))}. Name one of them"
        )
    if config.source or SOURCE not in df.columns:
        return (config.source,)
    return tuple(known) or ("",)


def _twice(step: Step) -> LedgerError:
    return LedgerError(
        f"step {step.morphism_id!r} has captured already in run {step.run_id!r}, and its records "
        "would count twice. Give each step of a run a morphism_id of its own, or begin a new run "
        "in a new directory"
    )


def _stop_early(capture: ErrorCapture, thresholds: ErrorThresholds, run: _BoundStep) -> None:
    """Judge the first rows before anything is written; samples are kept if they are too bad."""
    if not thresholds.is_early:
        return
    errors, rows = capture.first_errors(thresholds.early_rows)
    breach = thresholds.early_breach(errors, rows)
    if breach:
        capture.write_samples(thresholds.early_rows, EARLY_SAMPLES_MAX)
        run.mark()
        advice = f"Samples are in {run.step.errors_location}"
        run.fail(breach, advice, errors, rows, structural=True)


def _stop_late(capture: ErrorCapture, thresholds: ErrorThresholds, run: _BoundStep) -> None:
    """Judge all error records of the run, as they are stored."""
    errors = capture.stored_errors()
    given = run.config.records
    records = capture.records() if given is None else given
    breach = thresholds.breach(errors, records)
    if breach:
        advice = (
            f"All error records of the run are in {run.step.errors_location}; mend what they tell, "
            "then begin a new run"
        )
        run.fail(breach, advice, errors, records, structural=False)
