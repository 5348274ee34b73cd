"""The partition of a run: to whom it is given, which values it has, and what is asked twice."""

from __future__ import annotations

from datetime import date

import pytest

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.model.column import Column
from lakeproof.model.rule import RejectedRule
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.pairs.binding import _typed, refuse_another_way
from lakeproof.planning.partitions import in_partition


def suite(*params, check="checksum_reconciliation"):
    needed = {"source_table": "raw.orders", "key_columns": ["id"]}
    return rules_of(
        [
            QualityCheck(f"number {number}", check, "gold.orders", params={**needed, **one})
            for number, one in enumerate(params)
        ],
        Config(),
    )


def test_a_partition_is_given_to_rules_that_have_its_column():
    by_day, whole = in_partition(suite({"partition_column": "day"}, {}), date(2024, 3, 1))
    assert (by_day.arguments["partition"], whole.arguments["partition"]) == ("2024-03-01", None)
    assert (by_day.declared, whole.declared) == ({"partition": "day=2024-03-01"}, {})


def test_a_partition_that_no_rule_takes_is_refused():
    with pytest.raises(ConfigError, match="no rule has a partition_column"):
        in_partition(suite({}), "2024-03-01")
    with pytest.raises(ConfigError, match="Known: day"):
        in_partition(suite({"partition_column": "day"}), {"dya": "2024-03-01"})


@pytest.mark.parametrize("partition", ["2024-03-01", {"day": "2024-03-01"}])
@pytest.mark.parametrize("check", ["checksum_reconciliation", "checksum"])
def test_a_rejected_rule_tells_its_own_error_not_that_the_partition_is_unknown(partition, check):
    rules = suite({"partition_column": "day", "on_empty": "ignore"}, check=check)
    assert isinstance(rules[0], RejectedRule)
    assert in_partition(rules, partition) == rules


def test_a_rejected_rule_hides_no_misspelt_column():
    rules = suite({"partition_column": "day"}, {"on_empty": "ignore"})
    with pytest.raises(ConfigError, match="Known: day"):
        in_partition(rules, {"dya": "2024-03-01"})
    of_rows = rules_of([QualityCheck("names", "not_null", "gold.orders")], Config())
    assert isinstance(of_rows[0], RejectedRule)
    with pytest.raises(ConfigError, match="no rule has a partition_column"):
        in_partition(of_rows, "2024-03-01")


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("7", "bigint", 7),
        ("-7", "tinyint", -7),
        ("7.0", "int", 7),
        ("1e3", "int", 1000),
        ("+0.5", "decimal(3,2)", 0.5),
        (".5", "double", 0.5),
        ("1e308", "double", 10**308),
    ],
)
def test_a_text_is_read_as_the_number_that_its_column_has(text, kind, number):
    assert _typed(text, Column("part", kind)) == number


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        *((text, "bigint", "is no number") for text in ("a", "", " 7", "1_000", "٣", "0x1F")),
        *((text, "double", "is no number") for text in ("inf", "nan", "sNaN", "-Infinity")),
        *((text, kind, "is no number") for text in ("1e9999999",) for kind in ("int", "double")),
        ("1.5", "bigint", "is no value of 'part', which is BIGINT"),
        ("128", "tinyint", "is no value of"),
        ("1e999", "bigint", "is no value of"),
        ("9" * 6000, "decimal(38,0)", "is no value of"),
        ("0.001", "decimal(3,2)", "is no value of"),
        ("10", "decimal(3,2)", "is no value of"),
        ("1e309", "double", "is no value of"),
        ("1e39", "float", "is no value of"),
    ],
)
def test_a_value_that_the_column_cannot_have_is_refused(text, kind, told):
    with pytest.raises(CheckDefinitionError, match=told):
        _typed(text, Column("part", kind))


@pytest.mark.parametrize("other", [{"method": "hash_join"}, {"output_table": "a.b.c"}])
def test_one_comparison_is_not_made_in_two_ways(other):
    first, again, another = suite({}, {"on_empty": "fail"}, other)
    assert first.rule_id == again.rule_id == another.rule_id
    refuse_another_way(first, again)
    with pytest.raises(CheckDefinitionError, match="the same comparison as 'number 0', with"):
        refuse_another_way(first, another)
