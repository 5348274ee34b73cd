"""Spark Connect gives what a classic session gives, check by check and key by key."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from every_check import CHECKS, build_tables, facts_of, run_all, split_counts

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module", params=["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def connect_facts(tmp_path_factory, request):
    warehouse = tmp_path_factory.mktemp("connect")
    done = subprocess.run(
        [sys.executable, FOLDER / "connect_run.py", warehouse, request.param],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(done.stdout.strip().splitlines()[-1])
    return facts | {"run": facts[request.param]}


@pytest.fixture(scope="module")
def classic_outcome(spark):
    build_tables(spark)
    return run_all(spark, None, "classic")


def test_every_check_gives_the_same_on_connect_and_classic(connect_facts, classic_outcome):
    classic = json.loads(json.dumps(facts_of(classic_outcome)))
    connect = connect_facts["run"]
    for here, there in zip(classic["results"], connect["results"], strict=True):
        here[5] = there[5]  # without a store nothing is known to be new
        assert there == here
    assert connect["hits"] == classic["hits"]
    assert connect["open"] is False


def test_the_counts_are_those_planted(classic_outcome):
    found = {r.rule_key: (r.status.value, r.failing_rows) for r in classic_outcome.results}
    assert found == {
        "copy_copies": ("failed", 3),
        "copy_keys": ("failed", 2),
        "copy_count": ("passed", 0),
        "copy_total": ("failed", 1),
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
        "counted": ("failed", 3),
        "value": ("passed", 0),
        "two_rows": ("error", 0),
        "not_empty": ("passed", 0),
        "tags_filled": ("failed", 1),
        "tags_present": ("failed", 1),
        "capital": ("failed", 1),
        "no_nine": ("failed", 1),
        "short": ("failed", 1),
        "condition": ("failed", 1),
        "pair": ("failed", 2),
        "json": ("failed", 4),
        "customer": ("failed", 1),
        "listed": ("failed", 1),
        "long_list": ("failed", 2),
        "rising": ("passed", 0),
        "key": ("failed", 2),
        "mean": ("passed", 0),
        "kinds": ("failed", 1),
        "share": ("passed", 0),
        "fresh": ("passed", 0),
        "by_nine": ("passed", 0),
        "late": ("passed", 0),
        "gaps": ("failed", 2),
        "kept": ("failed", 1),
        "ended": ("failed", 1),
        "columns": ("failed", 1),
        "change": ("passed", 0),
        "lines": ("passed", 0),
        "no_column": ("error", 0),
        "no_query": ("error", 0),
    }


def test_results_written_through_connect_are_stored_for_every_rule(connect_facts):
    assert len(connect_facts["stored"]) == len(CHECKS) + 1  # one of them is for two columns


def test_a_frame_is_split_and_bad_rows_stand_aside_as_on_a_classic_session(
    spark, classic_outcome, connect_facts
):
    assert connect_facts["split"] == split_counts(spark)
    assert connect_facts["aside"] == connect_facts["split"][1]
