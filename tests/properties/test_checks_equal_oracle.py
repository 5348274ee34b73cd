"""Every check says over generated tables what a plain-Python oracle says, keys of bad rows too."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from decimal import Decimal

import pytest
from generated_tables import (
    CASE,
    CLOCK,
    DATE_EDGES,
    DOUBLE_EDGES,
    FLOAT_EDGES,
    INSTANT_EDGES,
    KEY,
    LOCAL_EDGES,
    POOLS,
    SEEDS,
    TABLE,
    TEXT_EDGES,
    TYPES,
    Asked,
    SuiteMaker,
    arrange_rows,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lakeproof.api import RunOutcome, run_checks
from lakeproof.config import Config
from lakeproof.model.canonical import hit_id
from oracle.conditions import name_sql
from oracle.expected import Expected, OracleTable, expect
from oracle.spark_values import micros
from spark_settings import INTERPRETED, WITH_GENERATED_CODE, under

TABLES_PER_RUN = 38
RUNS = 4
FEW_RUNS = 2
FILES = 3


def write_table(spark, rows, *, using="iceberg", name=f"iceberg.lakehouse.{TABLE}"):
    """The rows as a table of several files, so that file statistics have something to skip."""
    from pyspark.sql import functions as F  # noqa: N812 - PySpark's own custom

    kinds = {"timestamp": "bigint"}  # PySpark would push a datetime through the local zone
    schema = ", ".join(
        f"`{column.replace('`', '``')}` {kinds.get(kind, kind)}" for column, kind in TYPES.items()
    )
    values = [
        tuple(
            micros(row[column]) if TYPES[column] == "timestamp" and row[column] else row[column]
            for column in TYPES
        )
        for row in rows
    ]
    frame = spark.createDataFrame(values, schema).withColumn("ts", F.timestamp_micros("ts"))
    frame = frame.repartition(FILES, CASE)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    if using == "parquet":  # a plain table has no writer of the second kind
        frame.write.format(using).saveAsTable(name)
        return
    writer = frame.writeTo(name).using(using)
    if using == "delta":  # which by itself refuses blanks in names
        writer = writer.tableProperty("delta.columnMapping.mode", "name")
    writer.createOrReplace()


def code_generation(compiled):
    """Compiling Java is most of the time of a run over a hundred rows, so not every run does."""
    return WITH_GENERATED_CODE if compiled else INTERPRETED


def differences(outcome: RunOutcome, table: OracleTable, suite: list[Asked]) -> list[str]:
    """Every way in which the run and the oracle disagree, one line each."""
    hits: dict[str, Counter[str]] = defaultdict(Counter)
    listed = outcome.violations().collect()
    for row in listed:
        hits[row.rule_id][row.violation_key] += row.occurrences
    found = [f"hit listed twice: {row}" for row in listed if listed.count(row) > 1]
    found += [
        f"hit_id of {row}" for row in listed if row.hit_id != hit_id(row.rule_id, row.violation_key)
    ]
    wanted = [
        (asked, expected)
        for asked in suite
        for expected in expect(asked.check, table, CLOCK, asked.scope, asked.query)
    ]
    assert [expected.name for _, expected in wanted] == [one.check_name for one in outcome.results]
    for (asked, expected), result in zip(wanted, outcome.results, strict=True):
        got = Expected(
            name=result.check_name,
            status=result.status.value,
            failing_rows=result.failing_rows,
            total_rows=result.total_rows,
            table_rows=result.table_rows,
            measures=result.measures,
            violations=hits[result.rule_id],
        )
        if got != expected:
            found.append(f"{asked.check}\n  oracle {expected}\n  run    {got}\n  {result.details}")
        elif list(result.sample_keys) != sorted(expected.violations)[:3]:
            found.append(f"{asked.check}\n  samples {result.sample_keys}")
    return found


def check_table(spark, rows, suite, *, key=(), config=None):
    outcome = run_checks(
        spark,
        [asked.check for asked in suite],
        keys={TABLE: key} if key else None,
        config=config,
        clock=lambda: CLOCK,
    )
    found = differences(outcome, OracleTable(TYPES, rows, key), suite)
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:12])


GENERATED = given(
    pools=POOLS,
    seed=SEEDS,
    key=st.sampled_from([KEY, ()]),
    zone=st.sampled_from(["UTC", "America/St_Johns"]),
    compiled=st.sampled_from([False, False, True]),
)
AS_THEY_COME = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start many runs
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


def check_generated_tables(spark, pools, seed, key, zone, compiled):
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    rows = arrange_rows(pools, chance, TABLES_PER_RUN)
    suite = SuiteMaker(pools, chance).suite(TABLES_PER_RUN)
    write_table(spark, rows)
    with under(spark, {**code_generation(compiled), "spark.sql.session.timeZone": zone}):
        check_table(spark, rows, suite, key=key)


@settings(max_examples=FEW_RUNS, **AS_THEY_COME)
@GENERATED
def test_every_check_equals_the_oracle_on_generated_tables(spark, **made):
    check_generated_tables(spark, **made)


@pytest.mark.slow  # the same with twice as many tables
@settings(max_examples=RUNS, **AS_THEY_COME)
@GENERATED
def test_every_check_equals_the_oracle_on_150_generated_tables(spark, **made):
    check_generated_tables(spark, **made)


def test_the_runs_above_make_150_tables():
    assert RUNS * TABLES_PER_RUN >= 150


# One table by itself, as most tables are: no filter cuts it out of a larger one.
EDGES = {
    "k": [0, 1, -1, 2**63 - 1],
    "order": [0, -1, 63, 64, -(2**31)],
    "big.int": [0, -1, 2**63 - 1, -(2**63)],
    "tiny": [-128, 0, 127],
    "decimal 38": [Decimal(0), Decimal(10**38 - 1), Decimal(1 - 10**38)],
    "m": [Decimal("1E-18"), Decimal("0.5"), Decimal(10**20 - 1)],
    "x": DOUBLE_EDGES,
    "FLOAT": FLOAT_EDGES,
    "ünï😀": TEXT_EDGES,
    "flag": [True, False],
    "bin'ary": [b"", b"\x00", b"\xff"],
    "day`s": DATE_EDGES,
    "ts": INSTANT_EDGES,
    'n"tz': LOCAL_EDGES,
}


@pytest.mark.parametrize(
    ("using", "catalog", "namespace"),
    [
        ("iceberg", "iceberg", "lakehouse"),
        ("delta", "spark_catalog", "default"),
        ("parquet", "spark_catalog", "default"),
    ],
)
def test_every_format_equals_the_oracle(spark, using, catalog, namespace):
    chance = random.Random(using)  # noqa: S311 - arranges test data
    rows = arrange_rows(EDGES, chance, 6)
    name = f"{catalog}.{namespace}.{TABLE}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    write_table(spark, rows, using=using, name=name)
    suite = SuiteMaker(EDGES, chance).suite(2)
    config = Config(default_catalog=catalog, default_namespace=namespace)
    with under(spark, code_generation(compiled=False)):
        check_table(spark, rows, suite, config=config)
    spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("row_count", [0, 1])
def test_an_emptied_table_and_a_single_row_equal_the_oracle(spark, row_count):
    chance = random.Random(row_count)  # noqa: S311 - arranges test data
    rows = arrange_rows(EDGES, chance, 20)[:row_count]
    write_table(spark, rows)
    check_table(spark, rows, SuiteMaker(EDGES, chance).suite(0))


def test_a_table_without_any_snapshot_equals_the_oracle(spark):
    name = f"iceberg.lakehouse.{TABLE}"
    columns = ", ".join(f"{name_sql(column)} {kind}" for column, kind in TYPES.items())
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} ({columns}) USING iceberg")
    check_table(spark, [], SuiteMaker(EDGES, random.Random(0)).suite(1))  # noqa: S311
