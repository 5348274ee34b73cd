"""Steps of a pipeline keep what they take out: filters, groups, explodes and requirements."""

from __future__ import annotations

import pytest
from adjoint_runs import RUN_ID, BegunRun, rows_of

from actions.executions import newest_execution
from lakeproof import faults
from lakeproof.accounting.adjoint import (
    AdjointConfig,
    Requirement,
    errors_with_adjoint,
    explode_with_adjoint,
    filter_with_adjoint,
    group_by_with_adjoint,
)
from lakeproof.engines.spark.accounting.commitments import commitment_of
from lakeproof.engines.spark.accounting.repeatable import _named_in_text
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AdjointType,
    Classification,
    Commitment,
    Level,
    PartitionType,
)
from lakeproof.model.canonical import encode_key

BOOKINGS = """
    SELECT * FROM VALUES
        ('good', 10, 'x', array('a', 'b')),
        ('free', 0, 'x', array()),
        ('refund', -5, 'y', array('c')),
        ('unpriced', NULL, 'y', CAST(NULL AS ARRAY<STRING>)),
        ('dear', 90, NULL, array(CAST(NULL AS STRING), 'd', 'e'))
    AS t(_lakeproof_key, price, city, tags)
"""


@pytest.fixture
def run(tmp_path):
    # A blank and what Spark reads as a pattern: paths are paths.
    return BegunRun(tmp_path / "runs of [2026]" / "0131_101112_run-1")


@pytest.fixture(scope="module")
def bookings(spark):
    return spark.sql(BOOKINGS)


# ------------------------------------------------------------------------------------------- filter


def test_a_filter_writes_each_key_it_drops_with_the_reason(spark, run, bookings):
    reached = []
    with faults.armed("after_capture", lambda: reached.append(run.written())):
        result = filter_with_adjoint(bookings, "price > 0", config=run.step("positive_price"))
    assert reached == [["adjoint/filtered_keys/positive_price.parquet"]]
    assert rows_of(result.output, "_lakeproof_key") == [("dear",), ("good",)]
    names = [
        "source_key",
        "filter_predicate",
        "morphism_id",
        "run_id",
        "epoch",
        "reason",
        "_lakeproof_weight",
    ]
    assert result.metadata.columns == names
    step = ("price > 0", "positive_price", RUN_ID, "2026-01-31")
    assert rows_of(result.metadata, *names) == [
        ("free", *step, "PREDICATE_FALSE", 1),
        ("refund", *step, "PREDICATE_FALSE", 1),
        ("unpriced", *step, "PREDICATE_NULL", 1),
    ]
    assert result.classification is Classification.EMBEDDING
    (partition,) = result.partitions
    assert partition.partition_type is PartitionType.FILTERED
    assert partition.adjoint_type is AdjointType.FilteredKeysMetadata
    assert partition.name == "FILTERED(positive_price)"
    assert partition.adjoint_location.endswith("adjoint/filtered_keys/positive_price.parquet")
    assert partition.record_count is None


def test_a_condition_as_a_column_is_kept_as_spark_names_it(spark, run, bookings):
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    dear = (F.col("price") > 50) & (F.col("city") == "x")
    result = filter_with_adjoint(bookings, dear, config=run.step("dear_only"))
    assert result.output.count() == 0
    found = rows_of(result.metadata, "source_key", "filter_predicate", "reason")
    # NULL AND FALSE is FALSE: only the dear record without a city is undecided.
    assert found[0] == ("dear", "((price > 50) AND (city = x))", "PREDICATE_NULL")
    assert {reason for _, _, reason in found[1:]} == {"PREDICATE_FALSE"}


def test_without_capture_a_filter_is_lossy_and_writes_nothing(run, bookings):
    result = filter_with_adjoint(
        bookings, "price > 0", capture_filtered=False, config=run.step("lossy")
    )
    assert result.classification is Classification.LOSSY
    assert (result.metadata, result.partitions, run.written()) == (None, (), [])
    assert result.output.count() == 2


def test_what_chance_or_the_clock_decides_is_refused(spark, run, bookings):
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    refused = {
        "rand() > 0.5": "rand()",
        "uuid() > city": "uuid()",
        "price > unix_timestamp()": "current_timestamp()",
        "current_date > DATE'2026-01-01'": "current_date()",
        "price IN (SELECT 1 WHERE rand() > 0.5)": "chance",
    }
    for number, (condition, told) in enumerate(refused.items()):
        with pytest.raises(LedgerError, match="condition depends on") as problem:
            filter_with_adjoint(bookings, condition, config=run.step(f"refused-{number}"))
        assert told in str(problem.value)
    with pytest.raises(LedgerError, match="requirement 'lucky' depends on rand"):
        errors_with_adjoint(bookings, [Requirement("lucky", F.rand() > 0.5)], run.step("r"))
    shaken = bookings.withColumn("luck", F.rand())
    for refuse in (
        lambda: filter_with_adjoint(shaken, "luck > 0.5", config=run.step("r")),
        lambda: explode_with_adjoint(shaken, "tags", run.step("r")),
        lambda: group_by_with_adjoint(shaken, "luck", ["count(*)"], run.step("r", lineage="FULL")),
    ):
        with pytest.raises(LedgerError, match="checkpoint it before this step"):
            refuse()
    assert run.written() == []
    # A word in a text is no call, and the time of loading is a column like any other.
    loaded = bookings.withColumn("loaded_at", F.current_timestamp())
    kept = filter_with_adjoint(loaded, "city <> 'rand() now()'", config=run.step("kept"))
    # Unless it decides: by the condition, or by what the frame was filtered by.
    aged = loaded.withColumn("age", F.expr("loaded_at - DATE'2026-01-01'"))
    recent = loaded.where("loaded_at > '2026-01-01'").select("_lakeproof_key", "price")
    for frame, condition in ((aged, "age > INTERVAL '1' DAY"), (recent, "price > 0")):
        with pytest.raises(LedgerError, match=r"depends on current_timestamp\(\)"):
            filter_with_adjoint(frame, condition, config=run.step("clock"))
    assert kept.output.count() == 4


def test_rows_put_beside_exploded_ones_count_though_they_have_no_weight(spark, run, bookings):
    good, others = bookings.where("_lakeproof_key = 'good'"), bookings.where("price < 50")
    parts = explode_with_adjoint(good, "tags", run.step("parts"), output_column="tag").output
    rows = parts.unionByName(others.where("_lakeproof_key <> 'good'"), allowMissingColumns=True)
    keys = ["free", "good", "refund"]
    expected = commitment_of(others, run.manifest.salt, Level.COMMIT).commitment
    grouped = group_by_with_adjoint(rows, [], ["count(*) AS n"], run.step("all", lineage="FULL"))
    assert in_group(run.table(spark, "groups", "all").collect()[0]) == expected
    counted = grouped.metadata.where("_lakeproof_weight = 1")
    assert rows_of(counted, "source_key") == [(key,) for key in keys]
    again = explode_with_adjoint(
        rows.selectExpr("*", "array(1, 2) AS two"), "two", run.step("again"), output_column="one"
    )
    family = run.table(spark, "parent_child", "again")
    assert family.select("child_key").distinct().count() == 2 * rows.count()
    assert rows_of(family.where("_lakeproof_weight = 1"), "source_key") == [(key,) for key in keys]
    failed = errors_with_adjoint(again.output, [Requirement("no", "false")], run.step("no"))
    assert failed.metadata.where("_lakeproof_weight = 1").count() == len(keys)


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("rand() > 0.5 AND now() > a", "now(), rand()"),
        ("a < CURRENT_TIMESTAMP", "current_timestamp()"),
        ("a < unix_timestamp( )", "unix_timestamp()"),
        ("a = 'rand()' AND `uuid()` > \"now()\" AND b = 'it\\'s rand()'", ""),
        ("localtimestamp > a", ""),
        ("Column<'>(rand(7), 0.5)'>", "rand()"),
        ("Column<'>(a, unix_timestamp(current_timestamp()))'>", "current_timestamp()"),
        ("brand(a) > 1 AND unix_timestamp(a) > 5", ""),
    ],
)
def test_without_a_plan_functions_are_known_by_name(condition, named):
    assert _named_in_text(condition, ["a", "localtimestamp"]) == named


# ------------------------------------------------------------------------------------------- groups


def in_group(row) -> Commitment:
    return Commitment(row["records"], (row["limb_0"], row["limb_1"]))


def test_groups_are_those_of_a_plain_aggregate_and_commit_to_their_members(spark, run, bookings):
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    aggregates = [
        F.sum("price"),
        F.expr("count(*) AS records"),
        F.max("price").cast("decimal(12,2)").alias("max (price); {all}"),
        F.count_distinct("tags").alias("kinds"),
    ]
    before = newest_execution(spark)
    result = group_by_with_adjoint(bookings, ["CITY"], aggregates, run.step("by-city"))
    assert newest_execution(spark) - before == 1
    plain = bookings.groupBy("CITY").agg(*aggregates)
    assert result.output.columns == plain.columns
    assert [field.dataType for field in result.output.schema] == [
        field.dataType for field in plain.schema
    ]
    assert rows_of(result.output, "*") == rows_of(plain, "*")
    assert run.written() == ["adjoint/groups/by-city.parquet"]
    stored = run.table(spark, "groups", "by-city")
    names = ["limb_0", "limb_1"]
    assert stored.columns == [
        *("group_key", "output", "records", "rows", *names, "morphism_id", "run_id", "epoch")
    ]
    assert rows_of(stored, "group_key.CITY", "records") == [("x", 2), ("y", 2), (None, 1)]
    (sums,) = stored.groupBy().sum("records", *names).toDF("records", *names).collect()
    (partition,) = result.partitions
    members = commitment_of(partition.recompute, run.manifest.salt, Level.COMMIT).commitment
    assert in_group(sums) == members
    assert members == commitment_of(bookings, run.manifest.salt, Level.COMMIT).commitment
    assert partition.adjoint_type is AdjointType.GroupCommitments
    assert partition.partition_type is PartitionType.AGGREGATED
    assert result.classification is Classification.PROJECTION


def test_full_lineage_writes_each_member_of_each_group(spark, run, bookings):
    result = group_by_with_adjoint(
        bookings, ["city"], ["sum(price) AS total"], run.step("full", lineage="full")
    )
    folders = [f"adjoint/{kind}/full.parquet" for kind in ("groups", "reverse_joins")]
    assert run.written() == folders
    names = ["group_key", "source_key", "morphism_id", "run_id", "epoch", "_lakeproof_weight"]
    assert result.metadata.columns == names
    assert rows_of(result.metadata, "group_key.city", "source_key") == [
        *(("x", "free"), ("x", "good"), ("y", "refund"), ("y", "unpriced"), (None, "dear"))
    ]
    (partition,) = result.partitions
    assert partition.adjoint_type is AdjointType.ReverseJoinMetadata
    assert rows_of(result.output, "city", "total") == [("x", 10), ("y", -5), (None, 90)]


def test_one_group_of_all_and_of_none_at_level_count(spark, tmp_path, bookings):
    run = BegunRun(tmp_path / "run", level=Level.COUNT)
    whole = group_by_with_adjoint(bookings, [], "sum(price) AS total", run.step("all"))
    assert whole.metadata.columns == ["output", "records", "rows", "morphism_id", "run_id", "epoch"]
    assert rows_of(whole.output, "total") == [(95,)]
    assert rows_of(whole.metadata, "records", "rows") == [(5, 5)]
    none = group_by_with_adjoint(
        bookings.where("false"), (), ["count(*) AS n"], run.step("none", lineage="FULL")
    )
    assert rows_of(none.output, "n") == [(0,)]
    assert none.metadata.count() == 0


# ------------------------------------------------------------------------------------------ explode


def test_the_first_child_accounts_for_its_parent_and_empty_arrays_are_kept(spark, run, bookings):
    result = explode_with_adjoint(bookings, "TAGS", run.step("tags"))
    assert result.output.columns[:3] == ["price", "city", "TAGS"]
    assert rows_of(result.output, "_lakeproof_key", "tags", "_lakeproof_weight") == [
        ("dear", "d", 0),
        ("dear", "e", 0),
        ("dear", None, 1),
        ("good", "a", 1),
        ("good", "b", 0),
        ("refund", "c", 1),
    ]
    family = rows_of(result.metadata, "child_key", "source_key", "position", "_lakeproof_weight")
    assert family[3:5] == [
        (encode_key({"parent": "good", "position": 0}), "good", 0, 1),
        (encode_key({"parent": "good", "position": 1}), "good", 1, 0),
    ]
    (partition,) = result.partitions
    empty = run.table(spark, "filtered_keys", "tags")
    assert rows_of(empty, "source_key", "reason", "filter_predicate", "_lakeproof_weight") == [
        ("free", "EXPLODE_EMPTY", "size(`tags`) > 0", 1),
        ("unpriced", "EXPLODE_EMPTY", "size(`tags`) > 0", 1),
    ]
    assert partition.name == "FILTERED(tags)"


def test_children_of_children_keep_one_weight_and_keys_of_their_own(spark, run, bookings):
    doubled = bookings.where("size(tags) > 1").selectExpr("*", "array(tags, tags) AS pairs")
    halves = explode_with_adjoint(doubled, "pairs", run.step("halves"), output_column="half")
    assert "pairs" in halves.output.columns
    leaves = explode_with_adjoint(halves.output, "half", run.step("leaves"), output_column="leaf")
    assert leaves.output.count() == 10
    weights = rows_of(leaves.output.groupBy("_lakeproof_key").sum("_lakeproof_weight"), "*")
    assert weights == [("dear", 1), ("good", 1)]
    assert leaves.metadata.select("child_key").distinct().count() == 10
    groups = group_by_with_adjoint(
        leaves.output, "leaf", ["count(*) AS n"], run.step("groups", lineage="FULL")
    )
    stored = run.table(spark, "groups", "groups")
    assert rows_of(stored.groupBy().sum("records", "rows"), "*") == [(2, 10)]
    assert groups.metadata.groupBy().sum("_lakeproof_weight").collect()[0][0] == 2
    dropped = filter_with_adjoint(leaves.output, "leaf <> 'a'", config=run.step("filter"))
    assert rows_of(dropped.metadata, "source_key", "_lakeproof_weight", "reason") == [
        ("dear", 0, "PREDICATE_NULL"),
        ("dear", 1, "PREDICATE_NULL"),
        ("good", 0, "PREDICATE_FALSE"),
        ("good", 1, "PREDICATE_FALSE"),
    ]


# ---------------------------------------------------------------------------------------- all steps


def test_at_level_off_steps_are_plain_and_need_no_run(spark, bookings):
    plain = bookings.drop("_lakeproof_key")
    off = AdjointConfig("step", "run", "/nowhere", level="off")
    results = {
        "filter": filter_with_adjoint(plain, "price > 0", config=off),
        "group": group_by_with_adjoint(plain, "city", ["sum(price) AS total"], off),
        "explode": explode_with_adjoint(plain, "tags", off, "tag"),
        "errors": errors_with_adjoint(plain, [Requirement("priced", "price > 0")], off),
    }
    assert results["filter"].output.columns == results["errors"].output.columns == plain.columns
    assert results["group"].output.columns == ["city", "total"]
    assert results["explode"].output.columns == [*plain.columns, "tag"]
    assert [results[name].output.count() for name in results] == [2, 3, 6, 2]
    for result in results.values():
        assert (result.metadata, result.partitions) == (None, ())
        assert result.classification is Classification.LOSSY


def test_a_step_that_has_captured_in_a_run_cannot_do_it_again(run, bookings):
    steps = {
        "filtered": lambda step: filter_with_adjoint(bookings, "price > 0", config=step),
        "grouped": lambda step: group_by_with_adjoint(bookings, "city", ["count(*)"], step),
        "exploded": lambda step: explode_with_adjoint(bookings, "tags", step),
        "failed": lambda step: errors_with_adjoint(bookings, [Requirement("c", "price > 0")], step),
    }
    for name, capture in steps.items():
        capture(run.step(name))
        before = sorted(run.directory.rglob("*"))
        with pytest.raises(LedgerError, match=f"'{name}' has captured already in run 'run-1'"):
            capture(run.step(name))
        assert sorted(run.directory.rglob("*")) == before


def test_records_of_several_inputs_are_told_apart(spark, tmp_path, bookings):
    run = BegunRun(tmp_path / "run", inputs=("new", "old"))
    both = bookings.selectExpr("*", "if(price > 0, 'new', 'old') AS _lakeproof_source")
    dropped = filter_with_adjoint(both, "price < 50", config=run.step("cheap"))
    assert rows_of(dropped.metadata, "source_key", "_lakeproof_source") == [
        ("dear", "new"),
        ("unpriced", "old"),
    ]
    assert [part.source for part in dropped.partitions] == ["new", "old"]
    with pytest.raises(LedgerError, match=r"lineage='FULL'.*source='...'"):
        group_by_with_adjoint(both, "city", ["count(*)"], run.step("mixed"))
    full = group_by_with_adjoint(both, "city", ["count(*)"], run.step("full", lineage="FULL"))
    assert rows_of(full.metadata, "source_key", "_lakeproof_source")[0] == ("dear", "new")
    assert [part.source for part in full.partitions] == ["new", "old"]
    one = group_by_with_adjoint(both, "city", ["count(*)"], run.step("one", source="new"))
    assert [part.source for part in one.partitions] == ["new"]
    errors = errors_with_adjoint(both, [Requirement("c", "price < 50")], run.step("errors"))
    assert [part.source for part in errors.partitions] == ["new", "old"]
    assert [record["_lakeproof_source"] for record in run.error_records()] == ["new", "old"]


def test_what_cannot_be_captured_is_refused_before_anything_is_written(run, bookings):
    step = run.step("step")
    keyless = bookings.drop("_lakeproof_key")
    refused = [
        (lambda: filter_with_adjoint(keyless, "price > 0", config=step), "ledger.input_frame()"),
        (lambda: group_by_with_adjoint(bookings, "citty", ["count(*)"], step), "Nearest: city"),
        (lambda: group_by_with_adjoint(bookings, "city", [], step), "at least one aggregate"),
        (
            lambda: group_by_with_adjoint(bookings, "city", ["1 AS n", "max(price) AS N"], step),
            "two columns of the result are called 'N'",
        ),
        (lambda: explode_with_adjoint(bookings, "price", step), "is int, no array"),
        (
            lambda: explode_with_adjoint(bookings.selectExpr("*", "map(1, 2) AS m"), "m", step),
            "F.map_entries('m')",
        ),
        (
            lambda: errors_with_adjoint(bookings, [Requirement("c", "true", "typo")], step),
            "known are parse, type_cast",
        ),
        (
            lambda: errors_with_adjoint(bookings, [Requirement("readable_key", "true")], step),
            "empty or taken",
        ),
        (
            lambda: errors_with_adjoint(bookings, [Requirement("c", "true", of="prize")], step),
            "Nearest: price",
        ),
        (
            lambda: filter_with_adjoint(bookings, "true", config=run.step("step", level="COUNT")),
            "one run has one level",
        ),
        (
            lambda: filter_with_adjoint(
                bookings, "true", config=AdjointConfig("step", "other", str(run.directory))
            ),
            "belongs to run 'run-1'",
        ),
        (
            lambda: filter_with_adjoint(
                bookings, "true", config=AdjointConfig("step", RUN_ID, str(run.directory.parent))
            ),
            "lies in no run directory",
        ),
        (lambda: run.step("../step"), "is no slug"),
        (lambda: run.step("step", level="SEALED"), "OFF, COUNT, COMMIT"),
        (lambda: run.step("step", lineage="SOME"), "FULL, KEY_DERIVABLE, NONE"),
    ]
    for refuse, told in refused:
        with pytest.raises(LedgerError) as problem:
            refuse()
        assert told in str(problem.value)
    assert run.written() == []
