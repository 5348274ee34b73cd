"""Samples of the checks that hold the table against another one, and their statements."""

from __future__ import annotations

from golden_sample import Sample, array_of, map_of, struct_of
from golden_tables import SOURCE

from lakeproof.planning.pairs.steps import CompareStep, CountStep, PairStep

SPARK_ONLY = "-- trino: two tables are compared on Spark only for now; its xxhash64 is not Trino's"
FROM_SOURCE = {"source_table": SOURCE}
BY_ID = {**FROM_SOURCE, "key_columns": "id"}
AWKWARD = 'a.b `c` "d"'

PAIR_SAMPLES: dict[str, list[Sample]] = {
    "reconciliation": [
        Sample({}, FROM_SOURCE),
        Sample(
            {"day": "date"},
            {
                **FROM_SOURCE,
                "where_clause": "not cancelled -- yet",
                "partition_column": "day",
                "partition": "2024-03-01",
            },
            "country = 'Italy'",
            columns=[],
            source={"day": "date", "cancelled": "boolean"},
        ),
    ],
    "aggregate_consistency": [
        Sample(
            {"revenue": "decimal(18,2)"},
            {
                **FROM_SOURCE,
                "aggregate_column": "revenue",
                "source_expression": "sum(amount) -- net",
                "group_by": "country",
                "tolerance": 0.01,
                "absolute_tolerance": 0.5,
            },
            "country = 'Italy'",
            columns=[],
            source={"amount": "decimal(10,2)"},
            values=["decimal(18,2)"],
        ),
        Sample(
            {"orders": "int"},
            {**FROM_SOURCE, "aggregate_column": "orders", "source_expression": "count(*)"},
            columns=[],
            values=["bigint"],
        ),
        Sample(
            {"last": "date"},
            {
                **FROM_SOURCE,
                "aggregate_column": "last",
                "source_expression": "max(day)",
                "target_expression": "max(last)",
            },
            columns=[],
            source={"day": "date"},
            values=["date"],
        ),
    ],
    "multi_aggregate_consistency": [
        Sample(
            {"revenue": "double", AWKWARD: "int"},
            {
                **FROM_SOURCE,
                "aggregates": [
                    {"name": "mean", "expression": "avg(amount)", "target_column": "revenue"},
                    {"name": "rows", "expression": "count(*)", "target_column": AWKWARD},
                ],
                "group_by": "country",
            },
            columns=[],
            source={"amount": "double"},
            values=["double", "bigint"],
        ),
    ],
    "key_parity": [
        Sample({"id": "int"}, BY_ID, columns=[], source={"id": "bigint"}),
        Sample(
            {"id": "bigint", AWKWARD: "timestamp"},
            {**FROM_SOURCE, "key_columns": ["id", AWKWARD], "key_cast": {"id": "bigint"}},
            "country = 'Italy'",
            columns=[],
            source={"id": "string", AWKWARD: "timestamp"},
        ),
    ],
    "checksum_reconciliation": [
        Sample(
            {"id": "bigint", "amount": "double", "price": "decimal(10,2)", "_dlt_id": "string"},
            BY_ID,
            columns=[],
            source={"id": "int", "amount": "float", "price": "decimal(12,4)"},
        ),
        Sample(
            {"id": "string", "at": "timestamp", "price": "decimal(10,2)", "note": "string"},
            {
                **BY_ID,
                "timestamp_precision": "ms",
                "assume_timezone": "UTC",
                "column_tolerances": {"price": {"absolute": 0.01, "relative": 0.001}},
                "normalize": {"note": ["trim", "lower"]},
                "schema": "common",
                "sample": 0.1,
            },
            columns=[],
            source={"id": "string", "at": "timestamp_ntz", "price": "int", "note": "varchar(9)"},
        ),
        Sample(
            {
                "id": "bigint",
                "tags": array_of("string"),
                "marks": map_of("string", "double"),
                "trip": struct_of(start="date", km="float"),
            },
            {**BY_ID, "unordered_arrays": "tags", "hash_algorithm": "xxhash128"},
            columns=["tags", "marks", "trip"],
            source={
                "id": "bigint",
                "tags": array_of("string"),
                "marks": map_of("string", "double"),
                "trip": struct_of(start="date", km="float"),
            },
        ),
        Sample(
            {"id": "bigint", "photo": "binary"},
            {**BY_ID, "hash_algorithm": "sha256", "float_precision": None},
            columns=[],
            source={"id": "bigint", "photo": "binary"},
        ),
    ],
}


def pair_statements(step: PairStep) -> dict[str, str]:
    """What reads each side, and how the values of two rows are held against each other."""
    found = {f"spark, {side.name}": side.sql for side in (step.source, step.target)}
    if not isinstance(step, CountStep):
        compared = step.columns if isinstance(step, CompareStep) else step.aggregates
        equal = [
            one.equal_sql.format(source=f"source.value_{n}", target=f"target.value_{n}")
            for n, one in enumerate(compared)
        ]
        if equal:
            listed = ",\n       ".join(equal)
            found["spark, equal values"] = f"SELECT {listed}\nFROM source, target"
    return found
