"""Counts and aggregates of two tables: the statements, and what is refused before they run."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from lakeproof.checks.user_sql import RollUp, parse_aggregate
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.rule import Logic, Rule
from lakeproof.planning.pairs.aggregates import bind_aggregates, bind_counts
from lakeproof.planning.pairs.scopes import PairScopes
from lakeproof.planning.tables import PinnedTable

SOURCE_TYPES = {
    "day": "date",
    "region": "string",
    "amount": "decimal(10,2)",
    "weight": "double",
    "sold_at": "timestamp",
    "id": "int",
    "tags": "map<string,string>",
}
TARGET_TYPES = {
    "day": "date",
    "Region": "string",
    "total": "decimal(20,2)",
    "orders": "bigint",
    "mean": "double",
    "latest": "date",
    "note": "string",
    "id": "string",
    "tags": "map<string,string>",
}


class Reader:
    """The types of each side's values, as Spark would tell them."""

    def __init__(self, source, target):
        self.types = {"source": source, "target": target}

    def ensure_aggregate(self, sql):
        parse_aggregate(sql)

    def query_columns(self, sql):
        of_side = self.types["source" if "`bronze`" in sql else "target"]
        if isinstance(of_side, str):
            raise CheckDefinitionError(of_side)
        groups = [Column(f"group_{number}", "string") for number in range(sql.count("AS group_"))]
        values = [Column(f"value_{number}", text) for number, text in enumerate(of_side)]
        rows = [Column("rows", "bigint")] if "`rows`" in sql else []
        return (*groups, *values, *rows)


def pinned(name, types, sensitive=(), position=None):
    table = TableName.parse(name)
    columns = tuple(Column(*item) for item in types.items())
    return PinnedTable(
        table=table,
        table_id=name,
        format="iceberg",
        position=position,
        columns=columns,
        relation=table.sql,
        key_columns=(),
        key_sql="",
        sensitive=frozenset(sensitive),
    )


SOURCE = pinned("lake.bronze.orders", SOURCE_TYPES, position=Position("iceberg", 7))
TARGET = pinned("lake.gold.daily", TARGET_TYPES)


def rule(**arguments):
    logic = Logic(TARGET.table, "aggregate_consistency", 1, (), {})
    return Rule("r", "id", logic, TARGET.table, "daily", (), arguments)


def bound(
    column="total",
    expression="SUM(amount)",
    *,
    types=("decimal(20,2)", "decimal(30,2)"),
    scopes=PairScopes(),  # noqa: B008 (a frozen value)
    source=SOURCE,
    target=TARGET,
    **arguments,
):
    asked = rule(aggregate_column=column, source_expression=expression, **arguments)
    return bind_aggregates(asked, target, source, Reader([types[0]], [types[1]]), scopes)


def test_all_aggregates_of_a_side_are_one_query_by_group():
    asked = rule(
        aggregates=[
            {"name": "total", "expression": "SUM(amount)", "target_column": "total"},
            {"name": "n", "expression": "COUNT(*)", "target_column": "orders"},
        ],
        group_by=["day", "region"],
        partition_column="day",
        partition="2024-01-01",
    )
    reader = Reader(["decimal(20,2)", "bigint"], ["decimal(20,2)", "bigint"])
    scopes = PairScopes(source="amount > 0", target="note IS NULL")
    step = bind_aggregates(asked, TARGET, SOURCE, reader, scopes)
    assert step.source.sql == (
        "SELECT `day` AS group_0,\n       `region` AS group_1,\n"
        "       (\nSUM(amount)\n) AS value_0,\n       (\nCOUNT(*)\n) AS value_1\n"
        "FROM `lake`.`bronze`.`orders`\nWHERE (\namount > 0\n)\nGROUP BY `day`, `region`"
    )
    assert step.target.sql == (
        "SELECT `day` AS group_0,\n       `Region` AS group_1,\n"
        "       `total` AS value_0,\n       `orders` AS value_1\n"
        "FROM `lake`.`gold`.`daily`\nWHERE (\nnote IS NULL\n)"
    )
    assert step.groups == ("day", "Region")
    assert [one.name for one in step.aggregates] == ["total", "n"]
    assert step.needs_one_row == ()
    assert step.notes == {
        "source_sql": step.source.sql,
        "target_sql": step.target.sql,
        "positions": {"source": "snapshot 7", "target": None},
        "partition_scope": "day=2024-01-01",
        "group_by": ["day", "Region"],
        "aggregates": [
            {"name": "total", "source": "SUM(amount)", "target": "total"},
            {"name": "n", "source": "COUNT(*)", "target": "orders"},
        ],
    }


def test_counts_are_one_statement_each():
    step = bind_counts(rule(), TARGET, SOURCE, Reader([], []), PairScopes(source="amount > 0"))
    assert step.source.sql == (
        "SELECT count(*) AS `rows`\nFROM `lake`.`bronze`.`orders`\nWHERE (\namount > 0\n)"
    )
    assert step.target.sql == "SELECT count(*) AS `rows`\nFROM `lake`.`gold`.`daily`"
    assert step.notes["partition_scope"] == "full"


ROLL_UPS = {
    "SUM(amount)": RollUp.SUM,
    "(sum(a * b))": RollUp.SUM,
    "sum(a) FILTER (WHERE b > 1)": RollUp.SUM,
    "COUNT(*)": RollUp.COUNT,
    "count(a)": RollUp.COUNT,
    "count_if(a > 1)": RollUp.COUNT,
    "COUNT(DISTINCT a)": RollUp.IMPOSSIBLE,
    "SUM(DISTINCT a)": RollUp.IMPOSSIBLE,
    "AVG(a)": RollUp.IMPOSSIBLE,
    "max(a)": RollUp.IMPOSSIBLE,
    "SUM(a) - SUM(b)": RollUp.IMPOSSIBLE,
    "SUM(a) / COUNT(*)": RollUp.IMPOSSIBLE,
    "coalesce(sum(a), 0)": RollUp.IMPOSSIBLE,
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)": RollUp.IMPOSSIBLE,
}


@pytest.mark.parametrize("text", ROLL_UPS)
def test_only_a_single_sum_or_count_adds_up(text):
    assert parse_aggregate(text).roll_up is ROLL_UPS[text]


@pytest.mark.parametrize(
    ("column", "expression", "given", "value", "needs_one_row"),
    [
        ("total", "SUM(amount)", {}, "sum(`total`)", ()),
        ("orders", "COUNT(*)", {}, "if(count(*) = 0, 0, sum(`orders`))", ()),
        ("mean", "AVG(amount)", {}, "any_value(`mean`)", ("mean",)),
        (
            "mean",
            "AVG(amount)",
            {"target_expression": "sum(total) / sum(orders)"},
            "(\nsum(total) / sum(orders)\n)",
            (),
        ),
        # It is computed, so no column needs to be there.
        ("peak", "MAX(amount)", {"target_expression": "max(total)"}, "(\nmax(total)\n)", ()),
    ],
)
def test_without_groups_the_target_is_one_value(column, expression, given, value, needs_one_row):
    step = bound(column, expression, **given)
    assert step.target.sql == (
        f"SELECT {value} AS value_0,\n       count(*) AS `rows`\nFROM `lake`.`gold`.`daily`"
    )
    assert step.needs_one_row == needs_one_row


def test_a_target_expression_is_computed_by_group():
    step = bound("total", "AVG(amount)", group_by=["region"], target_expression="avg(total)")
    assert step.target.sql.endswith("(\navg(total)\n) AS value_0\nFROM `lake`.`gold`.`daily`\n"
                                    "GROUP BY `Region`")  # fmt: skip


MISTAKES = {
    "no such target column": (
        {"column": "totl"},
        "column 'totl' not found in the target table lake.gold.daily. Nearest: total",
    ),
    "no such source column": (
        {"expression": "SUM(amont)"},
        "column 'amont' not found in the source table lake.bronze.orders. Nearest: amount",
    ),
    "no such column in target_expression": (
        {"target_expression": "sum(totals)"},
        "target_expression of 'total': column 'totals' not found in the target table",
    ),
    "group missing in the target": (
        {"group_by": ["weight"]},
        "group_by: column 'weight' not found in the target table lake.gold.daily",
    ),
    "group missing in the source": (
        {"group_by": ["latest"]},
        "group_by: column 'latest' not found in the source table lake.bronze.orders",
    ),
    "groups of other types": ({"group_by": ["id"]}, "'id' is INT in the source and STRING in the"),
    "groups of maps": ({"group_by": ["tags"]}, "'tags' cannot be grouped by"),
    "texts are not summed": ({"column": "note"}, "column 'note' of the target is STRING"),
    "a date is no timestamp": (
        {"column": "latest", "expression": "MAX(sold_at)", "types": ("timestamp", "date")},
        "'latest' is TIMESTAMP on the source and DATE on the target",
    ),
    "a text is no number": (
        {"column": "note", "expression": "MAX(amount)", "types": ("decimal(10,2)", "string")},
        "'note' is DECIMAL(10,2) on the source and STRING on the target",
    ),
    "an array": (
        {"expression": "collect_set(id)", "types": ("array<int>", "array<int>")},
        "ARRAY<INT> on the source",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_what_cannot_be_compared_is_told(case):
    given, message = MISTAKES[case]
    with pytest.raises(CheckDefinitionError, match=re.escape(message)):
        bound(**given)


@pytest.mark.parametrize("absolute", ["0", "1", "1E+60", "0.001"])
@pytest.mark.parametrize("relative", ["0.0", "0.05"])
def test_exact_numbers_are_never_compared_as_doubles(absolute, relative):
    types = (
        ("decimal(30,2)", "bigint") if relative == "0.05" else ("decimal(38,2)", "decimal(38,0)")
    )
    step = bound(types=types, absolute_tolerance=Decimal(absolute), tolerance=Decimal(relative))
    equal = step.aggregates[0].equal_sql
    assert "DOUBLE" not in equal
    assert (" * " in equal) is (relative == "0.05")


def test_a_statement_that_spark_refuses_names_its_side():
    reader = Reader("[DATATYPE_MISMATCH] no", ["bigint"])
    asked = rule(aggregate_column="total", source_expression="SUM(day)")
    with pytest.raises(CheckDefinitionError, match="Failed to query source table lake"):
        bind_aggregates(asked, TARGET, SOURCE, reader, PairScopes())


def test_groups_are_compared_as_they_are_or_computed_but_not_mixed():
    one = {"name": "a", "expression": "SUM(amount)", "target_column": "total"}
    other = {**one, "name": "b", "target_expression": "sum(total)"}
    with pytest.raises(CheckDefinitionError, match="for every aggregate or for none"):
        bind_aggregates(
            rule(aggregates=[one, other], group_by=["day"]),
            TARGET,
            SOURCE,
            Reader([], []),
            PairScopes(),
        )


@pytest.mark.parametrize(
    "expression",
    [
        "amount",
        "1",
        "SUM((SELECT max(x) FROM t))",
        "SUM(amount) OVER ()",
        "SUM(amount), 1",
        "SUM(amount) AS total",
        "COUNT(t.*)",
        "SUM(rand())",
        "MAX(input_file_name())",
        "SUM(my_function(amount))",
        "MAX(explode(tags))",
        "SUM(amount); DROP TABLE t",
        "SUM(${secret})",
        "",
    ],
)
def test_what_is_no_harmless_aggregate_is_refused(expression):
    with pytest.raises(UnsafeSqlError, match="expression of 'total': "):
        bound(expression=expression)


@pytest.mark.parametrize(
    ("sensitive", "expression", "is_hidden"),
    [
        ((set(), set()), "SUM(amount)", False),
        (({"amount"}, set()), "SUM(Amount)", True),
        (({"amount"}, set()), "COUNT(amount)", False),
        ((set(), {"total"}), "COUNT(*)", True),
    ],
)
def test_an_aggregate_of_a_sensitive_column_is_hidden(sensitive, expression, is_hidden):
    source, target = (
        pinned("lake.bronze.orders", SOURCE_TYPES, sensitive[0]),
        pinned("lake.gold.daily", TARGET_TYPES, sensitive[1]),
    )
    step = bound("total", expression, source=source, target=target)
    assert step.aggregates[0].is_hidden is is_hidden


def test_a_group_is_hidden_if_one_side_says_so():
    source = pinned("lake.bronze.orders", SOURCE_TYPES, {"region"})
    step = bound(source=source, group_by=["day", "region"])
    assert step.hidden_groups == {"Region"}
