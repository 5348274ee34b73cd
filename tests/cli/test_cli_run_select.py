"""`run`, `plan` and the API with a selection: only what is meant is evaluated."""

from __future__ import annotations

import itertools
import json

import pytest

from lakeproof import QualityCheck, plan, run_checks
from lakeproof.config import Config
from lakeproof.errors import ConfigError, NothingSelectedError

_numbers = itertools.count()
SUITE = """
ALL = [QualityCheck('known', 'not_null', 'sales', 'order_id', tags=['core']),
       QualityCheck('positive', 'positive', 'sales', 'amount'),
       QualityCheck('spelled', 'not_null', 'sales', 'amont'),
       QualityCheck('odd', 'uniqe', 'sales', 'order_id')]
"""


@pytest.fixture(scope="module")
def space(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_chosen")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.cli_chosen.sales USING iceberg AS "
        "SELECT id AS order_id, CAST(id AS DOUBLE) AS amount FROM range(3)"
    )
    return "cli_chosen"


@pytest.fixture
def call(lakeproof, folder, space, warehouse, suite_file):
    (folder / "lakeproof.toml").write_text(
        f"default_namespace = '{space}'\n[store]\nnamespace = 'cli_chosen_{next(_numbers)}'\n",
        encoding="utf-8",
    )
    suite = f"{suite_file(SUITE)}:ALL"
    return lambda command, *rest: lakeproof(command, suite, "--warehouse", warehouse, *rest)


def names(done):
    return [result["check_name"] for result in json.loads(done.stdout)["results"]]


def test_only_selected_rules_run_and_decide_the_exit_code(call):
    done = call("run", "--store", "none", "--select", "tag:core", "--format", "json")
    assert (done.exit_code, names(done)) == (0, ["known"])
    done = call("run", "--store", "none", "--exclude", "spelled odd", "--format", "json")
    assert (done.exit_code, names(done)) == (1, ["known", "positive"])
    strict = call("run", "--store", "none", "--strict", "--select", "known")
    assert strict.exit_code == 0, strict.stderr


def test_nothing_selected_ends_before_spark_is_asked(call):
    done = call("run", "--select", "knwon")
    assert (done.exit_code, done.stdout) == (5, "")
    assert "nearest: known" in done.stderr
    assert "Spark is ready" not in done.stderr
    assert call("run", "--select", "knwon", "--allow-empty").exit_code == 0


def test_the_plan_holds_only_selected_rules(call):
    document = json.loads(call("plan", "--select", "known positive", "--format", "json").stdout)
    assert document["rules"] == 2
    assert document["rejected"] == []


def test_failed_rules_can_be_run_again_alone(call):
    refused = call("run", "--select", "status:failed")
    assert refused.exit_code == 2
    assert "no earlier run of these rules is kept" in refused.stderr
    assert call("run", "--exclude", "odd").exit_code == 1
    again = call("run", "--select", "status:failed", "--format", "json")
    assert (again.exit_code, names(again)) == (1, ["positive"])
    none_left = call("run", "--select", "status:warned")
    assert none_left.exit_code == 5


def test_the_api_takes_text_or_a_list(spark, space):
    checks = [
        QualityCheck("known", "not_null", f"{space}.sales", "order_id", tags=["core"]),
        QualityCheck("positive", "positive", f"{space}.sales", "amount"),
    ]
    for select in ("known", ["tag:core", "check:nothing"]):
        ran = run_checks(spark, checks, select=select)
        assert [result.check_name for result in ran.results] == ["known"]
    assert plan(spark, checks, exclude="known").tables[0].rules[0].key == "positive"
    with pytest.raises(NothingSelectedError, match="nearest: known"):
        run_checks(spark, checks, select="knwon")
    with pytest.raises(ConfigError, match="no store keeps results"):
        run_checks(spark, checks, select="status:failed", config=Config())
