"""Contracts run from Python: tables and frames, what is hidden, what is kept, what is split."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof import CheckDefinitionError, QualityCheck, load_contract, plan, run, split
from lakeproof.config import CATALOG_OF_FORMAT, Config, ContractSettings, StoreSettings
from lakeproof.gating.policy import exit_code
from lakeproof.model.canonical import readable_key
from lakeproof.state import open_store
from lakeproof.state.reading import Among, Question, SparkReader
from lakeproof.state.statements import result_of_row

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
SECRET = "ada@example.org"  # noqa: S105 (an address that must not be seen)
CONTRACT = """\
apiVersion: v3.2.0
kind: DataContract
id: shop
version: 1.2.0
status: active
schema:
- name: orders
  physicalName: orders_${STAGE:-v1}
  properties:
  - name: order
    physicalName: order_id
    primaryKey: true
    primaryKeyPosition: 1
  - name: contact
    classification: PII
    logicalTypeOptions: {pattern: '^[0-9]+$'}
  - name: amount
    logicalTypeOptions: {minimum: 0}
    quality:
    - {id: twice, metric: duplicateValues, mustBeBetween: [0, 1], tags: [nightly]}
    - {id: query, type: sql, query: 'SELECT min(${column}) FROM ${table}', mustBe: -1}
  - name: fax
    required: true
    deprecated: true
  quality:
  - id: rows
    metric: rowCount
    mustBeGreaterThan: 0
    dimension: cp
    businessImpact: operational
    schedule: 0 6 * * *
    scheduler: cron
    customProperties: [{property: owner, value: sales}]
- name: customers
  properties:
  - name: email
    classification: restricted
    primaryKey: true
    primaryKeyPosition: 1
  - name: country
    enum: [{value: IT}]
- name: refunds
  properties:
  - name: id
    required: true
  quality:
  - {metric: rowCount, mustBe: 0}
"""
ORDERS = f"""
SELECT id AS order_id, if(id = 2, '{SECRET}', '0123') AS contact,
  CAST(if(id = 3, -1, id % 3) AS INT) AS amount, if(id = 4, NULL, 'f') AS fax FROM range(6)
"""
CUSTOMERS = f"SELECT '{SECRET}' AS email, 'Atlantis' AS country UNION ALL SELECT 'b', 'IT'"


@pytest.fixture(scope="module")
def frames(spark):
    return {"orders": spark.sql(ORDERS), "customers": spark.sql(CUSTOMERS)}


@pytest.fixture(scope="module")
def outcome(spark, frames, tmp_path_factory):
    """One run of the file; nobody says where the refunds are, and no such table is there."""
    path = tmp_path_factory.mktemp("contract") / "shop.odcs.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    return run(spark, path, tables=frames, clock=lambda: NOW)


@pytest.fixture(scope="module")
def found(outcome):
    return {result.check_name.removeprefix("shop/"): result for result in outcome.results}


@pytest.fixture(scope="module")
def tables(spark):
    """The orders as an Iceberg table, in the namespace that is given."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.contract_shop")
    spark.sql(f"CREATE OR REPLACE TABLE iceberg.contract_shop.orders_v1 USING iceberg AS {ORDERS}")
    return Config(default_namespace="contract_shop")


def test_each_rule_of_a_file_has_one_result_over_the_frames_that_were_given(found):
    expected = {
        "twice": ("failed", 0),  # 0, 1 and 2 come more than once: two values too many
        "query": ("passed", 0),
        "rows": ("passed", 0),
        "orders.contact:pattern": ("failed", 1),
        "orders.amount:minimum": ("failed", 1),
        "orders.order:primaryKey": ("passed", 0),
        "customers.country:enum": ("failed", 1),
    }
    assert {name: (found[name].status, found[name].failing_rows) for name in expected} == expected


def test_a_deprecated_column_warns(found):
    assert found["orders.fax:required"].status == "warned"
    assert "deprecated" in found["orders.fax:required"].declared["note"]


def test_a_missing_table_is_an_error_of_each_of_its_rules_and_the_others_run(outcome, found):
    missing = [result for result in outcome.results if result.table_name == "refunds"]
    assert len(missing) == 3
    assert {result.status for result in missing} == {"error"}
    assert all("refunds" in result.details for result in missing)
    assert found["rows"].status == "passed"
    assert not outcome.ok


def test_values_of_classified_columns_are_shown_nowhere(outcome, found):
    assert found["orders.contact:pattern"].sample_keys
    assert SECRET not in str(outcome.to_dict())
    assert SECRET not in str(outcome)
    assert SECRET not in str(outcome.violations().collect())


def test_the_primary_key_names_bad_rows_and_is_hashed_where_it_is_classified(found):
    (order,) = found["orders.amount:minimum"].sample_keys
    assert readable_key(order) == "order_id=3"
    (customer,) = found["customers.country:enum"].sample_keys
    assert SECRET not in customer
    assert readable_key(customer).startswith("email=")


def test_what_a_rule_says_about_itself_is_in_its_result(found):
    rows = found["rows"]
    assert rows.dimension == "completeness"
    assert rows.source.endswith("shop.odcs.yaml:26:5")
    said = {
        "id": "rows",
        "origin": "quality",
        "contract": "shop",
        "contract_version": "1.2.0",
        "engine": "lakeproof",
        "businessImpact": "operational",
        "schedule": "0 6 * * *",
        "scheduler": "cron",
    }
    assert said.items() <= rows.declared.items()
    assert "sales" in rows.declared["customProperties"]
    assert found["twice"].tags == ("nightly",)
    assert found["orders.contact:pattern"].declared["origin"] == "implied"


@pytest.mark.parametrize(
    ("settings", "status", "measure"),
    [
        (ContractSettings(), "failed", 2),
        (ContractSettings(duplicates="rows"), "failed", 4),
        (ContractSettings(duplicates="surplus"), "failed", 2),
    ],
)
def test_switches_of_the_configuration_decide_and_are_recorded(
    spark, frames, settings, status, measure
):
    (result,) = run(
        spark, CONTRACT, tables=frames, select="id:twice", config=Config(contracts=settings)
    ).results
    assert (result.status, result.measure) == (status, measure)
    assert result.declared["duplicates"] == settings.duplicates
    assert result.measures == {"duplicated_values": 2, "rows_involved": 4, "surplus_rows": 2}


def test_a_plan_tells_what_a_run_would_do(spark, frames):
    planned = plan(spark, load_contract(CONTRACT), tables=frames, clock=lambda: NOW)
    assert {rule.key for rule in planned.rejected} == {
        "shop/refunds:quality[0]", "shop/refunds.id:presence", "shop/refunds.id:required",
    }  # fmt: skip
    assert [table.pinned.table.short for table in planned.tables] == ["orders", "customers"]


def test_split_takes_one_object_of_a_contract(frames):
    parts = split(frames["orders"], CONTRACT, select="table:orders_v1")
    good, bad = parts
    assert good.count() == 3
    # A range of duplicates: the rows that it counts are not bad ones.
    assert {"shop/twice", "shop/query", "shop/rows"} <= set(parts.not_judged)
    broken = {row["order_id"]: row["_lakeproof_rules"] for row in bad.collect()}
    assert broken == {
        2: ["shop/orders.contact:pattern"],
        3: ["shop/orders.amount:minimum"],
        4: ["shop/orders.fax:required"],
    }
    with pytest.raises(CheckDefinitionError, match="split takes the checks of one table"):
        split(frames["orders"], CONTRACT)


def test_a_frame_that_the_server_promises_and_nobody_gives_is_an_error_of_each_rule(spark, frames):
    server = (
        "servers:\n- server: here\n  type: custom\n"
        "  customProperties: [{property: customType, value: dataframe}]\n"
    )
    given = {"customers": frames["customers"]}
    results = run(spark, CONTRACT + server, tables=given, clock=lambda: NOW).results
    by_table = {}
    for result in results:
        by_table.setdefault(result.table_name, set()).add(result.status)
    assert by_table.pop("customers") == {"passed", "failed"}
    assert by_table == {"orders": {"error"}, "refunds": {"error"}}
    assert any("none was given" in result.details for result in results)


def test_variables_say_which_table_is_meant(spark, tables):
    def statuses(**variables):
        results = run(spark, CONTRACT, select="id:rows", config=tables, variables=variables).results
        return [result.status for result in results]

    assert statuses(STAGE="v1") == ["passed"]
    assert statuses(STAGE="v9") == ["error"]


def test_a_contract_a_suite_and_another_contract_run_together(spark, tables):
    check = QualityCheck("amount_known", "not_null", "orders_v1", "amount")
    other = CONTRACT.replace("id: shop", "id: other")
    outcome = run(spark, [CONTRACT, check, other], select="id:rows amount_known", config=tables)
    assert [(result.check_name, result.status) for result in outcome.results] == [
        ("shop/rows", "passed"), ("amount_known", "passed"), ("other/rows", "passed"),
    ]  # fmt: skip
    assert outcome.ok
    assert len(outcome.plan.tables) == 1


def kept(spark, settings, run_id):
    question = Question("results", (Among(("run_id",), (run_id,)),))
    rows = SparkReader(open_store(spark, settings)).ask(question).rows
    return {result.check_name: result for result in map(result_of_row, rows)}


@pytest.mark.parametrize("format_name", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)])
def test_what_a_contract_declares_is_kept(spark, tables, format_name):
    settings = StoreSettings(
        format=format_name, catalog=CATALOG_OF_FORMAT[format_name], namespace="contract_state"
    )
    outcome = run(
        spark, CONTRACT, select="table:orders_v1", store=settings, run_id="one", config=tables
    )
    found = kept(spark, settings, "one")
    assert {name: one.declared for name, one in found.items()} == {
        one.check_name: one.declared for one in outcome.results
    }
    assert found["shop/rows"].declared["businessImpact"] == "operational"


def test_a_contract_of_nothing_that_runs_closes_the_gate(spark):
    contract = (
        "id: words\nschema:\n- name: orders\n  quality:\n"
        "  - {type: text, description: all is well}\n"
        "  - {type: custom, engine: montecarlo, implementation: x}\n"
    )
    outcome = run(spark, contract, tables={"orders": spark.range(1)})
    assert [result.status for result in outcome.results] == ["skipped", "skipped"]
    assert outcome.gate.reasons == ("nothing was evaluated",)
    assert exit_code(outcome.results, outcome.gate, "error") == 5
