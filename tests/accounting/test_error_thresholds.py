"""Runs with too many error records stop: after all are written, or early with samples only."""

from __future__ import annotations

import pytest
from adjoint_runs import BegunRun

from lakeproof.accounting.adjoint import Requirement, errors_with_adjoint
from lakeproof.accounting.thresholds import ErrorThresholds
from lakeproof.errors import ErrorThresholdError, LedgerError

SMALL = [Requirement("small", "n < 900", of="n")]


@pytest.fixture(scope="module")
def numbers(spark):
    """1,000 records, of which the last 100 are too large."""
    return spark.range(1000).selectExpr("concat('k', id) AS _lakeproof_key", "id AS n")


def test_a_breach_keeps_every_error_and_then_fails(tmp_path, numbers):
    cases = {
        "rate": (ErrorThresholds(max_rate=0.09, early_rows=0), "at most 9 % may be"),
        "number": (ErrorThresholds(max_errors=99), "at most 99 may be"),
    }
    for name, (thresholds, told) in cases.items():
        run = BegunRun(tmp_path / name)
        with pytest.raises(ErrorThresholdError) as problem:
            errors_with_adjoint(numbers, SMALL, run.step("small", thresholds=thresholds))
        assert told in str(problem.value)
        assert str(run.directory / "errors") in str(problem.value)
        assert (problem.value.errors, problem.value.records) == (100, 1000)
        assert problem.value.structural is False
        assert len(run.error_records()) == 100
        with pytest.raises(LedgerError, match="has captured already"):
            errors_with_adjoint(numbers, SMALL, run.step("small"))


def test_limits_may_be_met_and_are_those_of_the_whole_run(tmp_path, numbers):
    run = BegunRun(tmp_path / "run")
    limit = ErrorThresholds(max_rate=0.1, max_errors=150, early_rows=0)
    first = errors_with_adjoint(numbers, SMALL, run.step("first", thresholds=limit))
    assert first.output.count() == 900
    # The share is of the input's records, not of the rows that are left here.
    tiny = [Requirement("tiny", "n < 840")]
    with pytest.raises(ErrorThresholdError, match="160 of 2,000 records") as problem:
        errors_with_adjoint(first.output, tiny, run.step("second", thresholds=limit, records=2_000))
    assert "at most 150" in str(problem.value)
    assert "10 %" not in str(problem.value)
    assert len(run.error_records()) == 160


def test_bad_first_rows_stop_a_run_before_it_writes_more_than_samples(tmp_path, spark):
    run = BegunRun(tmp_path / "run")
    many = spark.range(0, 5000, 1, 4).selectExpr("concat('k', id) AS _lakeproof_key", "id AS n")
    strict = ErrorThresholds(max_rate=0.9, early_rows=1_000, early_rate=0.2)
    swapped = [Requirement("large", "n >= 500 OR n % 5 = 0")]
    with pytest.raises(ErrorThresholdError, match="STRUCTURAL") as problem:
        errors_with_adjoint(many, swapped, run.step("swapped", thresholds=strict))
    assert problem.value.structural is True
    assert (problem.value.errors, problem.value.records) == (400, 1000)
    assert len(run.error_records()) == 100
    assert run.written() == ["errors/error_type=validation"]
    # The same rows within the limit, and an input that has no such first part, go through.
    mild = ErrorThresholds(max_rate=0.9, early_rows=1_000, early_rate=0.4)
    run = BegunRun(tmp_path / "mild")
    result = errors_with_adjoint(many, swapped, run.step("mild", thresholds=mild))
    assert result.metadata.count() == 400
    run = BegunRun(tmp_path / "few")
    few = errors_with_adjoint(many.where("n < 600"), swapped, run.step("few", thresholds=strict))
    assert few.output.count() == 200
