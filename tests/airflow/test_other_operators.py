"""Operators beside the quality DAG: two tables compared, books verified."""

from __future__ import annotations

import json

import pytest
from airflow_home import HERE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcome(airflow):
    file = airflow.folder / "outcome.json"
    airflow.run("python", HERE / "run_other_dags.py", file)
    return json.loads(file.read_text(encoding="utf-8"))


def test_tables_that_differ_fail_for_good(outcome):
    tasks = outcome["two_tables"]["tasks"]
    assert tasks["same"] == ["success", 1]
    assert tasks["damaged"] == ["failed", 1]


def test_a_partition_is_compared_by_itself(outcome):
    assert outcome["two_tables"]["tasks"]["one_day"] == ["success", 1]
    passed_on = outcome["two_tables"]["xcom"]["one_day/return_value"]
    assert passed_on["numbers"]["total_compared"] == 10


def test_books_are_verified_or_fail_for_good(outcome):
    tasks = outcome["books"]["tasks"]
    assert tasks["balanced"] == ["success", 1]
    assert tasks["altered"] == ["failed", 1]
    assert tasks["missing"] == ["failed", 1]
