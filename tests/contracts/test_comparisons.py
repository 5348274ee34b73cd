"""Comparisons of two tables as a contract writes them, `engine: lakeproof`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.config import Config
from lakeproof.contracts.gathering import gather
from lakeproof.contracts.loading import load_contract
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.threshold import Threshold

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
COUNT = {"name": "rows", "expression": "COUNT(*)", "target_column": "n"}


def contract_with(asked, *, on_property=False, **beside):
    rule = {"id": "compared", "type": "custom", "engine": "lakeproof", "implementation": asked}
    amount = {"name": "amount", "physicalName": "amt"}
    gold = {"name": "gold", "physicalName": "gold_v2", "properties": [{"name": "id"}, amount]}
    owner = amount if on_property else gold
    owner["quality"] = [{**rule, **beside}]
    raw = {"name": "raw", "physicalName": "raw_v1", "properties": [{"name": "id"}]}
    return load_contract({"id": "shop", "schema": [gold, raw]})


def rule_with(asked, **more):
    rules = gather(contract_with(asked, **more), Config(), NOW).rules
    return next(rule for rule in rules if rule.key == "shop/compared")


def accepted(asked, **more):
    rule = rule_with(asked, **more)
    assert isinstance(rule, Rule), rule
    return rule


def refused(asked, **more):
    rule = rule_with(asked, **more)
    assert isinstance(rule, RejectedRule), rule
    return rule.reason


@pytest.mark.parametrize(
    "asked",
    [
        {"check": "reconciliation"},
        {
            "check": "aggregate_consistency",
            "aggregate_column": "amt",
            "source_expression": "SUM(amount)",
        },
        {"check": "multi_aggregate_consistency", "aggregates": [COUNT], "group_by": ["day"]},
        {"check": "key_parity", "key_columns": ["id"]},
        {"check": "checksum_reconciliation", "key_columns": "id"},
    ],
    ids=lambda asked: asked["check"],
)
def test_a_comparison_stands_on_an_object_and_names_another(asked):
    rule = accepted({**asked, "source_table": "raw", "where_clause": "x > 1", "filter": "y > 1"})
    assert rule.check == asked["check"]
    assert str(rule.table) == "iceberg.lakehouse.gold_v2"
    assert rule.arguments["source_table"] == "iceberg.lakehouse.raw_v1"
    assert (rule.arguments["where_clause"], rule.filter) == ("x > 1", "y > 1")
    assert rule.columns == ()
    beside = {name: value for name, value in asked.items() if name != "check"}
    grouped = accepted({"check": asked["check"], "params": {**beside, "source_table": "raw"}})
    assert str(grouped.table) == "iceberg.lakehouse.gold_v2"
    outside = accepted({**asked, "source_table": "lake.raw.orders"})
    assert outside.arguments["source_table"] == "lake.raw.orders"


KEYED = {"check": "checksum_reconciliation", "source_table": "raw", "key_columns": ["id"]}
COUNTED = {"check": "reconciliation", "source_table": "raw"}
SUMMED = {
    "check": "aggregate_consistency",
    "source_table": "raw",
    "aggregate_column": "amt",
    "source_expression": "SUM(amount)",
}


def test_compared_columns_are_named_as_the_contract_names_them():
    assert accepted({**KEYED, "columns": ["amount"]}).columns == ("amt",)
    assert accepted({**KEYED, "column_name": "amount"}).columns == ("amt",)
    assert accepted(KEYED, on_property=True).columns == ("amt",)
    assert "no property 'amuont'" in refused({**KEYED, "columns": ["amuont"]})
    assert accepted(COUNTED, on_property=True).columns == ()


def test_a_precision_of_null_is_exact():
    assert accepted({**KEYED, "float_precision": None}).arguments["float_precision"] is None


def test_the_kind_of_count_is_read_beside_the_name_of_the_check():
    for asked in (
        {**COUNTED, "check_type": "rowcount_gte"},
        {"check_type": "reconciliation", "source_table": "raw"}
        | {"params": {"check_type": "rowcount_gte"}},
    ):
        assert accepted(asked).arguments["check_type"] == "rowcount_gte"
    named = {"check_type": "reconciliation", "source_table": "raw"}
    assert accepted(named).arguments["check_type"] == "rowcount_parity"
    assert "Did you mean 'rowcount_gte'?" in refused({**COUNTED, "check_type": "rowcount_gt"})


def test_tolerances_of_rows_are_a_threshold():
    for share in ("5%", 0.05, "0.05"):
        assert accepted({**KEYED, "tolerance": share}).threshold == Threshold(0.05)
    assert accepted({**COUNTED, "absolute_tolerance": 3}).threshold == Threshold(None, 3)
    assert "0 or more rows" in refused({**COUNTED, "absolute_tolerance": 0.5})


def test_tolerances_of_aggregates_are_part_of_the_rule():
    rule = accepted({**SUMMED, "tolerance": "5%", "absolute_tolerance": 0.5})
    assert (rule.arguments["tolerance"], rule.arguments["absolute_tolerance"]) == (0.05, 0.5)
    assert rule.threshold == Threshold()
    assert rule.rule_id != accepted(SUMMED).rule_id
    assert "0 or more" in refused({**SUMMED, "absolute_tolerance": -1})


def test_the_filter_of_the_target_may_have_its_name_of_python():
    assert accepted({**KEYED, "target_where_clause": "y > 1"}).filter == "y > 1"
    both = accepted({**KEYED, "target_where_clause": "y > 1", "filter": "z > 1"}).filter
    assert "y > 1" in both
    assert "z > 1" in both


def test_operators_are_refused_for_they_would_pass_what_no_number_tells():
    for asked in (KEYED, COUNTED, SUMMED):
        assert "instead of an operator" in refused(asked, mustBeLessThan=5)


def test_an_option_of_the_first_form_works_as_well():
    entry = {"id": "compared", "code": "key_parity", "engine": "lakeproof"}
    asked = {"source_table": "raw", "key_columns": ["id"]}
    parameters = [{"parameter": name, "value": value} for name, value in asked.items()]
    gold = {"name": "gold", "quality": [{**entry, "parameters": parameters}]}
    contract = load_contract({"id": "shop", "schema": [gold, {"name": "raw"}]})
    rules = gather(contract, Config(), NOW).rules
    rule = next(rule for rule in rules if rule.key == "shop/compared")
    assert isinstance(rule, Rule), rule
    assert rule.arguments["source_table"] == "iceberg.lakehouse.raw"
