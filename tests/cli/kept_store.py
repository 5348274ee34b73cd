"""A Delta store in a folder, written without Spark, as a run would have left it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import write_deltalake

from lakeproof.config import STATE_TABLES
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.standing import Standing
from lakeproof.state.statements import result_row
from lakeproof.state.tables import (
    COUNT,
    FLAG,
    MOMENT,
    NUMBER,
    NUMBERS,
    SMALL,
    TABLES,
    TEXT,
    TEXTS,
    WORDS,
)

if TYPE_CHECKING:
    from pathlib import Path

ARROW = {
    FLAG: pa.bool_(),
    TEXT: pa.string(),
    TEXTS: pa.list_(pa.string()),
    COUNT: pa.int64(),
    SMALL: pa.int32(),
    NUMBER: pa.float64(),
    NUMBERS: pa.map_(pa.string(), pa.float64()),
    WORDS: pa.map_(pa.string(), pa.string()),
    MOMENT: pa.timestamp("us"),
}
MOMENT_FIRST = datetime(2025, 1, 1)  # noqa: DTZ001 (state tables hold UTC without zone)


def kept_result(name, run, status=CheckStatus.PASSED, **fields):
    base = CheckResult(
        check_name=name,
        check_type="positive",
        table_name="sales",
        column_name="amount",
        status=status,
        failing_rows=0,
        total_rows=10,
        details="none of 10 rows have amount not above 0",
        executed_at=f"2025-01-{run:02} 03:04:05.000000",
        run_id=f"run-{run}",
        rule_id=f"id of {name}",
        rule_key=name,
        table_fqn="iceberg.lakehouse.sales",
        threshold="0 rows",
        measure=0.0,
        source="checks.py:3",
    )
    return replace(base, **fields)


def kept_violation(name, key, run, **fields):
    values = {
        "hit_id": f"{name}|{key}",
        "rule_id": f"id of {name}",
        "table_fqn": "iceberg.lakehouse.sales",
        "violation_key": key,
        "status": "open",
        "occurrences": 1,
        "first_seen": MOMENT_FIRST,
        "last_seen": MOMENT_FIRST,
        "reopen_count": 0,
        "first_run_id": f"run-{run}",
        "last_run_id": f"run-{run}",
        "batch_seq": 1,
        **fields,
    }
    return {column.name: values.get(column.name) for column in TABLES["violations"].columns}


def kept_progress(name, mark, batch=1, **fields):
    values = {
        "table_name": "iceberg.lakehouse.sales",
        "table_fqn": "iceberg.lakehouse.sales",
        "rule_id": f"id of {name}",
        "rule_key": name,
        "suite": "checks:SALES",
        "mode": "cdf",
        "position": mark.to_json(),
        "standing": Standing().to_json(),
        "batch_seq": batch,
        "epoch": 1,
        "generation": 1,
        "run_id": f"run-{batch}",
        "processed_at": MOMENT_FIRST,
        **fields,
    }
    return {column.name: values.get(column.name) for column in TABLES["progress"].columns}


def write_store(folder: Path, results=(), violations=(), progress=()):
    """The options with which a command finds it."""
    rows = {
        "results": [result_row(result) for result in results],
        "violations": list(violations),
        "progress": list(progress),
    }
    for row in rows["results"]:
        row["measures"] = list(row["measures"].items())
        row["declared"] = list(row["declared"].items())
        row["status"] = str(row["status"])
    for kind, table in TABLES.items():
        schema = pa.schema([(column.name, ARROW[column.type_text]) for column in table.columns])
        place = folder / "delta" / "lakehouse.db" / STATE_TABLES[kind]
        place.mkdir(parents=True)
        write_deltalake(str(place), pa.Table.from_pylist(rows.get(kind, []), schema=schema))
    return ("--warehouse", str(folder), "--store", "delta")
