"""What the classes give back, from what a run found; no session is needed for that."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal

import pytest

import lakeproof
from lakeproof import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    QualityCheckResult,
    ReconciliationCheck,
)
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.pairing import ColumnMatch, Method, PairFound, Sample

MADE = {
    ReconciliationCheck: {},
    AggregateConsistencyCheck: {"aggregate_column": "total", "source_expression": "SUM(amount)"},
    MultiAggregateConsistencyCheck: {"aggregates": [AggregateSpec("rows", "COUNT(*)", "n")]},
    KeyParityCheck: {"key_columns": ["id"]},
    ChecksumReconciliationCheck: {"key_columns": ["id"]},
}


def made(kind, **fields):
    return kind("raw.orders", "gold.orders", **{**MADE[kind], **fields})


def ran(monkeypatch, check, status, details, found=None, **run):
    """The result of a run that ended so."""
    asked = {}

    def compare_one(spark, given, **options):
        asked.update(options, check=given)
        result = CheckResult(
            given.name, given.kind, "orders", "", CheckStatus(status), 0, 0, details, ""
        )
        return result, found

    monkeypatch.setattr("lakeproof.preparing.compare_one", compare_one)
    result = check.run(None, **run)
    assert asked["check"] is check
    return result, asked


def test_a_failed_count_says_so(monkeypatch):
    found = PairFound({"source_count": 100, "target_count": 120}, 20, 100, metadata={"a": 1})
    result, _ = ran(monkeypatch, made(ReconciliationCheck), "failed", "20 more", found)
    assert (result.passed, result.status) == (False, "failed")
    assert result.metric_name == "reconciliation_check"
    assert result.metric_value == {
        "target_count": 120,
        "source_count": 100,
        "difference_pct": 0.2,
        "difference_abs": 20,
    }
    assert result.failure_message == "Row count reconciliation failed: 20 more"
    assert (result.metadata["a"], result.metadata["details"]) == (1, "20 more")


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (AggregateConsistencyCheck, ["mismatches", "total_checked"]),
        (MultiAggregateConsistencyCheck, ["mismatches", "total_checked"]),
        (
            KeyParityCheck,
            ["missing_in_target", "missing_in_source", "total_keys", "mismatch_pct"],
        ),
        (
            ChecksumReconciliationCheck,
            [
                *("missing_in_target", "missing_in_source", "hash_mismatches", "total_compared"),
                *("total_keys", "mismatch_pct", "shared_keys", "duplicate_keys", "surplus_rows"),
                *("source_rows", "target_rows"),
            ],
        ),
    ],
)
def test_metric_value_has_the_promised_numbers(monkeypatch, kind, keys):
    found = PairFound({**dict.fromkeys(keys, 7), "more": 1}, 7, 7)
    result, _ = ran(monkeypatch, made(kind), "warned", "7 differ", found)
    assert result.metric_value == dict.fromkeys(keys, 7)
    assert result.status == "failed", "whether it only warns is for a suite to say"
    assert result.failure_message.endswith(" failed: 7 differ")


def test_samples_and_columns_are_told_unless_the_engine_did(monkeypatch):
    samples = (Sample("changed", {"id": "3"}, ("amount",), {"amount": "1"}, {"amount": "2"}),)
    found = PairFound({}, 1, 5, columns=(ColumnMatch("amount", 1, 5),), samples=samples)
    result, _ = ran(monkeypatch, made(KeyParityCheck), "failed", "1 differs", found)
    assert result.metadata["column_mismatches"] == {"amount": 1}
    assert result.metadata["samples"] == [
        {
            "kind": "changed",
            "key": {"id": "3"},
            "differing_columns": ["amount"],
            "source": {"amount": "1"},
            "target": {"amount": "2"},
        }
    ]
    told = dataclasses.replace(found, metadata={"samples": ["own"]})
    result, _ = ran(monkeypatch, made(KeyParityCheck), "failed", "1 differs", told)
    assert result.metadata["samples"] == ["own"]


def test_a_side_that_cannot_be_read_is_an_error_without_numbers(monkeypatch):
    told = "Failed to query source table raw.orders: not found"
    result, _ = ran(monkeypatch, made(KeyParityCheck, tolerance=1.0), "error", told)
    assert (result.passed, result.status, result.metric_value) == (False, "error", {})
    assert result.failure_message == result.summary == told


def test_what_was_skipped_did_not_pass(monkeypatch):
    found = PairFound({"source_count": 0, "target_count": 0}, 0, 0)
    told = "partition day=2024-03-01 has no rows on either side"
    result, _ = ran(monkeypatch, made(ReconciliationCheck), "skipped", told, found)
    assert (result.passed, result.status, result.failure_message) == (False, "skipped", told)


def test_a_pass_has_no_message(monkeypatch):
    found = PairFound({"source_count": 1, "target_count": 1}, 0, 1)
    result, asked = ran(
        monkeypatch, made(ReconciliationCheck), "passed", "equal", found, partition="2024-03-01"
    )
    assert (result.passed, result.status, result.failure_message) == (True, "passed", None)
    assert (result.summary, asked["partition"]) == ("equal", "2024-03-01")


def test_a_result_that_is_made_by_hand_knows_its_status():
    assert QualityCheckResult(True, "m").status == "passed"
    assert QualityCheckResult(False, "m", {}, {}, "why").status == "failed"
    assert QualityCheckResult(False, "m", status=CheckStatus.ERROR).status == "error"


def test_a_result_is_a_document():
    metadata = {"sample": Decimal("0.5"), "method": Method.CELLS, "columns": ("a",), "limit": None}
    found = QualityCheckResult(True, "m", {"mismatch_pct": 0.0}, metadata)
    assert json.loads(json.dumps(found.to_dict())) == {
        "passed": True,
        "status": "passed",
        "metric_name": "m",
        "metric_value": {"mismatch_pct": 0.0},
        "failure_message": None,
        "metadata": {"sample": "0.5", "method": "cells", "columns": ["a"], "limit": None},
    }


def test_reconcile_is_the_checksum_check_at_once(monkeypatch):
    asked = []

    def compare_one(spark, check, **options):
        asked.append(check)
        return CheckResult("", "", "", "", CheckStatus.PASSED, 0, 0, "", ""), None

    monkeypatch.setattr("lakeproof.preparing.compare_one", compare_one)
    result = lakeproof.reconcile(
        None, "raw.orders", "gold.orders", key="id", columns=["a"], sample=0.5
    )
    assert result.passed
    assert asked == [
        ChecksumReconciliationCheck("raw.orders", "gold.orders", "id", columns=["a"], sample=0.5)
    ]
    with pytest.raises(TypeError, match="smaple"):
        lakeproof.reconcile(None, "raw.orders", "gold.orders", key="id", smaple=0.5)
