"""The numbers of a comparison, put together from what its passes counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from lakeproof.engines.spark.pairs.differences import Differences
from lakeproof.engines.spark.pairs.hash_join import JoinFound
from lakeproof.engines.spark.pairs.rows import PairRows
from lakeproof.model.pairing import ColumnMatch, DuplicatePolicy, Method, PairFound

_Z: Final = 1.96
"""Of a confidence of 95 %."""


@dataclass(frozen=True, slots=True)
class KeyTotals:
    """What is known of all keys, whatever the method; None where nobody has counted.

    `total_keys` and `shared_keys` are those of the duplicate policy.
    """

    source_rows: int
    target_rows: int
    total_keys: int
    shared_keys: int
    duplicate_keys: int | None = 0
    duplicate_keys_source: int | None = 0
    duplicate_keys_target: int | None = 0
    null_keys_source: int | None = None
    null_keys_target: int | None = None
    uncastable_keys: int = 0


def totals_of_join(joined: JoinFound) -> KeyTotals:
    """The totals as the hash join has them."""
    return KeyTotals(
        source_rows=joined.source_rows,
        target_rows=joined.target_rows,
        total_keys=joined.total_keys,
        shared_keys=joined.shared_keys,
        duplicate_keys=joined.duplicate_keys,
        duplicate_keys_source=joined.duplicate_keys_source,
        duplicate_keys_target=joined.duplicate_keys_target,
        null_keys_source=joined.null_keys_source,
        null_keys_target=joined.null_keys_target,
        uncastable_keys=joined.uncastable_keys,
    )


def totals_of_rows(
    policy: DuplicatePolicy, source_rows: int, target_rows: int, unequal_copies: int
) -> KeyTotals:
    """The totals out of row counts alone, if no key repeats or copies are what is counted.

    The larger and the smaller number of copies of each key add up to all rows, and lie apart by
    `unequal_copies`.
    """
    all_rows = source_rows + target_rows
    uncounted = None if policy is DuplicatePolicy.MULTISET else 0
    return KeyTotals(
        source_rows=source_rows,
        target_rows=target_rows,
        total_keys=(all_rows + unequal_copies) // 2,
        shared_keys=(all_rows - unequal_copies) // 2,
        duplicate_keys=uncounted,
        duplicate_keys_source=uncounted,
        duplicate_keys_target=uncounted,
    )


def pair_found(
    rows: PairRows,
    totals: KeyTotals,
    differences: Differences | None,
    method: Method,
    facts: Mapping[str, object],
) -> PairFound:
    """What the comparison found; `facts` is what its metadata says besides."""
    step = rows.step
    mismatches = differences.excess if differences else 0
    surplus = differences.surplus_rows if differences else 0
    counts_copies = step.duplicates is DuplicatePolicy.MULTISET and not step.as_sets
    total = totals.total_keys if counts_copies else totals.total_keys + surplus
    numbers: dict[str, int | float | None] = {
        "missing_in_target": differences.missing_in_target if differences else 0,
        "missing_in_source": differences.missing_in_source if differences else 0,
        "hash_mismatches": differences.changed if differences else 0,
        "total_compared": total,
        "total_keys": totals.total_keys,
        "mismatch_pct": mismatches / total if total else 0.0,
        "shared_keys": totals.shared_keys,
        "duplicate_keys": None if counts_copies else totals.duplicate_keys,
        "surplus_rows": surplus,
        "source_rows": totals.source_rows,
        "target_rows": totals.target_rows,
    }
    return PairFound(
        numbers=numbers,
        mismatches=mismatches,
        total=total,
        view=step.view if mismatches else "",
        columns=_columns(rows, totals, differences),
        samples=differences.samples if differences else (),
        metadata={
            **_metadata(rows, totals, method),
            **_sampled(step.notes.get("sample"), totals.total_keys, mismatches, total),
            "compared_rows": _compared_rows(totals, differences),
            **facts,
        },
    )


def without_verdict(rows: PairRows, totals: KeyTotals, method: Method, error: str) -> PairFound:
    """The numbers were counted, but say nothing of whether the tables agree."""
    return PairFound({}, 0, 0, metadata=_metadata(rows, totals, method), error=error)


def _columns(
    rows: PairRows, totals: KeyTotals, differences: Differences | None
) -> tuple[ColumnMatch, ...]:
    compared = _compared_rows(totals, differences)
    if differences is None:
        return tuple(ColumnMatch(column.name, 0, compared) for column in rows.step.columns)
    return tuple(replace(column, compared=compared) for column in differences.columns)


def _compared_rows(totals: KeyTotals, differences: Differences | None) -> int:
    """The rows that both sides have, key by key."""
    unequal = differences.unequal_copies if differences else 0
    return max((totals.source_rows + totals.target_rows - unequal) // 2, 0)


def _metadata(rows: PairRows, totals: KeyTotals, method: Method) -> dict[str, object]:
    step = rows.step
    is_empty = not totals.source_rows and not totals.target_rows
    is_narrowed = bool(step.source.where or step.target.where)
    return {
        **step.notes,
        "method": method.value,
        "planned_method": step.method.value,
        "method_reason": step.method_reason,
        "limit_applied": rows.limit_applied,
        "empty": is_empty,
        **({"empty_reason": "selection" if is_narrowed else "tables"} if is_empty else {}),
        "null_keys_source": totals.null_keys_source,
        "null_keys_target": totals.null_keys_target,
        "duplicate_keys_source": totals.duplicate_keys_source,
        "duplicate_keys_target": totals.duplicate_keys_target,
        "uncastable_keys": totals.uncastable_keys,
    }


def _sampled(sample: object, keys: int, mismatches: int, total: int) -> dict[str, object]:
    """How many keys a sample had, and how large the share of bad ones in the tables may be."""
    if sample is None:
        return {}
    return {"sampled_keys": keys, "mismatch_pct_max": wilson_upper_bound(mismatches, total)}


def wilson_upper_bound(hits: int, trials: int) -> float:
    """The upper end of Wilson's interval of 95 %; 1 if nothing was tried."""
    if not trials:
        return 1.0
    share, wide = hits / trials, _Z * _Z / trials
    spread = _Z * sqrt(share * (1 - share) / trials + wide / (4 * trials))
    return min(1.0, (share + wide / 2 + spread) / (1 + wide))
