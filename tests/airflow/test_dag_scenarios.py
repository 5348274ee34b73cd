"""Everything that can happen to a quality DAG, by real Airflow and real Spark.

The runs are made once, in one process with one session; each test looks at one of them.
"""

from __future__ import annotations

import json

import pytest
from airflow_home import HERE, RUN_URL

RUN, PERSIST, GATE, PROMOTE = (
    "quality.run_quality_checks",
    "quality.persist_results",
    "quality.evaluate_gate",
    "promote",
)
ASSET = "x-lakeproof://trusted/iceberg/lakehouse/orders"
PASSED = {RUN: ["success", 1], PERSIST: ["success", 1], GATE: ["success", 1]}
CLOSED = {RUN: ["success", 1], PERSIST: ["success", 1], GATE: ["failed", 1]}


@pytest.fixture(scope="module")
def outcome(airflow):
    file = airflow.folder / "outcome.json"
    airflow.run("python", HERE / "run_scenarios.py", file)
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def scenarios(outcome):
    return outcome["scenarios"]


@pytest.fixture(scope="module")
def acceptance(outcome):
    return outcome["acceptance"]


def tasks_of(run) -> dict:
    return {name: state for name, state in run["tasks"].items() if name != PROMOTE}


def assert_promoted(run, head) -> None:
    assert (run["state"], run["tasks"][PROMOTE]) == ("success", ["success", 1])
    assert run["trusted"] == head


def assert_not_promoted(run) -> None:
    assert (run["state"], run["tasks"][PROMOTE]) == ("failed", ["upstream_failed", 0])
    assert (run["trusted"], run["events"]) == (None, [])


def statuses(run) -> dict[str, str]:
    return {name: status for name, status, *_ in run["rows"]}


def test_all_pass_and_the_table_is_promoted_with_an_event(scenarios):
    run = scenarios["all_pass"]
    assert tasks_of(run) == PASSED
    assert statuses(run) == {"id_present": "passed"}
    assert_promoted(run, scenarios["head"])
    [[uri, extra]] = run["events"]
    assert uri == ASSET
    assert extra["run_id"] == run["xcom"][f"{RUN}/return_value"]["run_id"]
    assert extra["counts"]["passed"] == 1


def test_one_failed_closes_the_gate_for_good_with_the_text_of_the_seed(scenarios):
    run = scenarios["one_failed"]
    assert tasks_of(run) == CLOSED  # the gate is not tried again
    assert statuses(run) == {"id_present": "passed", "price_positive": "failed"}
    [noted] = run["noted"]
    assert noted["kind"] == "AirflowFailException"
    details = {name: details for name, _, details, _ in run["rows"]}["price_positive"]
    assert noted["text"] == f"1 quality check(s) failed: price_positive: {details}"
    assert_not_promoted(run)


@pytest.mark.parametrize(
    ("name", "rule", "told"),
    [
        ("one_error", "no_such_column", "nowhere"),
        ("missing_table", "gone", "no_such_table does not exist"),
        ("unknown_type", "odd", "Unknown check type: not_nul"),
        ("query_timeout", "slow", "timed out after 1 s"),
    ],
)
def test_an_error_of_one_rule_closes_the_gate_and_the_others_are_checked(
    scenarios, name, rule, told
):
    run = scenarios[name]
    assert tasks_of(run) == CLOSED
    assert statuses(run) == {"id_present": "passed", rule: "error"}
    [noted] = run["noted"]
    assert noted["kind"] == "AirflowFailException"
    assert noted["text"].startswith(f"1 quality check(s) failed: {rule}: ")
    assert told in noted["text"]
    assert_not_promoted(run)


def test_warnings_only_pass(scenarios):
    run = scenarios["warnings_only"]
    assert tasks_of(run) == PASSED
    assert statuses(run) == {"id_present": "passed", "price_positive": "warned"}
    assert_promoted(run, scenarios["head"])


def test_an_engine_that_is_not_reached_is_tried_again_and_nothing_is_persisted(scenarios):
    run = scenarios["unreachable_engine"]
    assert run["tasks"][RUN] == ["failed", 2]
    assert run["tasks"][PERSIST] == run["tasks"][GATE] == ["upstream_failed", 0]
    assert [one["kind"] for one in run["noted"]] == ["EngineUnavailableError"] * 2
    assert run["noted"][0]["text"].startswith("connection 'nobody_there': no Spark Connect server")
    assert run["rows_added"] == 0
    assert_not_promoted(run)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("unknown_connection", "not_defined"),
        ("mistyped_warehouse", "connection 'mistyped': no lakehouse in /"),
        ("misspelt_option", "'kyes' is no option of run_checks. Did you mean 'keys'?"),
        ("nothing_selected", "nightly"),
    ],
)
def test_a_mistake_of_configuration_is_not_tried_again(scenarios, name, told):
    run = scenarios[name]
    assert run["tasks"][RUN] == ["failed", 1]
    [noted] = run["noted"]
    assert noted["kind"] == "AirflowFailException"
    assert told in noted["text"]
    assert_not_promoted(run)


def test_a_mistyped_warehouse_makes_no_lakehouse(scenarios, airflow):
    assert f"{airflow.folder / 'lakehuose'}." in scenarios["mistyped_warehouse"]["noted"][0]["text"]
    assert not (airflow.folder / "lakehuose").exists()


def test_an_empty_suite_closes_the_gate(scenarios):
    run = scenarios["empty_suite"]
    assert tasks_of(run) == CLOSED
    assert run["rows_added"] == 0
    assert "nothing was evaluated" in run["noted"][0]["text"]
    assert_not_promoted(run)


def test_a_results_table_that_is_gone_is_made_again(scenarios):
    run = scenarios["results_table_absent"]
    assert tasks_of(run) == PASSED
    assert statuses(run) == {"id_present": "passed"}
    assert run["state"] == "success"


def test_a_persist_that_broke_after_its_write_is_tried_again_and_adds_nothing(scenarios):
    run = scenarios["persist_fails_once"]
    assert run["tasks"][PERSIST] == ["success", 2]
    assert run["xcom"][f"{PERSIST}/return_value"] == {"rows_inserted": 0}
    assert statuses(run) == {"id_present": "passed"}
    assert run["state"] == "success"


def test_without_persisted_results_neither_gate_nor_promotion_run(scenarios):
    run = scenarios["persist_fails_for_good"]
    assert run["tasks"][PERSIST] == ["failed", 2]
    assert [one["kind"] for one in run["noted"]] == ["EngineUnavailableError"] * 2
    assert run["tasks"][GATE] == ["upstream_failed", 0]
    assert run["rows_added"] == 0
    assert_not_promoted(run)


def test_a_store_of_a_newer_release_is_not_tried_again(scenarios):
    run = scenarios["store_too_new"]
    assert run["tasks"][PERSIST] == ["failed", 1]
    assert [one["kind"] for one in run["noted"]] == ["AirflowFailException"]
    assert run["rows_added"] == 0
    assert_not_promoted(run)


def test_another_run_of_the_same_date_has_its_own_id_and_adds_its_rows(scenarios):
    first, again = scenarios["all_pass"], scenarios["run_again"]
    ids = [run["xcom"][f"{RUN}/return_value"]["run_id"] for run in (first, again)]
    assert len(set(ids)) == 2
    assert len(first["rows"]) == len(again["rows"]) == 1
    assert again["tasks"][PROMOTE] == ["success", 1]


def test_the_rows_of_every_run_of_one_date_stay(scenarios):
    """Seen after the last of them; `results_table_absent` has dropped those of earlier ones."""
    kept = scenarios["kept_of_one_date"]
    assert kept == {name: scenarios[name]["rows"] for name in kept}
    assert [len(rows) for rows in kept.values()] == [1, 1, 1]


def test_a_promotion_that_moves_nothing_tells_nobody(scenarios):
    again = scenarios["run_again"]
    assert again["xcom"][f"{PROMOTE}/return_value"] == {"iceberg.lakehouse.orders": "unchanged"}
    assert again["events"] == []


def test_a_promotion_to_another_branch_is_no_event_of_the_trusted_asset(scenarios):
    """The trusted rows of that position are told of afterwards, by `told_later`."""
    run = scenarios["promoted_elsewhere"]
    assert run["xcom"][f"{PROMOTE}/return_value"] == {"iceberg.lakehouse.orders": "promoted"}
    assert run["events"] == []


def test_a_table_that_was_moved_by_a_promotion_that_failed_is_told_by_the_next(scenarios):
    failed, later = scenarios["moved_and_failed"], scenarios["told_later"]
    assert (failed["state"], failed["tasks"][PROMOTE]) == ("failed", ["failed", 1])
    assert failed["events"] == []
    assert failed["trusted"] == later["trusted"] != scenarios["head"]
    assert later["xcom"][f"{PROMOTE}/return_value"] == {"iceberg.lakehouse.orders": "unchanged"}
    [[uri, extra]] = later["events"]
    assert (uri, extra["position"]) == (ASSET, f"snapshot {failed['trusted']}")


def test_a_cleared_run_is_checked_anew_under_another_id(scenarios):
    run, again = scenarios["run_again"], scenarios["cleared"]
    assert again["dag_run_id"] == run["dag_run_id"]
    ids = [one["xcom"][f"{RUN}/return_value"]["run_id"] for one in (run, again)]
    assert len(set(ids)) == 2
    assert again["tasks"][RUN] == ["success", 2]
    assert len(again["rows"]) == 1


def test_tasks_pass_on_ids_and_counts_only(scenarios):
    run = scenarios["one_failed"]
    passed_on = run["xcom"][f"{RUN}/return_value"]
    assert set(passed_on) == {"run_id", "counts"}
    assert passed_on["counts"] == {
        "passed": 1, "failed": 1, "warned": 0, "error": 0, "skipped": 0,
    }  # fmt: skip
    assert run["xcom"][f"{PERSIST}/return_value"] == {"rows_inserted": 2}
    assert all(len(json.dumps(value)) < 400 for value in run["xcom"].values())


def test_every_task_links_to_the_run(scenarios):
    run = scenarios["all_pass"]
    link = RUN_URL.replace("{run_id}", run["xcom"][f"{RUN}/return_value"]["run_id"])
    links = {run["xcom"][f"{task}/_link_RunLink"] for task in (RUN, PERSIST, GATE, PROMOTE)}
    assert links == {link}


def test_results_say_which_dag_run_they_are_of(scenarios):
    run = scenarios["one_failed"]
    assert {dag_run_id for *_, dag_run_id in run["rows"]} == {run["dag_run_id"]}


def test_criterion_1_a_csv_with_a_negative_amount_is_a_failure(acceptance):
    run = acceptance["negative_amount"]
    failed = {name for name, status, *_ in run["rows"] if status == "failed"}
    assert failed == {"sales_amount_positive", "sales_amount_reasonable_range"}
    assert run["tasks"][GATE] == ["failed", 1]


def test_criterion_2_a_csv_with_a_duplicate_order_id_is_a_failure(acceptance):
    run = acceptance["duplicate_order_id"]
    assert {name for name, status, *_ in run["rows"] if status == "failed"} == {
        "sales_order_id_unique"
    }
    assert run["tasks"][GATE] == ["failed", 1]


def test_criterion_3_the_history_is_a_question_of_sql(acceptance):
    """By Spark SQL here; that it is asked through Trino waits for the Trino engine.

    Promotions are rows there too, and the seed's second query, as it is, does not count them.
    """
    assert acceptance["history"] == [[True, 0, 8], [True, 2, 6], [True, 1, 7]]
    assert acceptance["by_the_query_of_the_seed"] == [3, 21]


def test_criterion_4_what_failed_is_not_promoted(acceptance):
    assert acceptance["good"]["state"] == "success"
    assert acceptance["good"]["tasks"][PROMOTE] == ["success", 1]
    for name in ("negative_amount", "duplicate_order_id"):
        assert acceptance[name]["state"] == "failed"
        assert acceptance[name]["tasks"][PROMOTE] == ["upstream_failed", 0]
    assert acceptance["is_trusted_as_it_was"]
    assert acceptance["trusted_rows"] == 50


def test_criterion_5_checks_are_a_task_group_of_their_own(acceptance):
    in_group = {name for name in acceptance["good"]["tasks"] if name.startswith("quality.")}
    assert in_group == {RUN, PERSIST, GATE}


def test_a_file_is_ingested_once(acceptance):
    inserted = [
        acceptance[name]["xcom"]["ingest/return_value"]["rows_inserted"]
        for name in ("ingested", "ingested_again", "negative_amount_ingested")
    ]
    assert inserted == [50, 0, 1]
