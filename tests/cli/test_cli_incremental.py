"""What people see of state: plan, progress, suppression, audit and prune, on the shared session."""

from __future__ import annotations

import itertools
import json

import pytest

SUITE = """
SALES = [
    QualityCheck("amount_positive", "positive", "sales", "amount"),
    QualityCheck("order_unique", "uniqueness", "sales", "order_id"),
    QualityCheck("product_known", "foreign_key", "sales", "product",
                 params={"references": "products", "referenced_columns": ["product"]}),
    QualityCheck("enough_rows", "row_count_range", "sales", params={"min_count": 3}),
    QualityCheck("by_query", "custom_sql", "sales",
                 params={"sql": "SELECT * FROM sales WHERE amount > 1000"}),
]
"""
CATALOGS = {"delta": "spark_catalog", "iceberg": "iceberg"}
FEED = {"delta": " TBLPROPERTIES (delta.enableChangeDataFeed = true)", "iceberg": ""}
_numbers = itertools.count()


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.slow) for one in ("delta", "iceberg")])
def shop(request, spark, folder, warehouse, suite_file):
    """Six orders of which two share an id, one has no amount above 0, one no known product.

    The ids of two lie in a tile that is not crowded.
    """
    kind, number = request.param, next(_numbers)
    space = f"{CATALOGS[kind]}.state_shop_{number}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {space}")
    columns = "(order_id BIGINT, amount DOUBLE, product STRING)"
    spark.sql(f"CREATE TABLE {space}.sales {columns} USING {kind}{FEED[kind]}")
    spark.sql(f"CREATE TABLE {space}.products (product STRING) USING {kind}{FEED[kind]}")
    spark.sql(f"INSERT INTO {space}.products VALUES ('P')")
    spark.sql(
        f"INSERT INTO {space}.sales VALUES (1, 5.0, 'P'), (2, -1.0, 'P'), (2, 5.0, 'P'), "
        "(3, 5.0, 'Q'), (100, 5.0, 'P'), (101, 5.0, 'P')"
    )
    (folder / "lakeproof.toml").write_text(
        f"default_catalog = '{CATALOGS[kind]}'\ndefault_namespace = 'state_shop_{number}'\n"
        f"[store]\nformat = '{kind}'\ncatalog = '{CATALOGS[kind]}'\n"
        f"namespace = 'state_shop_{number}'\n"
        "[tables.sales]\nkey = ['order_id']\nmode = 'cdf'\n",
        encoding="utf-8",
    )
    return space, f"{suite_file(SUITE)}:SALES", ("--warehouse", str(warehouse), "--quiet")


def documents(lakeproof, *call):
    done = lakeproof(*call, "--format", "json")
    assert done.exit_code in {0, 1}, done.output
    return json.loads(done.stdout), done.exit_code


def by_name(rows, name="rule"):
    return {row[name]: row for row in rows}


def test_state_from_the_first_run_to_its_rebuild(lakeproof, spark, shop):
    _, suite, place = shop
    first = follow_changes(lakeproof, spark, shop)
    suppress_and_lift(lakeproof, shop)
    audit_and_rebuild(lakeproof, spark, shop, first["results"][1]["rule_id"])
    assert lakeproof("store", "prune", *place).exit_code == 0
    assert documents(lakeproof, "store", "audit", suite, "--share", "1", *place)[1] == 0
    migrated = lakeproof("store", "migrate", *place)
    assert migrated.exit_code == 0, migrated.output
    assert migrated.stdout.count("as it was") == 5
    expire_and_drop(lakeproof, spark, shop)


def follow_changes(lakeproof, spark, shop):
    """Plan, run, see the progress, and see it fall behind."""
    space, suite, place = shop
    planned, _ = documents(lakeproof, "plan", suite, *place)
    parts = by_name(planned["tables"][0]["reads"], "part")
    assert parts["rebuild"]["rules"] == [
        "amount_positive", "order_unique", "product_known", "enough_rows",
    ]  # fmt: skip
    assert parts["whole"]["rules"] == ["by_query"]

    first, code = documents(lakeproof, "run", suite, *place, "--run-id", "first")
    assert code == 1
    assert [result["failing_rows"] for result in first["results"]] == [1, 1, 1, 0, 0]
    progress, _ = documents(lakeproof, "show", "progress", *place)
    stands = by_name(progress["rules"])
    assert {stand["commits_behind"] for stand in stands.values()} == {0}
    assert stands["order_unique"]["mode"] == "cdf"

    spark.sql(f"INSERT INTO {space}.products VALUES ('P')")
    spark.sql(f"INSERT INTO {space}.sales VALUES (9, 5.0, 'P')")
    stands = by_name(documents(lakeproof, "show", "progress", *place)[0]["rules"])
    assert stands["order_unique"]["commits_behind"] == 1
    assert stands["order_unique"]["kept_share_used"] < 0.5
    assert stands["order_unique"]["referred_table"] is None
    assert stands["product_known"]["referred_table"] == f"{space}.products"
    told = lakeproof("plan", suite, *place).stdout
    assert "changes from" in told
    assert "(a query of the user)" in told
    return first


def suppress_and_lift(lakeproof, shop):
    """The same rows fail, and close the gate only while nobody answers for them."""
    _, suite, place = shop
    found, _ = documents(lakeproof, "show", "violations", "--new", *place)
    hits = [row["hit_id"] for row in found["violations"]]
    assert len(hits) == 3
    unknown = lakeproof("suppress", "00000000", *place, "--until", "30d", "--why", "x")
    assert unknown.exit_code == 2
    assert "no violation 00000000 is kept" in unknown.stderr
    given = ("--until", "30d", "--why", "a known migration", "--by", "ann")
    done = lakeproof("suppress", hits[0][:8], *hits[1:], *place, *given)
    assert done.exit_code == 0, done.output
    assert "by ann: a known migration" in done.stdout

    second, code = documents(lakeproof, "run", suite, *place, "--run-id", "second")
    assert code == 0
    assert [result["failing_rows"] for result in second["results"]] == [1, 1, 1, 0, 0]
    assert [result["suppressed_rows"] for result in second["results"]] == [1, 1, 1, 0, 0]
    assert second["results"][0]["mode"] == "cdf"
    assert lakeproof("suppress", hits[0], *place, "--lift").exit_code == 0
    assert documents(lakeproof, "run", suite, *place, "--run-id", "third")[1] == 1


def audit_and_rebuild(lakeproof, spark, shop, rule_id):
    """Keys that somebody took out of the index are missed, and come back."""
    space, suite, place = shop
    audited, code = documents(lakeproof, "store", "audit", suite, "--share", "1", *place)
    assert code == 0
    rules = by_name(audited["rules"])
    assert rules["order_unique"]["keys"] == 6
    assert rules["product_known"]["keys"] == 3  # P and Q are asked for, P is there
    assert "a query of the user" in rules["by_query"]["skipped"]

    spark.sql(f"DELETE FROM {space}._quality_key_index WHERE rule_id = '{rule_id}'")
    audited, code = documents(lakeproof, "store", "audit", suite, "--share", "1", *place)
    assert code == 1
    drifted = [row["rule"] for row in audited["rules"] if row["drifted"]]
    assert drifted == ["order_unique"]
    done = lakeproof("store", "audit", suite, "--share", "1", "--rebuild", *place)
    assert done.exit_code == 0, done.output
    assert "rebuilt by run" in done.stdout


def expire_and_drop(lakeproof, spark, shop):
    """What is no longer there to be read is told, and is no success of an audit."""
    space, suite, place = shop
    spark.sql(f"UPDATE {space}.sales SET amount = amount + 1")
    forget_history(spark, f"{space}.sales")
    told = lakeproof("show", "progress", *place)
    assert f"{space}.sales: " in told.stderr
    assert "; the next run rebuilds" in told.stderr
    audited = lakeproof("store", "audit", suite, *place, "--format", "json")
    assert audited.exit_code == 3, audited.output
    rules = by_name(json.loads(audited.stdout)["rules"])
    assert rules["order_unique"]["failed"]
    assert rules["by_query"]["skipped"]

    documents(lakeproof, "run", suite, *place, "--run-id", "rebuilt")
    assert documents(lakeproof, "store", "audit", suite, *place)[1] == 0
    spark.sql(f"DROP TABLE {space}.sales")
    told = lakeproof("show", "progress", *place)
    assert f"table {space}.sales does not exist" in told.stdout
    assert "a run can evaluate none of its rules" in told.stderr
    assert "rebuilds" not in told.stderr
    assert lakeproof("store", "audit", suite, *place).exit_code == 3


def forget_history(spark, table):
    """Remove every file that only earlier states of the table need."""
    if table.startswith("iceberg."):
        spark.sql(
            f"CALL iceberg.system.expire_snapshots(table => '{table}', retain_last => 1, "
            "older_than => TIMESTAMP '2100-01-01 00:00:00')"
        )
        return
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    try:
        spark.sql(f"VACUUM {table} RETAIN 0 HOURS")
    finally:
        spark.conf.unset(check)
