from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.explain import (
    fused_rules,
    plan_document,
    plan_sql,
    plan_tree,
    statements_of,
    total_actions,
)
from lakeproof.planning.read_mode import Part, Share
from lakeproof.planning.tables import PinnedTable

GOLDEN = Path(__file__).parent.parent / "golden"
NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
COLUMNS = {
    "sales": {
        "order_id": "bigint",
        "amount": "double",
        "country": "string",
        "customer_id": "bigint",
    },
    "products": {"sku": "string", "price": "decimal(10,2)"},
}
HOSTILE = "\x1b[2J\nSELECT 1 -- \u202e"

SUITE = [
    QualityCheck("order_unique", "uniqueness", "sales", "order_id"),
    QualityCheck("order_known", "not_null", "sales", "order_id"),
    QualityCheck("amount_positive", "positive", "sales", "amount", filter="country = 'IT'\n"),
    QualityCheck("enough_rows", "row_count_range", "sales", params={"min_count": 10}),
    QualityCheck("amount_positive_soft", "positive", "sales", "amount", filter="country = 'IT'",
                 severity="warning", tolerance=0.01),
    QualityCheck("big_orders", "custom_sql", "sales", timeout_seconds=2,
                 params={"sql": "SELECT * FROM sales WHERE amount > 1000000"}),
    QualityCheck("countries", "aggregate", "sales", "country",
                 {"function": "distinct_count", "max_value": 200}),
    QualityCheck("product_known", "foreign_key", "sales", "country",
                 {"references": "products", "referenced_columns": "sku"}),
    QualityCheck("sku_unique", "uniqueness", "products", "sku"),
    QualityCheck("spelled", "not_null", "sales", "contry"),
    QualityCheck("no_such_table", "not_null", "orders", "id"),
    QualityCheck("unknown", "uniqe", "sales", "order_id"),
]  # fmt: skip


class Tables:
    """Tables in memory, as far as planning looks at them."""

    def pin(self, table, key, position=None, sensitive=(), declared=None):
        if table.short not in COLUMNS:
            raise CheckDefinitionError(f"table {table} does not exist")
        return PinnedTable(
            table=table,
            table_id=f"id-{table.short}",
            format="iceberg" if table.short == "sales" else "parquet",
            position=Position("iceberg", 42) if table.short == "sales" else None,
            columns=tuple(Column(*item) for item in COLUMNS[table.short].items()),
            relation=f"{table.sql} VERSION AS OF 42" if table.short == "sales" else table.sql,
            key_columns=tuple(key),
            key_sql="KEY()",
        )

    def key_sql(self, pinned, columns):
        return f"KEY({', '.join(column.name for column in columns)})"

    def query_key_sql(self, sql, pinned, hidden=()):
        return "KEY()"

    def element_key_sql(self, key_sql, position_sql):
        return f"KEY({key_sql}, {position_sql})"

    def ensure_query(self, sql):
        """Everything is fine here."""

    def ensure_predicate(self, pinned, sql):
        """Everything is fine here."""


def planned(*checks):
    config = Config()
    defaults = Defaults(
        resolve=lambda name: name.resolve(config.default_catalog, config.default_namespace),
        key_of=lambda table: ("order_id",) if table.short == "sales" else (),
    )
    return build_plan(rules_of(checks, config), Tables(), defaults, NOW)


def without_ids(value):
    """The document less its hashes, which other tests look after."""
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key != "rule_id"}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def plan():
    return planned(*SUITE)


def test_the_tree_is_as_agreed(plan):
    assert plan_tree(plan) + "\n" == (GOLDEN / "plan_tree.txt").read_text(encoding="utf-8")


def test_the_document_is_as_agreed(plan):
    golden = json.loads((GOLDEN / "plan_document.json").read_text(encoding="utf-8"))
    assert without_ids(plan_document(plan)) == golden


def test_the_printed_sql_is_word_for_word_what_the_steps_hold(plan):
    steps = [
        sql
        for table in plan.tables
        for sql in (
            table.scan.sql,
            *(step.sql for step in table.own_steps),
            bad_rows_sql(table, frozenset(rule.rule_id for rule in table.rules)),
        )
    ]
    assert [statement.sql for statement in statements_of(plan)] == steps
    script = plan_sql(plan)
    for sql in steps:
        assert f"\n{sql};" in script


def test_statements_but_the_bad_rows_are_the_actions(plan):
    answering = [item for item in statements_of(plan) if not item.purpose.startswith("bad rows")]
    assert len(answering) == total_actions(plan) == 7
    assert plan_document(plan)["actions"] == 7


def test_every_rule_of_the_suite_is_somewhere_in_the_tree(plan):
    tree = plan_tree(plan)
    for check in SUITE:
        assert tree.count(f" {check.name}: ") == 1


def test_rules_without_an_action_of_their_own_are_fused(plan):
    sales = plan.tables[0]
    assert [rule.key for rule in fused_rules(sales)] == [
        "order_known",
        "amount_positive",
        "enough_rows",
        "amount_positive_soft",
    ]


def test_sql_is_in_the_document_only_if_asked_for(plan):
    assert "statements" not in plan_document(plan)
    given = plan_document(plan, statements_of(plan))["statements"]
    assert [item["sql"] for item in given] == [item.sql for item in statements_of(plan)]


def test_hostile_names_cannot_forge_lines_of_the_tree_or_of_the_script():
    hostile = planned(
        QualityCheck(HOSTILE, "not_null", "sales", "order_id"),
        QualityCheck(f"key{HOSTILE}", "uniqueness", "sales", "order_id"),
        QualityCheck(f"bad{HOSTILE}", f"type{HOSTILE}", "sales", "order_id"),
        QualityCheck(
            f"scoped{HOSTILE}", "not_null", "sales", "amount", filter="country = 'a\x1bb'"
        ),
    )
    tree = plan_tree(hostile)
    assert all(char.isprintable() for char in tree.replace("\n", ""))
    assert all(line[0] in "P├│└" for line in tree.splitlines())
    comments = [line for line in plan_sql(hostile).splitlines() if line.startswith("-- iceberg")]
    assert len(comments) == 3
    assert all(char.isprintable() for line in comments for char in line)


def test_an_empty_plan_has_no_actions():
    assert plan_tree(planned()).splitlines()[0].endswith("0 rules, 0 tables, 0 actions")
    assert plan_sql(planned()) == ""


def test_a_plan_prints_as_its_tree(plan):
    assert str(plan) == plan_tree(plan)
    assert plan._repr_html_().startswith("<pre>Plan at 2025-01-02")
    hostile = planned(QualityCheck("<script>", "not_null", "sales", "order_id"))
    assert "<script>" not in hostile._repr_html_()


def test_what_is_read_of_a_table_on_changes(plan):
    sales = plan.tables[0]
    ids = {rule.key: rule.rule_id for rule in sales.rules}
    whole = ("big_orders", "countries")
    changed = ("order_unique", "order_known", "amount_positive")  # and its twin of other severity
    mark = Mark("id-sales", Position("iceberg", 40))
    reads = (
        Share(Part.CHANGES, tuple(ids[key] for key in changed), "a changelog", since=mark),
        Share(Part.REBUILD, (ids["product_known"],), "its snapshot has expired", code="expired"),
        Share(Part.STILL, (ids["enough_rows"],), "nothing new since snapshot 42"),
        Share(Part.WHOLE, tuple(ids[key] for key in whole), "a query of the user"),
    )
    table = replace(sales, mode="cdf", mode_reason="it has a changelog", reads=reads)
    told = plan_tree(replace(plan, tables=(table,))).splitlines()
    lines = [line.replace("\u2502", " ").strip("\u251c\u2514\u2500 ") for line in told]
    assert "mode: cdf (it has a changelog)" in lines
    assert "changes from snapshot 40 to snapshot 42, 1 action: 4 rules (a changelog)" in lines
    assert (
        "rebuilt from the whole table at snapshot 42, 1 action: 1 rule (its snapshot has expired)"
        in lines
    )
    assert "nothing to read: 1 rule (nothing new since snapshot 42)" in lines
    assert "evaluated over the whole table, below: 2 rules (a query of the user)" in lines
    assert "query, limit 2 s: 1 action" in lines
    assert not any(line.startswith("key set") for line in lines)  # it follows the changes
    document = plan_document(replace(plan, tables=(table,)))["tables"][0]
    assert [(read["part"], read["gap"]) for read in document["reads"]] == [
        ("changes", ""),
        ("rebuild", "expired"),
        ("still", ""),
        ("whole", ""),
    ]
    assert document["reads"][0]["since"]["position"] == {"kind": "iceberg", "value": 40}
    assert document["keys"] == []
    assert len(document["queries"]) == 1
    assert {item.table for item in statements_of(replace(plan, tables=(table,)))} == {
        "iceberg.lakehouse.sales"
    }


def test_rules_of_one_table_are_rebuilt_together_whatever_the_reasons(plan):
    sales = plan.tables[0]
    ids = {rule.key: rule.rule_id for rule in sales.rules}

    def told(*reads):
        table = replace(sales, mode="cdf", reads=reads)
        document = plan_document(replace(plan, tables=(table,)))
        tree = plan_tree(replace(plan, tables=(table,)))
        texts = [line.partition("rebuilt ")[2] for line in tree.splitlines() if "rebuilt " in line]
        assert document["actions"] == document["tables"][0]["actions"]
        return document["actions"], [text.partition(":")[0] for text in texts]

    known = Share(Part.REBUILD, (ids["order_known"],), "the first run of this rule")
    expired = Share(Part.REBUILD, (ids["product_known"],), "its snapshot has expired")
    place = "from the whole table at snapshot 42"
    assert told(known, expired) == (1, [f"{place}, 1 action", f"{place}, with those above"])
    numbers = Share(Part.REBUILD, (ids["order_unique"],), "it was asked for")
    assert told(known, numbers) == (2, [f"{place}, 2 actions", f"{place}, with those above"])
    changed = replace(numbers, part=Part.CHANGES, since=Mark("id-sales", Position("iceberg", 40)))
    assert told(known, changed) == (2, [f"{place}, 1 action"]), "only a rebuild looks for tiles"


def test_the_statement_that_makes_a_table_incremental_is_told(plan):
    products = plan.tables[1]
    everything = tuple(rule.rule_id for rule in products.rules)
    whole = (Share(Part.WHOLE, everything, "no feed"),)
    advice = "ALTER TABLE t SET TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    told = replace(products, mode_advice=advice, reads=whole)
    tree = plan_tree(replace(plan, tables=(told,)))
    assert f"to make it incremental: {advice}" in tree
    assert "over the whole table, below" not in tree  # the mode says so
    assert "key set (sku)" in tree
    by_watermark = replace(told, mode="watermark")
    assert f"to see updates and deletes too: {advice}" in plan_tree(
        replace(plan, tables=(by_watermark,))
    )
