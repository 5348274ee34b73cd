"""The SQL of every check on representative columns, for Spark and for Trino.

The Spark text is the plan's own, made over a table that exists only here. As a script, prints
all texts as JSON, so that another version of sqlglot can be asked for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

import sqlglot

from lakeproof.checks.catalogue import check_names, find_check
from lakeproof.checks.kinds import KeyCheck, QueryCheck, RowCheck
from lakeproof.checks.user_sql import parse_predicate, parse_query
from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.rule import Rule
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.fuse import fuse
from lakeproof.planning.key_sql import key_step
from lakeproof.planning.plan import Plan, Tally
from lakeproof.planning.tables import PinnedTable

NOW = datetime(2024, 3, 10, 3, 29, 59, 999999, tzinfo=UTC)
AWKWARD = 'a.b `c` "d" select ünï😀'
HARD_TEXTS = ["Italy", "O'Brien", 'say "x"', "back\\slash", "line\nbreak", "a${b}c", "😀", ""]
ORPHANS = (
    "SELECT s.customer_id FROM sales s LEFT JOIN customers c\n"
    "  ON s.customer_id = c.id WHERE c.id IS NULL;"
)
MOMENT = datetime(2024, 1, 1, 12, 30, 0, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Sample:
    """One use of a check: the columns with their types, the parameters, a filter."""

    types: Mapping[str, str]
    params: Mapping[str, object] = field(default_factory=dict)
    filter: str | None = None


SAMPLES: dict[str, list[Sample]] = {
    "accepted_values": [
        Sample({"country": "string"}, {"accepted": HARD_TEXTS}),
        Sample({"status": "int"}, {"accepted": [1, -2, 3]}),
        Sample({"rate": "decimal(38,10)"}, {"accepted": [Decimal("0.1"), 2, -3.5]}),
        Sample({"score": "double"}, {"accepted": [0, 0.5, float("nan"), float("-inf")]}),
        Sample({"paid": "boolean"}, {"accepted": [True]}),
        Sample({"day": "date"}, {"accepted": [date(2024, 1, 31), "0001-01-01"]}),
        Sample({"at": "timestamp"}, {"accepted": [MOMENT, "2024-01-01T05:45:00+05:45"]}),
        Sample({"at": "timestamp_ntz"}, {"accepted": ["2024-01-01T05:45:00.000001"]}),
    ],
    "custom_sql": [
        Sample({}, {"sql": ORPHANS}),
        Sample({}, {"sql": "SELECT id FROM sales WHERE note RLIKE 'x' AND day < DATE'2024-01-01'"}),
    ],
    "no_future_dates": [
        Sample({"day": "date"}),
        Sample({"day": "date"}, {"timezone": "America/St_Johns"}),
        Sample({"at": "timestamp"}, {"timezone": "America/St_Johns"}),
        Sample({"at": "timestamp_ntz"}, {"timezone": "Asia/Kathmandu"}),
    ],
    "not_null": [
        Sample({"order_id": "bigint"}),
        Sample({AWKWARD: "string"}),
        Sample({"order_id": "bigint"}, filter="country = 'Italy' -- only ours"),
    ],
    "positive": [
        Sample({"amount": "double"}),
        Sample({"amount": "decimal(10,2)"}),
        Sample({"amount": "int"}),
    ],
    "range": [
        Sample({"amount": "double"}, {"min_value": 0.01, "max_value": 100}),
        Sample({"amount": "float"}, {"min_value": -1.5, "max_value": float("inf")}),
        Sample({"amount": "decimal(38,18)"}, {"min_value": Decimal("-0.5"), "max_value": 10**19}),
        Sample({"id": "bigint"}, {"min_value": -(2**63), "max_value": 2**63 - 1}),
        Sample({"id": "int"}, {"max_value": 7}),
        Sample({"day": "date"}, {"min_value": "2024-01-01", "max_value": date(9999, 12, 31)}),
        Sample({"at": "timestamp"}, {"min_value": MOMENT, "max_value": "2024-06-01"}),
        Sample({"at": "timestamp_ntz"}, {"min_value": "2024-01-01T00:00:00.000001"}),
    ],
    "row_count_range": [
        Sample({}, {"min_count": 1, "max_count": 10}),
        Sample({}, {"min_count": 1}, filter="country = 'Italy'"),
    ],
    "uniqueness": [
        Sample({"order_id": "bigint"}),
        Sample({"order_id": "bigint", "line": "int", "day": "date"}),
        Sample({"country": "string"}),
        Sample({"country": "string", "amount": "double"}),
        Sample({"amount": "double", "paid": "boolean"}),
        Sample({AWKWARD: "decimal(10,2)"}, filter="country = 'Italy'"),
    ],
}


class ImaginaryTables:
    """A reader whose tables have just the columns of one sample."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.columns = tuple(Column(name, kind) for name, kind in types.items())

    def pin(
        self, table: TableName, key: Sequence[str], position: Position | None = None
    ) -> PinnedTable:
        return PinnedTable(
            table=table,
            table_id="imaginary",
            format="iceberg",
            position=Position("iceberg", 7),
            columns=(*self.columns, Column("country", "string")),
            relation=f"{table.sql} VERSION AS OF 7",
            key_columns=(),
            key_sql="'key'",
        )

    def key_sql(self, pinned: PinnedTable, columns: Sequence[Column]) -> str:
        return "'key'"

    def query_key_sql(self, sql: str, key: Sequence[str]) -> str:
        return "'key'"

    def ensure_query(self, sql: str) -> None:
        """Whether the SQL is safe is asked elsewhere."""

    def ensure_predicate(self, pinned: PinnedTable, sql: str) -> None:
        """Whether the SQL is safe is asked elsewhere."""


def plan_of(check: str, sample: Sample) -> Plan:
    config = Config()
    columns = None if not sample.types else list(sample.types)
    suite = [QualityCheck("rule", check, "sales", columns, sample.params, filter=sample.filter)]
    defaults = Defaults(
        resolve=lambda name: name.resolve(config.default_catalog, config.default_namespace),
        key_of=lambda _table: (),
    )
    plan = build_plan(rules_of(suite, config), ImaginaryTables(sample.types), defaults, NOW)
    assert not plan.rejected, plan.rejected[0].reason
    return plan


def spark_sql(check: str, sample: Sample) -> str:
    """The statement that finds out whether the check fails."""
    table = plan_of(check, sample).tables[0]
    own = [step.sql for step in (*table.keys, *table.queries)]
    return own[0] if own else table.scan.sql


def trino_sql(check: str, sample: Sample) -> str:
    """The same question for Trino: the check's own expression in the other dialect.

    Duplicates are asked for by grouping; tiles and hashes are ways of Spark's to be quicker.
    """
    rule = next(rule for rule in plan_of(check, sample).rules if isinstance(rule, Rule))
    kind = find_check(check)
    scope = parse_predicate(sample.filter).to_dialect("trino") if sample.filter else ""
    pinned = ImaginaryTables(sample.types).pin(rule.table, ())
    if isinstance(kind, QueryCheck):
        return parse_query(kind.query(rule.arguments)).to_dialect("trino")
    if isinstance(kind, KeyCheck):
        grouped = [Column(name, "boolean") for name in list(sample.types)[:3]]
        step = key_step(pinned, rule.rule_id, grouped, sample.filter or "", "'key'")
        return sqlglot.transpile(step.sql, read="spark", write="trino", pretty=True)[0]
    tallies = []
    if isinstance(kind, RowCheck):
        violates = kind.violates(pinned.columns[0], rule.arguments, NOW).sql("trino")
        tallies.append(Tally(rule.rule_id, "rule_0", violates, scope))
    step = fuse(pinned, {"rule": scope}, tallies, [])
    relation = '"iceberg"."lakehouse"."sales" FOR VERSION AS OF 7'
    return step.sql.replace(pinned.relation, relation)


def golden_text(check: str) -> str:
    """The golden file of one check."""
    return "\n".join(_lines(check))


def _lines(check: str) -> Iterator[str]:
    meaning = (type(find_check(check)).__doc__ or "").splitlines()[0]
    yield f"-- {check}: {meaning}"
    for sample in SAMPLES[check]:
        columns = ", ".join(f"{name} {kind.upper()}" for name, kind in sample.types.items())
        params = ", ".join(f"{name}={value!r}" for name, value in sample.params.items())
        told = [f"-- sample: {columns or 'the table'}", params, sample.filter and "filtered"]
        yield ""
        yield " | ".join(part for part in told if part)
        yield "-- spark"
        yield f"{spark_sql(check, sample)};"
        yield "-- trino"
        yield f"{trino_sql(check, sample)};"
    yield ""


if __name__ == "__main__":
    json.dump({check: golden_text(check) for check in check_names()}, sys.stdout)
