"""Two tables agree, or you see where they do not."""

from __future__ import annotations

from lakeproof.reconciliation.checks import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    ReconciliationCheck,
    reconcile,
)
from lakeproof.reconciliation.result import QualityCheckResult

__all__ = [
    "AggregateConsistencyCheck",
    "AggregateSpec",
    "ChecksumReconciliationCheck",
    "KeyParityCheck",
    "MultiAggregateConsistencyCheck",
    "QualityCheckResult",
    "ReconciliationCheck",
    "reconcile",
]
