"""Ledgers made by hand: the numbers of the airline run, balanced and not."""

from __future__ import annotations

from dataclasses import replace

from lakeproof.accounting.document import Ledger, ledger_to_json
from lakeproof.accounting.manifest import (
    ManifestInput,
    RunSettings,
    manifest_to_json,
    new_manifest,
)
from lakeproof.model.accounting import (
    PROOF_METHOD,
    AccountingDiscrepancy,
    AdjointType,
    DatasetPosition,
    InputAccounting,
    KeyColumn,
    KeyUniqueness,
    Level,
    Lineage,
    OutputAccounting,
    OutputPartition,
    PartitionType,
    Verification,
)

PARTITIONS = (
    OutputPartition(
        PartitionType.AGGREGATED,
        "Records aggregated into daily summaries",
        345_000,
        AdjointType.GroupCommitments,
        "adjoint/groups/daily.parquet",
        morphism_id="daily",
    ),
    OutputPartition(
        PartitionType.FILTERED,
        "Records filtered by ticket_price <= 0",
        4_000,
        AdjointType.FilteredKeysMetadata,
        "adjoint/filtered_keys/positive_price_filter.parquet",
        morphism_id="positive_price_filter",
    ),
    OutputPartition(
        PartitionType.ERROR,
        "Records that failed parsing or validation",
        660,
        AdjointType.ErrorRecords,
        "errors/",
    ),
)
COUNTS = {"AGGREGATED": 345_000, "FILTERED": 4_000, "ERROR": 660}

BALANCED = Ledger(
    ledger_version="1.1",
    run_id="baseline-test",
    input_dataset="data/airline-clean",
    input_accounting=InputAccounting(
        total_records=349_660,
        source_key_field="segment_id",
        input_hash="sha256:0f",
        key=(KeyColumn("segment_id", "string"),),
        distinct_keys=349_510,
        null_keys=150,
        position=DatasetPosition("files", "data/airline-clean", "json"),
    ),
    output_accounting=OutputAccounting(PARTITIONS, 349_660),
    verification=Verification(
        accounting_balanced=True,
        proof_method=PROOF_METHOD,
        input_count=349_660,
        accounted_count=349_660,
        partition_counts=COUNTS,
    ),
    finished_at="2026-03-01T10:05:00+00:00",
)

UNBALANCED = replace(
    BALANCED,
    output_accounting=OutputAccounting(PARTITIONS, 349_660),
    verification=replace(BALANCED.verification, accounting_balanced=False),
    discrepancy=AccountingDiscrepancy(
        "Missing 2 keys from input (silently dropped); Found 1 keys not in input (unexpected "
        "records); Found 1 duplicate keys across partitions",
        missing_keys=("BKG_007", "BKG_008"),
        extra_keys=("GHOST",),
        duplicate_keys={"BKG_001": ("AGGREGATED(daily)", "ERROR")},
        input_count=349_660,
        accounted_count=349_660,
        missing_count=2,
        extra_count=1,
        duplicate_count=1,
        partition_counts=COUNTS,
        lists_location="discrepancy",
    ),
)


def write_run(directory, ledger):
    """The ledger in its directory, under the name that its verdict gives it."""
    directory.mkdir(parents=True, exist_ok=True)
    name = "ledger.json" if ledger.discrepancy is None else "ledger.failed.json"
    (directory / name).write_text(ledger_to_json(ledger), encoding="utf-8")
    return directory


def write_manifest(directory, ledger):
    """What a run that was killed leaves behind."""
    source = ledger.input_accounting
    manifest = new_manifest(
        ledger.run_id,
        RunSettings(Level.COMMIT, Lineage.KEY_DERIVABLE, KeyUniqueness.REQUIRE),
        (ManifestInput("", source.position, source.key),),
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "manifest.json").write_text(manifest_to_json(manifest), encoding="utf-8")
    return directory
