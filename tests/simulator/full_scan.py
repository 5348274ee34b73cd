"""The oracle: what a scan of whole tables says, in plain loops that know nothing of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from meaning import Meaning, parent_key
from memory_table import Row

from lakeproof.model.outcome import CheckStatus
from lakeproof.model.weighing import Side, WeighKind


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of one rule: its result, its violations by key, the weights of its keys."""

    failing_rows: int
    total_rows: int
    status: CheckStatus
    violations: Mapping[str, int]
    weights: Mapping[tuple[Side, str], int]


def truth_of(meaning: Meaning, orders: Mapping[Row, int], codes: Mapping[Row, int]) -> Truth:
    """The rule over the rows of both tables."""
    scope = [row for row, count in orders.items() for _ in range(count) if meaning.scope(row)]
    parents = Counter(
        key for row, count in codes.items() for _ in range(count) if (key := parent_key(row))
    )
    weights: dict[tuple[Side, str], int] = {}
    if meaning.kind in {WeighKind.ROW, None}:
        bad = Counter(str(meaning.key(row)) for row in scope if meaning.violates(row))
        violations = dict(bad)
        failing = sum(bad.values())
    else:
        bad = Counter(key for row in scope if (key := meaning.key(row)) is not None)
        violations = _violations(meaning, bad, parents)
        failing = len(violations)
        if meaning.kind is WeighKind.REFERENCE:
            failing = sum(violations.values())
            weights = {(Side.PARENT, key): count for key, count in parents.items()}
    weights |= {(Side.OWN, key): count for key, count in bad.items()}
    if meaning.kind is WeighKind.COUNT:
        low, high = meaning.rule.arguments["min_count"], meaning.rule.arguments["max_count"]
        failing = 0 if low <= len(scope) <= high else 1
    is_fine = failing == 0 or (meaning.rule.key == "small" and failing <= 0.5 * len(scope))
    status = CheckStatus.PASSED if is_fine else CheckStatus.FAILED
    return Truth(failing, len(scope), status, violations, weights)


def _violations(
    meaning: Meaning, counts: Mapping[str, int], parents: Mapping[str, int]
) -> dict[str, int]:
    if meaning.kind is WeighKind.REFERENCE:
        return {key: count for key, count in counts.items() if not parents.get(key)}
    return {key: count for key, count in counts.items() if count > 1 or meaning.is_bad_by_null(key)}
