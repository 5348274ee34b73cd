"""Which columns a rule may read: one too many costs a rebuild, one too few a wrong answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.column import Column
from lakeproof.model.position import Position
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.columns_read import columns_read, named_in, parent_columns_read
from lakeproof.planning.tables import PinnedTable

COLUMNS = ("id", "amount", "Amount_net", "a-b", "it`s", "größe", "no", "tags")
TYPES = {"tags": "array<string>"}


class Tables:
    """Tables of the same columns, whose rows are known by their id or by all columns."""

    def pin(self, table, key, position=None, sensitive=(), declared=None):
        return PinnedTable(
            table=table,
            table_id="id",
            format="delta",
            position=position or Position("delta", 9),
            columns=tuple(
                Column(
                    name,
                    TYPES.get(name, "bigint"),
                    element=Column("element", "string") if name in TYPES else None,
                )
                for name in COLUMNS
            ),
            relation=table.sql,
            key_columns=tuple(key),
            key_sql=self.key_sql(None, [Column(name, "bigint") for name in key or COLUMNS]),
        )

    def key_sql(self, pinned, columns):
        quoted = (f"`{'.'.join(one.path or (one.name,)).replace('`', '``')}`" for one in columns)
        return f"concat({', '.join(quoted)})"

    def element_key_sql(self, key_sql, position_sql):
        return key_sql

    def ensure_predicate(self, pinned, sql):
        """Everything is fine here."""

    def ensure_aggregate(self, sql):
        """Everything is fine here."""


def read_by(check, key=("id",), of=columns_read):
    config = Config()
    defaults = Defaults(
        resolve=lambda name: name.resolve(config.default_catalog, config.default_namespace),
        key_of=lambda _: key,
    )
    plan = build_plan(
        rules_of([check], config), Tables(), defaults, datetime(2025, 1, 1, tzinfo=UTC), None
    )
    assert not plan.rejected, plan.rejected
    (table,) = plan.tables
    (rule,) = table.rules
    assert rule.rule_id in table.weighed
    return of(table, rule.rule_id)


def row(expression, **more):
    return QualityCheck("row", "row_expression", "t", params={"expression": expression}, **more)


@pytest.mark.parametrize(
    ("check", "read"),
    [
        (QualityCheck("n", "not_null", "t", "amount"), {"id", "amount"}),
        (QualityCheck("n", "not_null", "t", "amount", filter="NO > 1"), {"id", "amount", "no"}),
        (QualityCheck("n", "range", "t", "Amount_net", {"min_value": 1}), {"id", "Amount_net"}),
        (QualityCheck("u", "uniqueness", "t", ["a-b", "it`s"]), {"a-b", "it`s"}),
        (QualityCheck("c", "row_count_range", "t", params={"min_count": 1}), set()),
        (row("AMOUNT_NET * 2 > 1"), {"id", "Amount_net"}),
        (row("`GRÖSSE` > 1 AND `a-b` > 1"), {"id", "a-b", "größe"}),
        (row("CAST(amount AS STRING) <> 'there is no row'"), {"id", "amount", "no"}),
    ],
)
def test_a_rule_reads_the_columns_that_its_sql_names(check, read):
    assert read_by(check) == read


@pytest.mark.parametrize(
    ("text", "is_every"),
    [
        ("hash(*)", True),
        ("hash( t.* )", True),
        ("hash(amount,\n *)", True),
        ("count(DISTINCT *)", True),
        ("EXISTS (SELECT 1 FROM p)", True),
        ("IDENTIFIER('am' || 'ount') > 1", True),
        ("hash(/* all */ amount)", True),
        ("amount * 2 + (1) * `no` * 3 > array(1)[0] * 2", False),
    ],
)
def test_who_need_not_name_a_column_reads_every_one(text, is_every):
    columns = [Column(name, "bigint") for name in COLUMNS]
    assert named_in(columns, ["", text]) == (set(COLUMNS) if is_every else {"amount", "no"})


def test_a_row_that_is_known_by_all_its_columns_reads_them_all():
    assert read_by(QualityCheck("n", "not_null", "t", "amount"), key=()) == set(COLUMNS)
    assert read_by(QualityCheck("u", "uniqueness", "t", "amount"), key=()) == {"amount"}


def test_of_the_table_that_is_referred_to_the_key_is_read():
    check = QualityCheck(
        "f", "foreign_key", "t", "amount", {"references": "p", "referenced_columns": "no"}
    )
    assert read_by(check) == {"amount"}
    assert read_by(check, of=parent_columns_read) == {"no"}
    assert read_by(row("no > 1"), of=parent_columns_read) == set()
