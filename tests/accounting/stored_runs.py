"""A finished run made by hand, without Spark: the books of ten bookings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakeproof.accounting.document import Ledger, ledger_to_json, load_ledger
from lakeproof.accounting.manifest import (
    ManifestInput,
    RunSettings,
    manifest_to_json,
    new_manifest,
)
from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.key_text import Summer
from lakeproof.model.accounting import (
    PROOF_METHOD,
    Account,
    AdjointType,
    Commitment,
    DatasetPosition,
    InputAccounting,
    KeyColumn,
    Level,
    Lineage,
    OutputAccounting,
    OutputPartition,
    PartitionType,
    Verification,
    input_hash_of,
)

SALT = "00112233445566778899aabbccddeeff"
KEY = (KeyColumn("id", "string"),)
SCHEMA = (("id", "string"), ("day", "date"), ("price", "integer"))
DAYS = (date(2024, 1, 30), date(2024, 1, 31))
MALFORMED = '{"id":"B9"'

FILTERED = "adjoint/filtered_keys/positive.parquet"
GROUPS = "adjoint/groups/daily.parquet"
JOINED = "adjoint/reverse_joins/daily.parquet"
STEP = {"morphism_id": "daily", "run_id": "r", "epoch": "e"}


def bookings() -> list[str]:
    """B0 to B7 are good, four on each day; B8 has no price; the last line breaks off."""
    good = [{"id": f"B{at}", "day": DAYS[at % 2].isoformat(), "price": 10 + at} for at in range(8)]
    return [json.dumps(one) for one in [*good, {"id": "B8", "day": "2024-01-30"}]] + [MALFORMED]


def committed(keys: Iterable[str], level: Level = Level.COMMIT) -> Commitment:
    summer = Summer(SALT, level)
    summer.add_all(keys)
    return summer.commitment


def write_table(place: Path, rows: Sequence[Mapping[str, object]], schema=None) -> None:
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), place / "part-0.parquet")


def position(root: Path, location: str, format_name: str) -> DatasetPosition:
    storage, place = LocalStorage(), str(root / location)
    files = storage.digest(place, storage.files(place))
    return DatasetPosition("files", location, format_name, files=files)


def schema_text(fields: Iterable[tuple[str, str]] = SCHEMA) -> str:
    return json.dumps(
        {
            "type": "struct",
            "fields": [
                {"name": name, "type": kind, "nullable": True, "metadata": {}}
                for name, kind in fields
            ],
        }
    )


def malformed_identity() -> str:
    return f"@part-0.json#{sha256(MALFORMED.encode()).hexdigest()}"


def write_groups(directory: Path, members: Mapping[date, Sequence[str]], level: Level) -> None:
    rows = []
    for day, keys in members.items():
        found = committed(keys, level)
        limbs = {f"limb_{at}": limb for at, limb in enumerate(found.limbs)}
        rows.append(
            {
                "group_key": {"day": day},
                "output": {"flights": len(keys)},
                "records": len(keys),
                "rows": len(keys),
                **limbs,
                **STEP,
            }
        )
    write_table(directory / GROUPS, rows)


def make_run(
    folder: Path, *, level: Level = Level.COMMIT, lineage: Lineage = Lineage.KEY_DERIVABLE
) -> Path:
    """The run directory; the input is beside it in `input`."""
    dataset, run = folder / "input", folder / "run"
    dataset.mkdir(parents=True)
    (dataset / "part-0.json").write_text("".join(f"{one}\n" for one in bookings()))
    members = {day: [f"B{at}" for at in range(8) if DAYS[at % 2] == day] for day in DAYS}
    write_groups(run, members, level)
    joined = [
        {"group_key": {"day": day}, "source_key": key, "_lakeproof_weight": 1, **STEP}
        for day, keys in members.items()
        for key in keys
    ]
    if lineage is Lineage.FULL:
        write_table(run / JOINED, joined)
    told = {"filter_predicate": "price > 0", "reason": "PREDICATE_NULL", "_lakeproof_weight": 1}
    write_table(run / FILTERED, [{"source_key": "B8", **told, **STEP, "morphism_id": "positive"}])
    errors = run / "errors" / "error_type=parse"
    errors.mkdir(parents=True)
    record = {
        "source_key": malformed_identity(),
        "morphism_path": "rules/well_formed",
        "error_code": "MALFORMED_RECORD",
        "expected": "a JSON object",
        "_lakeproof_weight": 1,
    }
    (errors / "part-0.json").write_text(json.dumps(record) + "\n")
    (run / "errors" / "_summary.json").write_text("{}")
    _write_books(folder, run, level, lineage)
    return run


def _write_books(folder: Path, run: Path, level: Level, lineage: Lineage) -> None:
    good = [f"B{at}" for at in range(8)]
    aggregated = (
        (AdjointType.ReverseJoinMetadata, JOINED)
        if lineage is Lineage.FULL
        else (AdjointType.GroupCommitments, GROUPS)
    )
    partitions = [
        (PartitionType.AGGREGATED, *aggregated, "daily", good),
        (
            PartitionType.FILTERED,
            AdjointType.FilteredKeysMetadata,
            FILTERED,
            "positive",
            ["B8"],
        ),
        (PartitionType.ERROR, AdjointType.ErrorRecords, "errors", "", [malformed_identity()]),
    ]
    measured = tuple(
        OutputPartition(
            kind,
            "",
            len(keys),
            adjoint,
            location,
            morphism_id=morphism,
            commitment=committed(keys, level),
            position=position(run, location, "json" if location == "errors" else "parquet"),
            groups=position(run, GROUPS, "parquet") if location == JOINED else None,
        )
        for kind, adjoint, location, morphism, keys in partitions
    )
    pinned = replace(
        position(folder, "input", "json"),
        location=str(folder / "input"),
        schema_text=schema_text(),
    )
    every = [*good, "B8", malformed_identity()]
    source = InputAccounting(
        total_records=10,
        source_key_field="id",
        input_hash=input_hash_of(pinned),
        key=KEY,
        distinct_keys=9,
        null_keys=1,
        commitment=committed(every, level),
        position=pinned,
        name="input",
    )
    manifest = new_manifest(
        "by-hand",
        RunSettings(level, lineage, source.key_uniqueness),
        (ManifestInput("input", pinned, KEY),),
    )
    manifest = replace(manifest, salt=SALT)
    (run / "manifest.json").write_text(manifest_to_json(manifest))
    write_ledger(
        run,
        Ledger(
            ledger_version="1.1",
            run_id="by-hand",
            input_dataset=pinned.location,
            input_accounting=source,
            output_accounting=OutputAccounting(measured, 10, 0),
            verification=Verification(
                accounting_balanced=True,
                proof_method=PROOF_METHOD,
                input_count=10,
                accounted_count=10,
                partition_counts={"AGGREGATED": 8, "FILTERED": 1, "ERROR": 1},
                distinct_keys=9,
                level=level,
                accounts=(Account("input", "", 10, 10, balanced=True),),
            ),
            level=level,
            lineage=lineage,
            salt=SALT,
            started_at=manifest.started_at,
            openlineage_run_id=manifest.openlineage_run_id,
            inputs=(source,),
            manifest_sha256=sha256((run / "manifest.json").read_bytes()).hexdigest(),
        ),
    )


def write_ledger(run: Path, ledger: Ledger, name: str = "ledger.json") -> None:
    (run / name).write_text(ledger_to_json(ledger), encoding="utf-8")


def edit_ledger(run: Path, edit) -> None:
    """Change the document as somebody does who makes its digest again."""
    write_ledger(run, edit(load_ledger(run)))
