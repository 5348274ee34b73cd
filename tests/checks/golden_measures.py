"""Samples of the checks that measure a table."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from golden_sample import Sample, struct_of

HARD_TEXTS = ["Italy", "O'Brien", "a${b}c"]

MEASURE_SAMPLES: dict[str, list[Sample]] = {
    "aggregate": [
        Sample({"amount": "int"}, {"function": "min", "min_value": 0}),
        Sample({"amount": "float"}, {"function": "max", "max_value": 0.1}),
        Sample({"day": "date"}, {"function": "min", "min_value": date(2024, 1, 1)}),
        Sample({"at": "timestamp"}, {"function": "max", "max_value": "2024-06-01"}),
        Sample({"at": "timestamp_ntz"}, {"function": "max", "max_value": "2024-06-01T12:00:00"}),
        Sample({"id": "bigint"}, {"function": "sum", "max_value": 10**20}, "country = 'Italy'"),
        Sample({"price": "decimal(10,2)"}, {"function": "sum", "min_value": Decimal("0.01")}),
        Sample({"price": "decimal(38,18)"}, {"function": "avg", "min_value": 1, "max_value": 2}),
        Sample({"amount": "double"}, {"function": "avg", "max_value": 5}),
        Sample({"amount": "double"}, {"function": "stddev", "max_value": 5}),
        Sample({"amount": "int"}, {"function": "variance", "max_value": 5}),
        Sample({"amount": "double"}, {"function": "stddev_pop", "max_value": 5}),
        Sample({"amount": "int"}, {"function": "variance_pop", "max_value": 5}),
        Sample(
            {"amount": "int"},
            {"function": "percentile", "percentile": 0.95, "max_value": 5},
            "country = 'Italy'",
        ),
        Sample({"amount": "double"}, {"function": "median", "approximate": True, "max_value": 5}),
        Sample({"code": "string"}, {"function": "distinct_count", "min_value": 5}),
        Sample({"code": "string"}, {"function": "approx_distinct_count", "min_value": 5}),
        Sample({"code": "string"}, {"function": "distinct_share", "min_value": 0.5}),
        Sample({"code": "string"}, {"function": "null_share", "max_value": 0.1}),
        Sample({"x": "double", "n": "int"}, {"function": "correlation", "min_value": 0.5}),
        Sample(
            {"price": "double", "n": "double"},
            {"function": "sum", "expression": "price * n -- net", "max_value": 5},
            columns=[],
        ),
        Sample(
            {"trip": struct_of(start="date", km="int")},
            {"function": "max", "max_value": 900},
            columns=["trip.km"],
        ),
    ],
    "column_type": [
        Sample({"id": "bigint"}, {"column": "id", "types": "long"}, columns=[]),
    ],
    "freshness": [
        Sample({"day": "date"}, {"max_age": "2d", "timezone": "Europe/Berlin"}),
        Sample({"at": "timestamp"}, {"max_age": "36h"}),
        Sample({"at": "timestamp"}, {"max_age": "2d", "by_day": True}),
        Sample({"at": "timestamp_ntz"}, {"max_age": 90}, "country = 'Italy'"),
    ],
    "column_count_range": [Sample({"id": "bigint"}, {"min_count": 1, "max_count": 3}, columns=[])],
    "ratio": [
        Sample({"paid": "boolean"}, {"condition": "paid -- or not", "min_share": 0.9}, columns=[]),
        Sample(
            {"price": "int"},
            {"condition": "price > 0", "min_share": 0.1, "max_share": 0.2},
            "country = 'Italy'",
            columns=[],
        ),
    ],
    "row_count_change": [
        Sample({}, {"max_decrease": 0.1}),
        Sample({}, {"max_increase": 0.5, "expected": 100}, "country = 'Italy'"),
    ],
    "schema": [
        Sample({"id": "bigint"}, {"columns": {"id": "long", "country": None}}, columns=[]),
    ],
    "value_set": [
        Sample({"code": "string"}, {"values": HARD_TEXTS}),
        Sample({"status": "int"}, {"values": [1, -2, 0.5], "mode": "contains"}),
        Sample({"score": "double"}, {"values": [0, float("nan")], "mode": "within"}),
        Sample({"day": "date"}, {"values": ["2024-01-01"]}, "country = 'Italy'"),
        Sample({"at": "timestamp"}, {"values": ["2024-01-01T00:00:00Z"], "mode": "contains"}),
    ],
}
