"""Which rows are compared: partitions, samples, limits, and what becomes of nothing."""

from __future__ import annotations

import pytest

from lakeproof import CheckDefinitionError
from lakeproof.reconciliation import ChecksumReconciliationCheck, KeyParityCheck
from reconciliation.listed_keys import compared_keys

pytestmark = pytest.mark.usefixtures("interpreted")

KEYS = 2000
SOURCE = f"SELECT id, id % 7 AS v FROM range({KEYS}) WHERE id % 10 <> 3"
TARGET = f"SELECT id, IF(id % 20 = 5, -1, id % 7) AS v FROM range({KEYS}) WHERE id % 10 <> 4"


def checksum(source, target, **options):
    return ChecksumReconciliationCheck(source, target, ["id"], **options)


@pytest.fixture(scope="module")
def sides(spark):
    """A tenth of the keys is missing on each side, a twentieth is changed."""
    return spark.sql(SOURCE), spark.sql(TARGET)


def truth(key: int) -> str | None:
    kinds = {3: "missing_in_source", 4: "missing_in_target"}
    return kinds.get(key % 10) or ("changed" if key % 20 == 5 else None)


def assert_they_are_true(keys) -> None:
    assert keys
    for (key,), found in keys.items():
        assert found.kind == truth(key)


def test_a_sample_takes_the_same_keys_of_both_sides_and_smaller_ones_lie_within(spark, sides):
    small, small_keys = compared_keys(spark, checksum(*sides, sample=0.1))
    large, large_keys = compared_keys(spark, checksum(*sides, sample=0.4))
    assert_they_are_true(large_keys)
    assert {found.kind for found in small_keys.values()} == {
        "missing_in_target",
        "missing_in_source",
        "changed",
    }
    assert small_keys.items() <= large_keys.items()
    assert 100 < small.metric_value["total_keys"] < 300
    assert 650 < large.metric_value["total_keys"] < 950
    wanted = {key for key in range(KEYS) if truth(key)}
    assert 0.3 * len(wanted) < len(large_keys) < 0.5 * len(wanted)


def test_a_sample_says_how_sure_it_is(spark, sides):
    result = checksum(*sides, sample=0.1).run(spark)
    assert result.metadata["sample"] == 0.1
    assert result.metadata["sampled_keys"] == result.metric_value["total_keys"]
    share = result.metric_value["mismatch_pct"]
    assert share < result.metadata["mismatch_pct_max"] < 2 * share
    again = checksum(*sides, sample=0.1).run(spark)
    assert again.metric_value == result.metric_value


@pytest.mark.parametrize("sample", [0, -0.1, 1.5, 1e-9, float("nan"), True])
def test_a_sample_of_nothing_is_refused_at_construction(sample):
    with pytest.raises(CheckDefinitionError, match="sample"):
        checksum("a", "b", sample=sample)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True])
def test_a_limit_of_nothing_is_refused_at_construction(limit):
    with pytest.raises(CheckDefinitionError, match="limit"):
        checksum("a", "b", limit=limit)


def test_a_limit_bounds_the_rows_and_shows_what_either_side_misses(spark, sides):
    small, small_keys = compared_keys(spark, checksum(*sides, limit=100))
    large, large_keys = compared_keys(spark, checksum(*sides, limit=400, method="hash_join"))
    assert_they_are_true(large_keys)
    assert small_keys.items() <= large_keys.items()
    assert {found.kind for found in small_keys.values()} == {
        "missing_in_target",
        "missing_in_source",
        "changed",
    }
    for result, limit in ((small, 100), (large, 400)):
        assert limit * 0.8 < result.metric_value["source_rows"] <= limit
        assert limit * 0.8 < result.metric_value["target_rows"] <= limit
        assert result.metadata["limit_applied"]


def test_a_limit_beyond_all_rows_changes_nothing(spark, sides):
    limited, limited_keys = compared_keys(spark, checksum(*sides, limit=10**6))
    whole, keys = compared_keys(spark, checksum(*sides))
    assert limited_keys == keys
    assert limited.metric_value == whole.metric_value
    assert not limited.metadata["limit_applied"]
    assert {key for (key,) in keys} == {key for key in range(KEYS) if truth(key)}


# ---------------------------------------------------------------------------------------- nothing


def test_two_empty_tables_pass_with_a_word_about_it(spark):
    empty = spark.range(0)
    result = checksum(empty, empty).run(spark)
    assert (result.passed, result.status) == (True, "passed")
    assert result.metadata["empty"]
    assert result.metric_value["total_compared"] == 0
    assert result.metric_value["mismatch_pct"] == 0.0


@pytest.mark.parametrize(("on_empty", "passed"), [("warn", True), ("pass", True), ("fail", False)])
def test_a_filter_that_selects_nothing_is_judged_as_told(spark, sides, on_empty, passed):
    result = checksum(
        *sides, where_clause="id < 0", target_where_clause="id < 0", on_empty=on_empty
    ).run(spark)
    assert result.passed is passed
    assert result.status == ("passed" if passed else "failed")


@pytest.mark.parametrize("policy", ["fail", "multiset"])
@pytest.mark.parametrize("method", ["cells", "hash_join"])
def test_one_empty_side_is_a_mismatch_of_everything(spark, sides, policy, method):
    options = {"duplicate_policy": policy, "method": method}
    lost = checksum(spark.range(5), spark.range(0), **options).run(spark)
    found = checksum(spark.range(0), spark.range(5), **options).run(spark)
    for result in (lost, found):
        assert (result.passed, result.status) == (False, "failed")
        assert result.metric_value["mismatch_pct"] == 1.0
        assert result.metric_value["total_compared"] == 5
    assert lost.metric_value["missing_in_target"] == found.metric_value["missing_in_source"] == 5


def test_keys_of_empty_tables_agree(spark):
    result = KeyParityCheck(spark.range(0), spark.range(0), ["id"]).run(spark)
    assert result.passed
    assert result.metric_value["mismatch_pct"] == 0.0


# ------------------------------------------------------------------------------------- partitions

PARTITIONED = "SELECT id, CAST(id % 3 AS {kind}) AS part, {v} AS v FROM range(90)"


def test_a_partition_is_a_value_of_its_type_on_each_side(spark):
    source = spark.sql(PARTITIONED.format(kind="INT", v="id"))
    target = spark.sql(PARTITIONED.format(kind="STRING", v="IF(id % 3 = 1, -id, id)"))
    check = checksum(source, target, columns=["v"], partition_column="part")
    first, second = check.run(spark, partition=0), check.run(spark, partition="1")
    assert first.passed
    assert first.metric_value["source_rows"] == 30
    assert second.metric_value["hash_mismatches"] == 30
    whole = check.run(spark)
    assert whole.metric_value["source_rows"] == 90
    assert whole.metadata["partition_scope"] == "full"
    assert "full" in (whole.failure_message or "")


@pytest.mark.parametrize("lacking", ["source", "target"])
def test_a_partition_column_must_be_on_both_sides(spark, lacking):
    with_it = spark.sql("SELECT id, id % 2 AS part FROM range(4)")
    without = spark.sql("SELECT id FROM range(4)")
    sides = (without, with_it) if lacking == "source" else (with_it, without)
    check = checksum(*sides, schema="common", partition_column="part", tolerance=1.0)
    result = check.run(spark, partition=1)
    assert (result.passed, result.status) == (False, "error")
    assert lacking in result.failure_message
    assert "part" in result.failure_message


# --------------------------------------------------------------------------------- what was read


def test_both_sides_are_read_at_one_position_that_is_told(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.positions")
    for name in ("one", "other"):
        spark.sql(
            f"CREATE OR REPLACE TABLE iceberg.positions.{name} USING iceberg AS "
            "SELECT id FROM range(5)"
        )
    check = checksum("iceberg.positions.one", "iceberg.positions.other")
    before = check.run(spark)
    spark.sql("INSERT INTO iceberg.positions.one VALUES (99)")
    after = check.run(spark)
    assert before.passed
    assert after.metric_value["missing_in_target"] == 1
    positions = before.metadata["positions"], after.metadata["positions"]
    assert positions[0]["source"] != positions[1]["source"]
    assert positions[0]["target"] == positions[1]["target"]
    read_again = spark.sql(before.metadata["source_sql"])
    assert read_again.count() == 5, "the SQL names the snapshot"
