"""The SQL of every check on representative columns, for Spark and for Trino.

The Spark text is the plan's own, made over a table that exists only here. As a script, prints
all texts as JSON, so that another version of sqlglot can be asked for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import sqlglot
from golden_measures import MEASURE_SAMPLES
from golden_moments import MOMENT_SAMPLES
from golden_pairs import PAIR_SAMPLES, SPARK_ONLY, pair_statements
from golden_sample import Sample, array_of, map_of, struct_of
from golden_tables import ImaginaryTables

from lakeproof.checks.catalogue import check_names, find_check
from lakeproof.checks.kinds import (
    KeyCheck,
    MeasureCheck,
    PairCheck,
    QueryCheck,
    RelatedCheck,
    RowCheck,
)
from lakeproof.checks.sql_value import SqlValue
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.trino import trino_sql as expression_sql
from lakeproof.checks.user_sql import parse_predicate, parse_query
from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.column import Column
from lakeproof.model.rule import Rule
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.fuse import fuse, within
from lakeproof.planning.key_sql import key_step
from lakeproof.planning.places import Loop, find_place
from lakeproof.planning.plan import Measurement, Plan, Tally
from lakeproof.planning.tables import PinnedTable

NOW = datetime(2024, 3, 10, 3, 29, 59, 999999, tzinfo=UTC)
AWKWARD = 'a.b `c` "d" select ünï😀'
HARD_TEXTS = ["Italy", "O'Brien", 'say "x"', "back\\slash", "line\nbreak", "a${b}c", "😀", ""]
ORPHANS = (
    "SELECT s.customer_id FROM sales s LEFT JOIN customers c\n"
    "  ON s.customer_id = c.id WHERE c.id IS NULL;"
)
FORMATS = [
    "uuid",
    "email",
    "uri",
    "hostname",
    "ipv4",
    "ipv6",
    "date",
    "timestamp",
    "json",
    "base64",
]
TRIP = struct_of(start="date", end="date")
MOMENT = datetime(2024, 1, 1, 12, 30, 0, 1, tzinfo=UTC)


SAMPLES: dict[str, list[Sample]] = {
    "accepted_values": [
        Sample({"country": "string"}, {"accepted": HARD_TEXTS}),
        Sample({"status": "int"}, {"accepted": [1, -2, 3]}),
        Sample({"rate": "decimal(38,10)"}, {"accepted": [Decimal("0.1"), 2, -3.5]}),
        Sample({"score": "double"}, {"accepted": [0, 0.5, float("nan"), float("-inf")]}),
        Sample({"paid": "boolean"}, {"accepted": [True]}),
        Sample({"sku": "string"}, {"accepted_table": "products"}),
        Sample({"day": "date"}, {"accepted": [date(2024, 1, 31), "0001-01-01"]}),
        Sample({"at": "timestamp"}, {"accepted": [MOMENT, "2024-01-01T05:45:00+05:45"]}),
        Sample({"at": "timestamp_ntz"}, {"accepted": ["2024-01-01T05:45:00.000001"]}),
    ],
    "column_pair": [
        Sample({"start_at": "timestamp", "end_at": "timestamp"}, {"operator": "<="}),
        Sample({"net": "decimal(10,2)", "gross": "decimal(12,4)"}, {"operator": "<"}),
        Sample({"ordered": "int", "sent": "bigint"}, {"operator": ">="}),
        Sample({"low": "float", "high": "double"}, {"operator": "<"}),
        Sample({"n": "int", "x": "float"}, {"operator": "!="}),
        Sample({"x": "double", "y": "double"}, {"operator": "="}),
        Sample({"home": "string", AWKWARD: "string"}, {"operator": "!="}),
        Sample({"trip": TRIP}, {"operator": "<="}, columns=["trip.start", "trip.end"]),
    ],
    "date_format": [
        Sample({"day": "string"}, {"pattern": "dd.MM.uuuu"}),
        Sample({"at": "string"}, {"pattern": "yyyy-MM-dd'T'HH:mm:ssXXX"}),
    ],
    "field_count": [
        Sample({"trip": TRIP}, {"min_fields": 1, "max_fields": 2}),
        Sample({"marks": map_of("string", "int")}, {"max_fields": 2}),
    ],
    "is_normalized": [Sample({"v": array_of("float")}, {"tolerance": 0.01})],
    "multiple_of": [
        Sample({"n": "int"}, {"factor": 5}),
        Sample({"price": "decimal(10,2)"}, {"factor": 0.05}),
        Sample({"x": "double"}, {"factor": Decimal("0.1")}),
        Sample({"x": "float"}, {"factor": 1}),
    ],
    "unique_items": [Sample({"tags": array_of("string")})],
    "custom_sql": [
        Sample({}, {"sql": ORPHANS}),
        Sample({}, {"sql": "SELECT id FROM sales WHERE note RLIKE 'x' AND day < DATE'2024-01-01'"}),
    ],
    "format": [
        *(Sample({"c": "string"}, {"kind": kind}) for kind in FORMATS),
        Sample({"c": "string collate UTF8_LCASE"}, {"kind": "iso_date"}),
    ],
    "invalid_values": [
        Sample(
            {"size": "string"},
            {"valid_values": ["S", "M"], "invalid_values": ["O'Brien"], "missing_values": ["", 0]},
        ),
        Sample(
            {"code": "string"},
            {"pattern": "^[A-Z]", "full": True, "invalid_pattern": "x", "missing_pattern": "^-$"},
        ),
        Sample({"day": "string"}, {"valid_format": "date_us", "invalid_format": "money"}),
        Sample({"amount": "double"}, {"valid_min": 0, "valid_max": 9.5, "missing_values": [-1]}),
        Sample({"code": "string"}, {"valid_min_length": 2, "valid_max_length": 3}),
        Sample({"code": "varchar(9)"}, {"valid_length": 3}, filter="country = 'Italy'"),
        Sample({"n": "int"}, {"invalid_values": ["N/A"]}),
        Sample({"tags": array_of("string")}, {"valid_values": ["a"]}, columns=["tags[]"]),
    ],
    "length_range": [
        Sample({"code": "string"}, {"min_length": 2, "max_length": 3}),
        Sample({"code": "varchar(9)"}, {"max_length": 3}),
        Sample({"photo": "binary"}, {"min_length": 1}),
        Sample({"tags": array_of("string")}, {"min_length": 1, "max_length": 9}),
        Sample({"marks": map_of("string", "int")}, {"max_length": 9}),
        Sample({"tags": array_of("string")}, {"min_length": 1}, columns=["tags[]"]),
    ],
    "matches_pattern": [
        Sample({"code": "string"}, {"pattern": r"^[A-Z]{2}\d+$"}),
        Sample({"code": "string"}, {"pattern": 'it\'s|"\\\\"|${x}\n', "full": True}),
        Sample({"code": "string collate UTF8_LCASE"}, {"pattern": "a"}),
    ],
    "missing_values": [
        Sample({"code": "string"}),
        Sample(
            {"code": "string"}, {"missing_values": ["", "N/A", None], "missing_pattern": "^-+$"}
        ),
        Sample({"n": "int"}, {"missing_values": ["N/A", -1, 2.5], "null_is_missing": False}),
        Sample({"n": "int"}, {"missing_values": ["N/A"], "null_is_missing": False}),
        Sample({"trip": TRIP}, {"missing_values": ["9999-12-31"]}, columns=["trip.end"]),
    ],
    "no_future_dates": [
        Sample({"day": "date"}),
        Sample({"day": "date"}, {"timezone": "America/St_Johns"}),
        Sample({"at": "timestamp"}, {"timezone": "America/St_Johns"}),
        Sample({"at": "timestamp_ntz"}, {"timezone": "Asia/Kathmandu"}),
    ],
    "not_empty": [
        Sample({"code": "string"}),
        Sample({"code": "string"}, {"trim": True}),
        Sample({"tags": array_of("string")}),
        Sample({"marks": map_of("string", "int")}),
    ],
    "not_matches_pattern": [
        Sample({"code": "string"}, {"pattern": "(?i)test"}),
        Sample({"code": "string"}, {"pattern": "x+", "full": True}),
    ],
    "not_null": [
        Sample({"order_id": "bigint"}),
        Sample({AWKWARD: "string"}),
        Sample({"order_id": "bigint"}, filter="country = 'Italy' -- only ours"),
        Sample({"trip": TRIP}, columns=["trip.end"]),
        Sample({"trips": array_of(TRIP)}, columns=["trips[].end"]),
        Sample({"trips": map_of("string", TRIP)}, columns=["trips{}.end"]),
        Sample({"trip": TRIP}, {"parent_optional": True}, columns=["trip.end"]),
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
        Sample({"id": "int"}, {"min_value": 0.5, "min_exclusive": True}),
        Sample({"x": "double"}, {"max_value": 1, "max_exclusive": True}),
        Sample({"at": "string"}, {"min_value": "08:00", "pattern": "HH:mm[:ss]"}),
    ],
    "row_count_range": [
        Sample({}, {"min_count": 1, "max_count": 10}),
        Sample({}, {"min_count": 1}, filter="country = 'Italy'"),
    ],
    "row_expression": [
        Sample({"price": "int"}, {"expression": "price > 0 OR country IS NULL;"}, columns=[]),
        Sample({"code": "string"}, {"expression": r"code RLIKE '\\d' -- digits"}, columns=[]),
    ],
    "uniqueness": [
        Sample({"order_id": "bigint"}),
        Sample({"order_id": "bigint", "line": "int", "day": "date"}),
        Sample({"country": "string"}),
        Sample({"country": "string", "amount": "double"}),
        Sample({"amount": "double", "paid": "boolean"}),
        Sample({AWKWARD: "decimal(10,2)"}, filter="country = 'Italy'"),
        Sample({"trip": TRIP}, columns=["trip.start"]),
    ],
    "foreign_key": [
        Sample({"customer_id": "bigint"}, {"references": "customers"}),
        Sample(
            {"order_id": "bigint", AWKWARD: "string"},
            {"references": "other.ns.orders", "referenced_columns": ["order_id", "country"]},
            "country = 'Italy'",
        ),
    ],
    "is_increasing": [
        Sample({"reading": "double", "at": "timestamp"}, {"order_by": "at"}, columns=("reading",)),
        Sample(
            {"reading": "int", "at": "timestamp", "meter": "string"},
            {"order_by": ["at"], "within": "meter", "strict": True},
            "country = 'Italy'",
            columns=("reading",),
        ),
    ],
    "sql_value": [
        Sample({}, {"sql": "SELECT count(*) FROM sales WHERE country IS NULL;", "max_value": 0}),
        Sample({}, {"sql": "SELECT max(price) > 0 FROM sales -- any"}, "country = 'Italy'"),
        Sample({}, {"sql": "SELECT count(*) FROM sales VERSION AS OF 3 s", "min_value": 1}),
    ],
    "unique_key": [
        Sample({"id": "int"}),
        Sample({"id": "int", "line": "int"}, {"nulls": "equal"}),
        Sample({"id": "int", AWKWARD: "string"}, {"nulls": "forbid"}, "country = 'Italy'"),
    ],
    **MEASURE_SAMPLES,
    **MOMENT_SAMPLES,
    **PAIR_SAMPLES,
}


def plan_of(check: str, sample: Sample) -> Plan:
    config = Config()
    columns = sample.rule_columns or None
    suite = [QualityCheck("rule", check, "sales", columns, sample.params, filter=sample.filter)]
    defaults = Defaults(
        resolve=lambda name: name.resolve(config.default_catalog, config.default_namespace),
        key_of=lambda _table: (),
    )
    reader = ImaginaryTables(sample)
    plan = build_plan(rules_of(suite, config), reader, defaults, NOW)
    assert not plan.rejected, plan.rejected[0].reason
    return plan


def spark_sql(check: str, sample: Sample) -> str:
    """The statement that finds out whether the check fails."""
    table = plan_of(check, sample).tables[0]
    own = [step.sql for step in table.own_steps]
    return own[0] if own else table.scan.sql


def trino_sql(check: str, sample: Sample) -> str:
    """The same question for Trino: the check's own expression in the other dialect.

    Duplicates are asked for by grouping; tiles and hashes are ways of Spark's to be quicker.
    """
    plan = plan_of(check, sample).tables[0]
    rule = next(rule for rule in plan.rules if isinstance(rule, Rule))
    kind = find_check(check).for_arguments(rule.arguments)
    if isinstance(kind, QueryCheck):
        return parse_query(kind.query(rule.arguments)).to_dialect("trino")
    if isinstance(kind, SqlValue):
        return read_query(kind.query(rule.arguments)).query.to_dialect("trino")
    if isinstance(kind, KeyCheck):
        places = [find_place(plan.pinned, name) for name in sample.rule_columns[:3]]
        grouped = [replace(place.column, type_text="boolean") for place in places]
        nulls = kind.nulls(rule.arguments)
        step = key_step(plan.pinned, rule.rule_id, grouped, sample.filter or "", "'key'", nulls)
        return _translated(step.sql)
    if isinstance(kind, RelatedCheck):
        violates = plan.queries[0].violates
        return _translated(
            "SELECT count(*) AS failing_rows "
            f"FROM (SELECT ({violates}) AS bad FROM {plan.pinned.relation}) WHERE bad"
        )
    scope = parse_predicate(sample.filter).to_dialect("trino") if sample.filter else ""
    tallies, taken = [], []
    if isinstance(kind, RowCheck):
        tallies.append(Tally(rule.rule_id, "rule_0", _row_sql(kind, rule, plan.pinned), scope))
    if isinstance(kind, MeasureCheck):
        taken = _measurements(kind, rule, plan.pinned, scope)
    relation = '"iceberg"."lakehouse"."sales" FOR VERSION AS OF 7'
    scan = fuse(plan.pinned, {"rule": scope}, tallies, taken)
    return scan.sql.replace(plan.pinned.relation, relation)


def statements_in(check: str, sample: Sample, dialect: str) -> dict[str, str]:
    """The golden statements by heading; two tables, which Spark alone compares, have several."""
    if isinstance(find_check(check), PairCheck):
        pair = plan_of(check, sample).tables[0].pairs[0]
        return pair_statements(pair) if dialect == "spark" else {}
    render = {"spark": spark_sql, "trino": trino_sql}[dialect]
    return {dialect: render(check, sample)}


def _translated(sql: str) -> str:
    return expression_sql(sqlglot.parse_one(sql, read="spark"), pretty=True)


def _row_sql(kind: RowCheck, rule: Rule, pinned: PinnedTable) -> str:
    places = [find_place(pinned, name) for name in rule.columns]
    violates = kind.row_violates([place.column for place in places], rule.arguments, NOW)
    sql = expression_sql(violates)
    return _any_match(places[0].loops, sql) if places and places[0].loops else sql


def _any_match(loops: Sequence[Loop], violates: str) -> str:
    """Elements in Trino, where an entry of a map has no field `value`: its values are walked."""
    for loop in reversed(loops):
        source = sqlglot.transpile(loop.source, read="spark", write="trino")[0]
        items = f"map_values({source})" if loop.is_map else source
        violates = f"any_match({items}, {loop.item} -> {violates})"
    for loop in loops:
        if loop.is_map:
            violates = violates.replace(f'"{loop.item}"."value"', f'"{loop.item}"')
    return violates


def _measurements(
    kind: MeasureCheck, rule: Rule, pinned: PinnedTable, scope: str
) -> list[Measurement]:
    columns = [find_place(pinned, name).column for name in rule.columns]
    expression = kind.expression(rule.arguments)
    if expression:
        columns.append(Column(expression, "double", sql=expression))
    only = f" FILTER (WHERE {within(scope)})" if scope else ""
    return [
        Measurement(rule.rule_id, name, f"rule_0_{name}", f"{expression_sql(sql)}{only}")
        for name, sql in kind.measures(columns, rule.arguments).items()
    ]


def golden_text(check: str) -> str:
    """The golden file of one check."""
    return "\n".join(_lines(check))


def _lines(check: str) -> Iterator[str]:
    meaning = (type(find_check(check)).__doc__ or "").splitlines()[0]
    yield f"-- {check}: {meaning}"
    for sample in SAMPLES[check]:
        columns, source = map(_columns_text, (sample.table_columns, sample.source_columns))
        params = ", ".join(f"{name}={value!r}" for name, value in sample.params.items())
        about = sample.columns and ", ".join(sample.columns)
        told = [f"-- sample: {columns or 'the table'}", source and f"source: {source}", about]
        told += [params, sample.filter and "filtered"]
        yield ""
        yield " | ".join(part for part in told if part)
        for dialect in ("spark", "trino"):
            found = statements_in(check, sample, dialect)
            for heading, sql in found.items():
                yield f"-- {heading}"
                yield f"{sql};"
            if not found:
                yield SPARK_ONLY
    yield ""


def _columns_text(columns: Sequence[Column]) -> str:
    return ", ".join(f"{one.name} {one.type_text.upper()}" for one in columns)


if __name__ == "__main__":
    json.dump({check: golden_text(check) for check in check_names()}, sys.stdout)
