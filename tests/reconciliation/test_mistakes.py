"""What people get wrong: each is a precise error or result, and never a pass."""

from __future__ import annotations

import pytest

from lakeproof import CheckDefinitionError
from lakeproof.reconciliation import (
    AggregateConsistencyCheck,
    AggregateSpec,
    ChecksumReconciliationCheck,
    KeyParityCheck,
    MultiAggregateConsistencyCheck,
    ReconciliationCheck,
)

pytestmark = pytest.mark.usefixtures("interpreted")

NAMESPACE = "iceberg.mistakes"
LENIENT = {"tolerance": 1.0, "absolute_tolerance": 10**9}


@pytest.fixture(scope="module", autouse=True)
def tables(spark):
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    made = {
        "orders": "SELECT id, CAST(id AS DECIMAL(10,2)) AS amount, 'a' AS region FROM range(3)",
        "copy": "SELECT id, CAST(id AS DECIMAL(10,2)) AS amount, 'a' AS region FROM range(3)",
        "nothing": "SELECT id, CAST(id AS DECIMAL(10,2)) AS amount, 'a' AS region FROM range(0)",
        "texts": "SELECT CAST(id AS STRING) AS id, 'x' AS amount, 'a' AS region FROM range(3)",
    }
    for name, sql in made.items():
        spark.sql(f"CREATE OR REPLACE TABLE {NAMESPACE}.{name} USING iceberg AS {sql}")


def named(name: str) -> str:
    return f"{NAMESPACE}.{name}"


def every_check(source: str, target: str, *, key="id", column="amount", **options):
    """All five, as lenient as they can be."""
    source, target = named(source), named(target)
    options = {**LENIENT, **options}
    return [
        ReconciliationCheck(source, target, **options),
        AggregateConsistencyCheck(source, target, column, f"SUM({column})", **options),
        MultiAggregateConsistencyCheck(
            source, target, [AggregateSpec("total", f"SUM({column})", column)], **options
        ),
        KeyParityCheck(source, target, [key], **options),
        ChecksumReconciliationCheck(source, target, [key], **options),
    ]


@pytest.mark.parametrize(
    ("side", "names"), [("source", ("nowhere", "copy")), ("target", ("orders", "nowhere"))]
)
def test_a_table_that_is_not_there_is_an_error_of_its_side(spark, side, names):
    for check in every_check(*names):
        result = check.run(spark)
        assert (result.passed, result.status) == (False, "error"), check.name
        assert result.failure_message.startswith(f"Failed to query {side} table"), check.name
        assert "nowhere" in result.failure_message


def test_files_that_vanished_are_an_error_of_their_side(spark, tmp_path):
    folder = tmp_path / "rows.parquet"
    spark.range(3).write.parquet(str(folder))
    gone = spark.read.parquet(str(folder))
    for part in folder.glob("*.parquet"):
        part.unlink()
    for sides in ((gone, spark.range(3)), (spark.range(3), gone)):
        side = "source" if sides[0] is gone else "target"
        for check in (
            ReconciliationCheck(*sides, **LENIENT),
            KeyParityCheck(*sides, ["id"], **LENIENT),
            ChecksumReconciliationCheck(*sides, ["id"], **LENIENT),
        ):
            result = check.run(spark)
            assert (result.passed, result.status) == (False, "error")
            assert result.failure_message.startswith(f"Failed to query {side} table")


def test_a_key_of_another_type_is_an_error_that_names_both(spark):
    for check in every_check("orders", "texts")[3:]:
        result = check.run(spark)
        assert (result.passed, result.status) == (False, "error"), check.name
        for word in ("id", "bigint", "string", "key_cast"):
            assert word in result.failure_message.lower(), (check.name, word)


def test_a_value_of_another_type_fails_whatever_is_tolerated(spark):
    check = ChecksumReconciliationCheck(
        named("orders"), named("texts"), ["id"], key_cast={"id": "bigint"}, **LENIENT
    )
    result = check.run(spark)
    assert (result.passed, result.status) == (False, "failed")
    assert "amount" in result.failure_message


@pytest.mark.parametrize("check_class", [KeyParityCheck, ChecksumReconciliationCheck])
def test_a_key_column_that_is_not_there_is_an_error_with_the_nearest(spark, check_class):
    result = check_class(named("orders"), named("copy"), ["regoin"], **LENIENT).run(spark)
    assert (result.passed, result.status) == (False, "error")
    assert "regoin" in result.failure_message
    assert "region" in result.failure_message


def test_a_compared_column_that_is_not_there_is_an_error_or_fails(spark):
    check = ChecksumReconciliationCheck(
        named("orders"), named("copy"), ["id"], columns=["amonut"], **LENIENT
    )
    result = check.run(spark)
    assert not result.passed
    assert "amonut" in result.failure_message


@pytest.mark.parametrize(
    "options",
    [
        {"aggregate_column": "amonut", "source_expression": "SUM(amount)"},
        {"aggregate_column": "amount", "source_expression": "SUM(amonut)"},
        {"aggregate_column": "amount", "source_expression": "SUM(amount)", "group_by": ["amonut"]},
    ],
)
def test_a_column_of_an_aggregate_that_is_not_there_is_an_error(spark, options):
    result = AggregateConsistencyCheck(named("orders"), named("copy"), **options, **LENIENT).run(
        spark
    )
    assert (result.passed, result.status) == (False, "error")
    assert "amonut" in result.failure_message


def test_a_partition_column_that_is_not_there_is_an_error_of_every_check(spark):
    for check in every_check("orders", "copy", partition_column="regoin"):
        result = check.run(spark, partition="a")
        assert (result.passed, result.status) == (False, "error"), check.name
        assert "regoin" in result.failure_message, check.name


def test_no_rows_on_one_side_never_pass(spark):
    for names in (("orders", "nothing"), ("nothing", "orders")):
        for check in every_check(*names):
            result = check.run(spark)
            assert (result.passed, result.status) == (False, "failed"), (check.name, names)


def test_a_partition_that_is_on_neither_side_never_passes(spark):
    for check in every_check("orders", "copy", partition_column="region"):
        result = check.run(spark, partition="b")
        assert (result.passed, result.status) == (False, "skipped"), check.name
        assert result.failure_message == "partition region=b has no rows on either side"
    for value, told in (("1.5", "no value of 'id'"), ("1e9999999", "is no number")):
        result = ReconciliationCheck(named("orders"), named("copy"), partition_column="id").run(
            spark, partition=value
        )
        assert (result.passed, result.status) == (False, "error")
        assert told in result.failure_message


@pytest.mark.parametrize(
    ("check_class", "arguments"),
    [
        (ReconciliationCheck, ()),
        (AggregateConsistencyCheck, ("amount", "SUM(amount)")),
        (MultiAggregateConsistencyCheck, ([AggregateSpec("n", "COUNT(*)", "n")],)),
        (KeyParityCheck, (["id"],)),
        (ChecksumReconciliationCheck, (["id"],)),
    ],
)
@pytest.mark.parametrize(
    "wrong",
    [
        {"tolerance": -0.01},
        {"tolerance": 1.01},
        {"tolerance": float("nan")},
        {"tolerance": float("inf")},
        {"tolerance": "lots"},
        {"tolerance": True},
        {"absolute_tolerance": -1},
        {"absolute_tolerance": float("nan")},
    ],
)
def test_a_bad_tolerance_fails_at_construction(check_class, arguments, wrong):
    with pytest.raises(CheckDefinitionError, match="tolerance"):
        check_class("a.b.c", "a.b.d", *arguments, **wrong)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: ReconciliationCheck("a", "b", check_type="rowcount_party"), "rowcount_parity"),
        (lambda: MultiAggregateConsistencyCheck("a", "b", []), "aggregate"),
        (
            lambda: MultiAggregateConsistencyCheck(
                "a", "b", [AggregateSpec("n", "COUNT(*)", "n"), AggregateSpec("n", "SUM(x)", "x")]
            ),
            "twice",
        ),
        (lambda: KeyParityCheck("a", "b", []), "key"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id", "ID"]), "twice"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id"], hash_algorithm="md6"), "md5"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id"], duplicate_policy="ok"), "multiset"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id"], on_empty="ignore"), "on_empty"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id"], float_precision=99), "precision"),
        (lambda: ChecksumReconciliationCheck("a", "b", ["id"], normalize={"x": ["trm"]}), "trim"),
    ],
)
def test_a_wrong_argument_fails_at_construction_with_what_is_right(make, word):
    with pytest.raises(CheckDefinitionError, match=word):
        make()


def test_a_where_clause_over_a_column_that_is_not_there_is_an_error(spark):
    for check in every_check("orders", "copy", where_clause="regoin = 'a'"):
        result = check.run(spark)
        assert (result.passed, result.status) == (False, "error"), check.name
        assert "regoin" in result.failure_message, check.name


def test_an_aggregate_that_cannot_be_added_up_asks_for_one_row_or_an_expression(spark):
    options = {"aggregate_column": "amount", "source_expression": "AVG(amount)"}
    refused = AggregateConsistencyCheck(named("orders"), named("copy"), **options, **LENIENT)
    result = refused.run(spark)
    assert (result.passed, result.status) == (False, "error")
    assert "target_expression" in result.failure_message
    told = AggregateConsistencyCheck(
        named("orders"), named("copy"), **options, target_expression="AVG(amount)"
    )
    assert told.run(spark).passed
