"""What Airflow sees of Lakeproof before any task runs: the provider, and DAGs without pyspark."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from airflow_home import BIN, EXAMPLES, HERE, ROOT, require_environment


@pytest.fixture(scope="module")
def parsed(airflow):
    """All that is asked of one process that has parsed the DAGs."""
    return json.loads(airflow.run("python", HERE / "parse_dags.py").splitlines()[-1])


def test_airflow_lists_the_provider(airflow):
    providers = json.loads(airflow.run("airflow", "providers", "list", "--output", "json"))
    [ours] = [one for one in providers if one["package_name"] == "lakeproof"]
    assert ours["version"]


def test_airflow_knows_the_connection_and_the_link(airflow):
    hooks = json.loads(airflow.run("airflow", "providers", "hooks", "--output", "json"))
    [ours] = [one for one in hooks if one["connection_type"] == "lakeproof"]
    assert (ours["class"], ours["hook_name"]) == (
        "lakeproof.airflow.hooks.LakeproofHook",
        "Lakeproof",
    )
    links = json.loads(airflow.run("airflow", "providers", "links", "--output", "json"))
    assert "lakeproof.airflow.links.RunLink" in [one["extra_link_class_name"] for one in links]


def test_parsing_dags_imports_no_pyspark(parsed):
    assert parsed["heavy"] == []


def test_the_shipped_dag_is_that_of_the_seed(parsed):
    assert parsed["dag"] == {
        "dag_id": "data_quality_checks",
        "schedule": "@daily",
        "start_date": "2024-01-01T00:00:00+00:00",
        "catchup": False,
        "max_active_runs": 1,
        "tags": ["data-quality", "iceberg", "lakehouse"],
        "retries": [1],
        "retry_delay": [60.0],
        "owner": ["data-engineering"],
    }


def test_its_tasks_are_in_a_row_and_the_first_three_in_a_group(parsed):
    assert parsed["edges"] == [
        ["quality.evaluate_gate", "promote"],
        ["quality.persist_results", "quality.evaluate_gate"],
        ["quality.run_quality_checks", "quality.persist_results"],
    ]
    assert parsed["group"] == [
        "quality.evaluate_gate",
        "quality.persist_results",
        "quality.run_quality_checks",
    ]


def test_partition_and_run_id_are_templates(parsed):
    for name, fields in parsed["template_fields"].items():
        if name not in {"ReconcileOperator", "VerifyLedgerOperator"}:
            assert "run_id" in fields, name
    assert "partition" in parsed["template_fields"]["RunChecksOperator"]
    assert "partition" in parsed["template_fields"]["ReconcileOperator"]


def test_a_retry_has_the_id_of_its_first_try_and_a_cleared_task_another(parsed):
    first, retry, cleared, retry_of_cleared, *others = parsed["run_ids"]
    assert first == retry
    assert cleared == retry_of_cleared
    assert len({first, cleared, *others}) == 5, "another run, cleared at work, made again"
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", one) for one in parsed["run_ids"])


def test_connections_lead_to_a_folder_a_connect_server_or_a_master(parsed):
    assert parsed["places"] == {
        "local": ["", "", "/data"],
        "sc": ["", "sc://spark:15002/;token=secret", ""],
        "spark": ["spark://spark:7077", "", ""],
        "of_the_spark_provider": ["", "sc://spark:15002/;use_ssl=true", ""],
        "quoted": ["", "sc://spark/;token=a%25%3B%23b%3D%3D", ""],
        "typed_into_a_form": ["", "sc://spark", ""],
    }
    of_the_name, of_the_flag = parsed["mistakes"]
    assert "unknown extra 'werehouse'. Did you mean 'warehouse'?" in of_the_name
    assert of_the_flag == "connection 'us': extra use_ssl must be true or false"


def test_a_token_comes_to_spark_as_it_was_given(parsed):
    """Whatever Spark's own parser of addresses makes of it."""
    core = pytest.importorskip("pyspark.sql.connect.client.core")
    address = parsed["places"]["quoted"][1]
    assert core.DefaultChannelBuilder(address).token == "a%;#b=="  # noqa: S105


def test_a_warehouse_is_meant_from_its_configuration_or_from_home(parsed):
    assert parsed["warehouse_at_home"] == ["HOME/lakehouse", "BESIDE/lakehouse"]


def test_mistakes_in_options_are_refused_at_once(parsed):
    assert parsed["refused"] == {
        "unknown": "'brnch' is no option of promote. Did you mean 'branch'?",
        "given": "'ledger' is not for `options`: the operator gives it, as an argument of its own "
        "or by itself.",
        "of_the_connection": "'store' is not for `options`: the connection says it, whose extra "
        "`config` names a lakeproof.toml with [store].",
        "results_expected": "gate: results_expected must be a number, got 'many'",
    }


def test_trusted_rows_are_moved_by_promotions_to_the_default_places_alone(parsed):
    assert parsed["trusted_targets"] == {
        "c.n.orders.branch_trusted": True,
        "c.n.orders_trusted": True,
        "c.n.orders": True,
        "c.n.orders.branch_qa": False,
        "c.n.orders_qa": False,
    }


def test_a_killed_task_is_left_at_once_even_while_it_handles_the_error_of_a_rule(parsed):
    assert parsed["left_when_killed"] == {"RuleTimeoutError": True, "AirflowTaskTimeout": False}


def test_a_gate_that_reads_through_spark_can_be_killed_too(parsed):
    assert parsed["session_of_the_gate"]


def test_a_document_is_staged_and_read_back_whole(parsed):
    assert parsed["staged"] == {
        "same": True,
        "same_by_address": True,
        "missing": None,
        "empty": [],
        "damaged": "/staged/damaged.results.json is no document of staged results: "
        "JSONDecodeError: Expecting value: line 1 column 14 (char 13). Delete it, and clear the "
        "task that runs the checks",
        "files": 2,
    }


def test_what_is_installed_beside_airflow_satisfies_the_extras(airflow):
    """In the environment of `make setup-airflow`; it does not show that others can be resolved."""
    airflow.run("python", "-m", "pip", "check", "--disable-pip-version-check")
    # `--no-index`: whatever is not installed yet would not be found.
    airflow.run(
        "python", "-m", "pip", "install", "--dry-run", "--no-index", "--no-build-isolation",
        "--disable-pip-version-check", f"{ROOT}[airflow,spark,iceberg]",
    )  # fmt: skip


def test_both_sets_of_pins_agree():
    def pins(file: str) -> dict[str, str]:
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        split = [line.partition("==") for line in lines if "==" in line]
        return {name.lower().replace("_", "-"): version for name, _, version in split}

    ours, airflows = pins("requirements.txt"), pins("requirements-airflow.txt")
    assert {name for name in ours.keys() & airflows if ours[name] != airflows[name]} == set()
    assert airflows["apache-airflow"].startswith("3.3.")


def test_the_picture_in_the_guide_is_drawn_from_the_dag():
    require_environment()
    done = subprocess.run(
        [BIN / "python", ROOT / "scripts" / "draw_dag.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_of_the_examples_is_found_by_airflow(parsed):
    ours = {"csv_to_iceberg_pipeline", "csv_auto_ingest", "data_quality_checks"}
    assert ours == set(parsed["dag_ids"])
    assert (EXAMPLES / "sales_sample.csv").is_file()
