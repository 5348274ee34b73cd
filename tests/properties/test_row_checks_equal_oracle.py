"""Every row check says what a plain-Python oracle says, inside structs, arrays and maps too."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

from generated_rows import KEY, POOLS, TABLE, TYPES, Asked, RowMaker, RowSuiteMaker
from generated_tables import CLOCK, SEEDS
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_checks_equal_oracle import code_generation

from lakeproof.api import RunOutcome, run_checks
from lakeproof.model.canonical import element_key
from oracle.expected import Expected, OracleTable, Violations, _Question, _violates
from oracle.places import has_elements, values_at
from oracle.row_checks import violates_pair, violates_row_check
from spark_settings import under

RUNS = 2
ROWS = 40
RULES = 132
FIRST_CHECKS = {"not_null", "positive", "range", "accepted_values", "no_future_dates"}


def write_table(spark, rows) -> None:
    schema = ", ".join(f"`{name}` {kind}" for name, kind in TYPES.items())
    values = [tuple(row[name] for name in TYPES) for row in rows]
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    frame = spark.createDataFrame(values, schema).repartition(3)
    frame.writeTo(f"iceberg.lakehouse.{TABLE}").using("iceberg").createOrReplace()


def expected(asked: Asked, table: OracleTable) -> Expected:
    check = asked.check
    rows = [row for row in table.rows if asked.scope is None or asked.scope.holds(row)]
    bad: list[object] = []
    violations: Violations = Counter()
    for row in rows:
        found = list(bad_positions(asked, row))
        if not found:
            continue
        bad.append(row)
        key = table.violation_key(row)
        violations.update(element_key(key, at) if at else key for at in found)
    path = check.column_name if isinstance(check.column_name, str) else ""
    tolerated = not bad or (check.tolerance is not None and len(bad) / len(rows) <= check.tolerance)
    return Expected(
        name=check.name,
        status="passed" if tolerated else "failed",
        failing_rows=len(bad),
        total_rows=len(rows),
        table_rows=len(table.rows),
        measures={"elements": violations.total()} if has_elements(path) else {},
        violations=violations,
    )


def bad_positions(asked: Asked, row):
    """Where a row is bad: one position per bad element, '' for the row itself."""
    check = asked.check
    if asked.condition is not None:
        if asked.condition.truth(row) is False:
            yield ""
        return
    if check.check_type == "column_pair":
        left, right = (next(values_at(row, path))[1] for path in check.column_name)
        if violates_pair(left, right, check.params["operator"]):
            yield ""
        return
    question = _Question(check.params, asked.kind, CLOCK)
    for position, value in values_at(row, check.column_name):
        if check.check_type in FIRST_CHECKS:
            is_bad = _violates(check.check_type, value, question)
        else:
            is_bad = violates_row_check(check.check_type, value, check.params)
        if is_bad:
            yield position if has_elements(check.column_name) else ""


def differences(outcome: RunOutcome, table: OracleTable, suite: list[Asked]) -> list[str]:
    hits: dict[str, Violations] = defaultdict(Counter)
    for row in outcome.violations().collect():
        hits[row.rule_id][row.violation_key] += row.occurrences
    found = []
    for asked, result in zip(suite, outcome.results, strict=True):
        wanted = expected(asked, table)
        got = Expected(
            name=result.check_name,
            status=result.status.value,
            failing_rows=result.failing_rows,
            total_rows=result.total_rows,
            table_rows=result.table_rows,
            measures=result.measures,
            violations=hits[result.rule_id],
        )
        if got != wanted:
            found.append(f"{asked.check}\n  oracle {wanted}\n  run    {got}\n  {result.details}")
    return found


@settings(
    max_examples=RUNS,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start hundreds of runs
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(pools=POOLS, seed=SEEDS, key=st.sampled_from([KEY, ()]))
def test_every_row_check_equals_the_oracle_inside_nested_columns_too(spark, pools, seed, key):
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    rows = RowMaker(pools, chance).rows(ROWS)
    suite = RowSuiteMaker(pools, chance).suite(RULES)
    write_table(spark, rows)
    with under(spark, code_generation(compiled=False)):
        outcome = run_checks(
            spark,
            [asked.check for asked in suite],
            keys={TABLE: key} if key else None,
            clock=lambda: CLOCK,
        )
        found = differences(outcome, OracleTable(TYPES, rows, key), suite)
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:8])
