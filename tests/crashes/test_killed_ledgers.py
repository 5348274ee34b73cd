"""A pipeline killed between two writes leaves no ledger, or a whole one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from killed_ledger import COUNTS, run, write_input

from crashes.connect_server import serving
from lakeproof import faults
from lakeproof.accounting.document import load_ledger
from lakeproof.accounting.without_spark.verifying import verify_ledger
from lakeproof.errors import LedgerError
from spark_settings import for_few_records

FOLDER = Path(__file__).parent
slow = pytest.mark.slow

BALANCED = (
    pytest.param("after_manifest", 1, marks=slow),
    pytest.param("after_capture", 1, marks=slow),
    ("after_capture", 2),
    pytest.param("after_capture", 3, marks=slow),
    pytest.param("after_input_check", 1, marks=slow),
    pytest.param("after_error_summary", 1, marks=slow),
    pytest.param("after_verification", 1, marks=slow),
    ("before_ledger", 1),
    pytest.param("after_ledger", 1, marks=slow),
)
WHOLE = tuple(pytest.param("after_capture", time, marks=slow) for time in (3, 4, 5, 6))
"""Between the empty arrays, the family, the groups and their members."""
FAILING = (
    pytest.param("after_key_list", 1, marks=slow),
    pytest.param("after_key_list", 2, marks=slow),
    pytest.param("after_key_lists", 1, marks=slow),
    ("after_failure_text", 1),
    pytest.param("after_failed_ledger", 1, marks=slow),
)
BREACHED = (
    pytest.param("after_capture", marks=slow),
    "after_breach",
    pytest.param("after_error_summary", marks=slow),
    pytest.param("after_failure_text", marks=slow),
    pytest.param("after_failed_ledger", marks=slow),
)


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.fixture(scope="module")
def address(spark):
    with serving(spark) as found:
        yield found


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> str:
    return write_input(tmp_path_factory.mktemp("killed") / "orders")


def kill(address: str, dataset: str, directory: Path, point: str, time: int, fate: str) -> None:
    done = subprocess.run(
        [sys.executable, "killed_ledger.py", address, dataset, directory, point, str(time), fate],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]


def test_every_point_of_a_ledger_is_killed_here():
    named = [*BALANCED, *FAILING, *BREACHED]
    points = [getattr(one, "values", one) for one in named]
    assert {point if isinstance(point, str) else point[0] for point in points} == set(
        faults.LEDGER_POINTS
    )


@pytest.mark.parametrize(("point", "time"), BALANCED)
def test_a_killed_run_left_no_ledger_or_a_whole_one(spark, tmp_path, address, dataset, point, time):
    died = tmp_path / "died"
    kill(address, dataset, died, point, time, "keep")

    assert (died / "manifest.json").exists()
    assert (died / "ledger.json").exists() == (point == "after_ledger")
    assert not (died / "ledger.failed.json").exists()
    if point == "after_ledger":
        assert_complete(died)
    with pytest.raises(LedgerError, match="not empty"):
        run(spark, dataset, str(died))

    ledger = run(spark, dataset, str(tmp_path / "again"))
    assert ledger.balanced
    assert_complete(tmp_path / "again")


def assert_complete(directory: Path) -> None:
    ledger = load_ledger(str(directory))
    assert ledger.verification.partition_counts == COUNTS
    report = verify_ledger(str(directory))
    assert (report.exit_code, report.findings) == (0, ())


@pytest.mark.parametrize(("point", "time"), WHOLE)
def test_a_run_killed_between_groups_and_their_members_left_no_ledger(
    spark, tmp_path, address, dataset, point, time
):
    died = tmp_path / "died"
    kill(address, dataset, died, point, time, "whole")

    assert not (died / "ledger.json").exists()
    assert (died / "adjoint" / "parent_child").exists() == (time >= 4)
    assert (died / "adjoint" / "reverse_joins").exists() == (time == 6)
    assert run(spark, dataset, str(tmp_path / "again"), "whole").balanced
    assert_complete(tmp_path / "again")


@pytest.mark.parametrize("point", BREACHED)
def test_a_run_killed_after_too_many_errors_has_no_ledger(spark, tmp_path, address, dataset, point):
    died = tmp_path / "died"
    kill(address, dataset, died, point, 1, "breach")

    assert not (died / "ledger.json").exists()
    assert len(list(died.glob("errors/error_type=*/*.json"))) == 2
    told = point in {"after_failure_text", "after_failed_ledger"}
    assert (died / "ACCOUNTING_FAILURE.txt").exists() == told
    assert (died / "ledger.failed.json").exists() == (point == "after_failed_ledger")
    assert run(spark, dataset, str(tmp_path / "again")).balanced


@pytest.mark.parametrize(("point", "time"), FAILING)
def test_a_run_killed_while_it_tells_of_its_failure_has_no_ledger(
    spark, tmp_path, address, dataset, point, time
):
    died = tmp_path / "died"
    kill(address, dataset, died, point, time, "lose")

    assert not (died / "ledger.json").exists()
    assert (died / "discrepancy" / "missing_keys.parquet").exists()
    assert (died / "ACCOUNTING_FAILURE.txt").exists() == ("key_list" not in point)
    assert (died / "ledger.failed.json").exists() == (point == "after_failed_ledger")
    if point == "after_failed_ledger":
        discrepancy = load_ledger(str(died)).discrepancy
        assert discrepancy is not None
        assert discrepancy.missing_keys == ("3",)
    assert run(spark, dataset, str(tmp_path / "again")).balanced
