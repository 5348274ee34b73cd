"""What a verifier reported, in short, and a stored table with other rows."""

from __future__ import annotations

import pyarrow.parquet as pq
from stored_runs import write_table


def told(report):
    return [(found.level, found.kind) for found in report.findings]


def texts(report):
    return "\n".join(found.message for found in report.findings)


def change_rows(place, change):
    rows = pq.read_table(place).to_pylist()
    schema = pq.read_schema(place / "part-0.parquet")
    write_table(place, change(rows), schema)
