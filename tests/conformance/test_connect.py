"""Spark Connect gives what a classic session gives, check by check and key by key."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from every_check import CHECKS, build_tables, facts_of, run_all

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def connect_facts(tmp_path_factory):
    warehouse = tmp_path_factory.mktemp("connect")
    done = subprocess.run(
        [sys.executable, FOLDER / "connect_run.py", warehouse],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def classic_outcome(spark):
    build_tables(spark)
    return run_all(spark, None, "classic")


def test_every_check_gives_the_same_on_connect_and_classic(connect_facts, classic_outcome):
    classic = json.loads(json.dumps(facts_of(classic_outcome)))
    for store in ("iceberg", "delta"):
        connect = connect_facts[store]
        for here, there in zip(classic["results"], connect["results"], strict=True):
            here[5] = there[5]  # without a store nothing is known to be new
            assert there == here
        assert connect["hits"] == classic["hits"]
        assert connect["open"] is False


def test_the_counts_are_those_planted(classic_outcome):
    found = {r.rule_key: (r.status.value, r.failing_rows) for r in classic_outcome.results}
    assert found == {
        "id_unique": ("failed", 1),
        "pair_unique": ("failed", 1),
        "country_unique": ("passed", 1),
        "amount_unique": ("passed", 0),
        "id_present": ("failed", 1),
        "present:country": ("failed", 1),
        "present:customer_id": ("failed", 1),
        "amount_positive": ("failed", 2),
        "price_range": ("failed", 1),
        "country": ("failed", 2),
        "rows": ("failed", 1),
        "day": ("failed", 2),
        "seen": ("warned", 2),
        "filtered": ("failed", 1),
        "orphans": ("failed", 2),
        "no_column": ("error", 0),
        "no_query": ("error", 0),
    }


def test_results_written_through_connect_are_stored_for_every_rule(connect_facts):
    assert len(connect_facts["stored"]) == len(CHECKS) + 1  # one of them is for two columns
