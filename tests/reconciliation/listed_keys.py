"""A comparison with all the keys that it lists, not only the samples of its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from unittest.mock import patch

from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.model.names import quote
from lakeproof.preparing import compare_one
from lakeproof.reconciliation import QualityCheckResult
from lakeproof.reconciliation.result import result_of


@dataclass(frozen=True)
class ListedKey:
    """What the list of differing keys says of one."""

    kind: str
    source_rows: int
    target_rows: int
    differing: frozenset[str]


@dataclass(frozen=True)
class Comparison:
    """What `check.run` gives, the differing keys by the values of their columns, and violations.

    Of a violation, the rows behind its key and its share of the mismatches.
    """

    result: QualityCheckResult
    keys: Mapping[tuple[object, ...], ListedKey] = field(default_factory=dict)
    violations: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def compare(spark, check, partition=None) -> Comparison:
    """Run the check, and read its views before they are released: afterwards they cost a scan."""
    released = []
    release = SparkEngine.release_pair

    def later(*given, **how) -> None:
        released.append((given, how))

    with patch.object(SparkEngine, "release_pair", later):
        result, found = compare_one(spark, check, partition=partition)
    assert found is not None, result.details
    told = result_of(check.metric_name, check.title, check.numbers(found), result, found)
    keys, violations = {}, {}
    if found.view:
        keys = _listed(spark, found.view, len(told.metadata["key_columns"]))
        violations = _violations(spark, found.view)
        assert sum(excess for _, excess in violations.values()) == found.mismatches
        assert len(violations) == len(keys)
    for given, how in released:
        release(*given, **how)
    return Comparison(told, keys, violations)


def compared_keys(spark, check, partition=None) -> tuple[QualityCheckResult, Mapping]:
    """The result, and the differing keys by the values of their columns."""
    compared = compare(spark, check, partition)
    return compared.result, compared.keys


def _listed(spark, view: str, width: int) -> dict[tuple[object, ...], ListedKey]:
    rows = spark.table(quote(f"{view}_differences")).collect()
    keys = {
        tuple(row[:width]): ListedKey(
            row["difference"],
            row["source_rows"],
            row["target_rows"],
            frozenset(row["differing_columns"]),
        )
        for row in rows
    }
    assert len(keys) == len(rows), "a key is listed once"
    return keys


def _violations(spark, view: str) -> dict[str, tuple[int, int]]:
    rows = spark.table(quote(view)).collect()
    assert all(row.observed for row in rows)
    return {row.violation_key: (row.occurrences, row.excess) for row in rows}
