"""The document of a run, out of its manifest, what was measured and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

from lakeproof.accounting.document import LEDGER_VERSION, Ledger
from lakeproof.accounting.judging import Verdict, method_of
from lakeproof.accounting.manifest import Manifest, manifest_to_json
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    InputAccounting,
    Level,
    OutputAccounting,
    OutputPartition,
    Verification,
)


def compose_ledger(
    manifest: Manifest,
    inputs: Sequence[InputAccounting],
    partitions: Sequence[OutputPartition],
    verdict: Verdict,
) -> Ledger:
    """What `ledger.json` says, or `ledger.failed.json`; its place and name are the caller's."""
    found = verdict if isinstance(verdict, AccountingDiscrepancy) else None
    short = max(0, verdict.input_count - verdict.accounted_count)
    return Ledger(
        ledger_version=LEDGER_VERSION,
        run_id=manifest.run_id,
        input_dataset="",
        input_accounting=inputs[0],
        output_accounting=OutputAccounting(tuple(partitions), verdict.accounted_count, short),
        verification=_unbalanced(verdict, manifest.level)
        if isinstance(verdict, AccountingDiscrepancy)
        else verdict,
        level=manifest.level,
        lineage=manifest.lineage,
        salt=manifest.salt,
        started_at=manifest.started_at,
        finished_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        openlineage_run_id=manifest.openlineage_run_id,
        inputs=tuple(inputs),
        discrepancy=found,
        manifest_sha256=sha256(manifest_to_json(manifest).encode()).hexdigest(),
    )


def _unbalanced(found: AccountingDiscrepancy, level: Level) -> Verification:
    """What the seed's fields say of a run whose books do not balance."""
    return Verification(
        accounting_balanced=False,
        proof_method=method_of(level),
        input_count=found.input_count,
        accounted_count=found.accounted_count,
        partition_counts=found.partition_counts,
        level=level,
        accounts=found.accounts,
    )
