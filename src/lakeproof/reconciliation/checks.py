"""The comparisons of two tables, one class each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lakeproof.checks.checksum_reconciliation import METADATA_PATTERNS
from lakeproof.checks.reconciliation import count_numbers
from lakeproof.config import Config
from lakeproof.model.pairing import PairFound
from lakeproof.reconciliation.pair import PairOfTables, Table
from lakeproof.reconciliation.result import QualityCheckResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeproof.planning.partitions import Partition
    from lakeproof.running.progress import Listener

Names = str | Sequence[str]
"""Columns; a text is one of them."""


@dataclass(frozen=True, slots=True)
class ReconciliationCheck(PairOfTables):
    """The target has as many rows as the source; with `rowcount_gte`, at least as many."""

    _: KW_ONLY
    check_type: str = "rowcount_parity"

    kind: ClassVar[str] = "reconciliation"
    title: ClassVar[str] = "Row count reconciliation"

    def numbers(self, found: PairFound) -> Mapping[str, int | float | None]:
        return count_numbers(found)


@dataclass(frozen=True, slots=True)
class AggregateConsistencyCheck(PairOfTables):
    """A column of the target holds what `source_expression` gives, in each group.

    Without `group_by`, a target of several rows is summed if the expression is one SUM or COUNT;
    for any other, `target_expression` says how it is aggregated.
    """

    aggregate_column: str
    source_expression: str
    _: KW_ONLY
    group_by: Names = ()
    target_expression: str | None = None

    kind: ClassVar[str] = "aggregate_consistency"
    title: ClassVar[str] = "Aggregate consistency"
    metrics: ClassVar[tuple[str, ...]] = ("mismatches", "total_checked")

    def default_name(self) -> str:
        return f"{self.kind}_{self.aggregate_column}"


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """One of several aggregates: `expression` over the source, its value in `target_column`.

    `target_expression` is for a target that is aggregated in a way of its own.
    """

    name: str
    expression: str
    target_column: str
    target_expression: str | None = None


@dataclass(frozen=True, slots=True)
class MultiAggregateConsistencyCheck(PairOfTables):
    """Several columns of the target hold what aggregates over the source give, in each group.

    It passes only if all of them do in every group. An aggregate may be a mapping with the fields
    of `AggregateSpec`.
    """

    aggregates: Sequence[AggregateSpec | Mapping[str, str]]
    _: KW_ONLY
    group_by: Names = ()

    kind: ClassVar[str] = "multi_aggregate_consistency"
    title: ClassVar[str] = "Multi-aggregate consistency"
    metrics: ClassVar[tuple[str, ...]] = ("mismatches", "total_checked")

    def default_name(self) -> str:
        return self.kind

    def argument(self, name: str) -> object:
        given = getattr(self, name)
        if name != "aggregates" or not isinstance(given, (list, tuple)):
            return given
        return [asdict(one) if isinstance(one, AggregateSpec) else one for one in given]


@dataclass(frozen=True, slots=True)
class KeyParityCheck(PairOfTables):
    """Both tables have the same keys, however often each occurs."""

    key_columns: Names
    _: KW_ONLY
    key_cast: Mapping[str, str] | None = None
    assume_timezone: str | None = None
    null_keys: str = "count"
    output_table: str | None = None

    kind: ClassVar[str] = "key_parity"
    title: ClassVar[str] = "Key parity"
    metrics: ClassVar[tuple[str, ...]] = (
        "missing_in_target",
        "missing_in_source",
        "total_keys",
        "mismatch_pct",
    )


@dataclass(frozen=True, slots=True)
class ChecksumReconciliationCheck(PairOfTables):
    """Both tables have the same rows, known by their key and compared by a hash of their values.

    `columns` are those to compare; by default all of the target but those that loading tools add.
    """

    key_columns: Names
    _: KW_ONLY
    columns: Names | None = None
    hash_algorithm: str = "xxhash64"
    float_precision: int | None = 6
    timestamp_precision: str | None = None
    column_tolerances: Mapping[str, float | Mapping[str, float]] | None = None
    normalize: Mapping[str, Names] | None = None
    unordered_arrays: Names = ()
    exclude_columns: Names = ()
    metadata_patterns: Names = METADATA_PATTERNS
    key_cast: Mapping[str, str] | None = None
    assume_timezone: str | None = None
    schema: str = "strict"
    sample: float | None = None
    limit: int | None = None
    duplicate_policy: str = "fail"
    null_keys: str = "count"
    output_table: str | None = None
    method: str = "auto"

    kind: ClassVar[str] = "checksum_reconciliation"
    title: ClassVar[str] = "Checksum reconciliation"
    metrics: ClassVar[tuple[str, ...]] = (
        "missing_in_target",
        "missing_in_source",
        "hash_mismatches",
        "total_compared",
        "total_keys",
        "mismatch_pct",
        "shared_keys",
        "duplicate_keys",
        "surplus_rows",
        "source_rows",
        "target_rows",
    )

    def compared_columns(self) -> Names | None:
        return self.columns


def reconcile(
    spark: SparkSession,
    source: Table,
    target: Table,
    *,
    key: Names,
    columns: Names | None = None,
    partition: Partition | None = None,
    config: Config | None = None,
    listener: Listener | None = None,
    **options: Any,  # noqa: ANN401 (the fields of the class, which checks them)
) -> QualityCheckResult:
    """Compare two tables row by row, now: what differs, by key and column.

    `options` are the other fields of `ChecksumReconciliationCheck`.
    """
    check = ChecksumReconciliationCheck(source, target, key, columns=columns, **options)
    return check.run(spark, partition, config=config, listener=listener)
