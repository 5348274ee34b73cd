"""When two values are equal, and when two rows are: every rule of the specification.

Rules about single values are facts in one table each, so that one comparison answers them all.
"""

from __future__ import annotations

from decimal import Decimal

import pytest
from planted_facts import FACTS, one, table_sql

from lakeproof import CheckDefinitionError
from lakeproof.reconciliation import ChecksumReconciliationCheck
from reconciliation.listed_keys import compared_keys

pytestmark = pytest.mark.usefixtures("interpreted")


def table(spark, columns: str, *values: str):
    return spark.sql(f"SELECT * FROM VALUES {', '.join(values)} AS t({columns})")


def checksum(source, target, *, key="id", **options):
    keys = [key] if isinstance(key, str) else key
    return ChecksumReconciliationCheck(source, target, keys, **options)


def facts_that_differ(spark, facts, **options) -> set[str]:
    check = checksum(
        spark.sql(table_sql(facts, "source")),
        spark.sql(table_sql(facts, "target")),
        key="fact",
        **options,
    )
    _, keys = compared_keys(spark, check)
    assert {found.kind for found in keys.values()} <= {"changed"}
    return {name for (name,) in keys}


# --------------------------------------------------------------------------------- single values


@pytest.mark.parametrize("method", ["cells", "hash_join"])
def test_every_fact_about_values_holds(spark, method):
    differ = facts_that_differ(spark, FACTS, method=method)
    assert differ == {fact.name for fact in FACTS if not fact.equal}


ASKED_FOR = (
    one("trimmed", "p", "'a'", "'a  '", equal=True),
    one("trimmed at the end only", "p", "' a'", "'a'"),
    one("not asked for", "q", "'a'", "'a '"),
    one("an unordered array", "list", "array(1, 2, 2, NULL)", "array(2, NULL, 1, 2)", equal=True),
    one("copies count in it", "list", "array(1, 2, 2)", "array(1, 1, 2)"),
    one("an ordered array", "list2", "array(1, 2)", "array(2, 1)"),
    one(
        "the same second",
        "ts",
        "'2024-01-01 00:00:00.1Z'",
        "'2024-01-01 00:00:00.9Z'",
        equal=True,
    ),
    one("the second before the epoch", "ts", "'1969-12-31 23:59:59.9Z'", "'1970-01-01 00:00:00Z'"),
    one(
        "one second before the epoch",
        "ts",
        "'1969-12-31 23:59:59.1Z'",
        "'1969-12-31 23:59:59.9Z'",
        equal=True,
    ),
    one("within a number", "d", "10.00", "10.0100", equal=True),
    one("just beyond a number", "d", "10.00", "10.0101"),
    one("within a share of the source", "i", "100", "110", equal=True),
    one("just beyond a share", "i", "100", "111"),
    one("a share of nothing", "i", "0", "1"),
    one("infinity is near to nothing", "f", "'Infinity'", "1.0"),
    one("nothing is near to infinity", "f", "1.0", "'Infinity'"),
    one("NaN is near to nothing", "f", "'NaN'", "1.0"),
    one("nothing is near to NaN", "f", "1.0", "'NaN'"),
    one("NaN is itself", "f", "'NaN'", "'NaN'", equal=True),
    one("NULL is near to nothing", "f", "NULL", "0.0"),
    one("within a share of a float", "f", "2.0", "2.1", equal=True),
    one("left out", "bin", "X'00'", "X'01'", equal=True),
)


def test_what_is_asked_for_is_forgiven_and_nothing_else(spark):
    differ = facts_that_differ(
        spark,
        ASKED_FOR,
        normalize={"p": ["rstrip"]},
        unordered_arrays=["LIST"],
        timestamp_precision="s",
        column_tolerances={
            "d": Decimal("0.01"),
            "i": {"relative": 0.1},
            "f": {"absolute": 0.001, "relative": 0.1},
        },
        exclude_columns=["b?n"],
    )
    assert differ == {fact.name for fact in ASKED_FOR if not fact.equal}


EXACTLY = (
    one("the seventh digit", "x", "1.0000001D", "1.0000002D"),
    one("the last bit", "x", "0.1D", "0.10000000000000002D"),
    one("minus zero", "x", "-0.0D", "0.0D", equal=True),
    one("NaN", "x", "'NaN'", "'NaN'", equal=True),
    one("a float is not the double of its text", "f", "0.1", "0.1"),
    one("a float widened", "f", "0.5", "0.5", equal=True),
    one("the last bit inside", "floats", "array(0.1D)", "array(0.10000000000000002D)"),
    one("minus zero inside", "floats", "array(-0.0D)", "array(0.0D)", equal=True),
)


def test_without_a_precision_floats_are_compared_to_the_last_bit(spark):
    differ = facts_that_differ(spark, EXACTLY, float_precision=None)
    assert differ == {fact.name for fact in EXACTLY if not fact.equal}


@pytest.mark.parametrize("algorithm", ["xxhash64", "sha256"])
def test_hashes_do_not_depend_on_the_zone_of_the_session(spark, algorithm):
    """In one run both sides would be wrong alike, so the hashes of two runs are compared."""
    moments = ("2024-03-10 07:00:00", "2024-11-03 05:30:00", "0001-01-01 00:00:00")
    rows = ", ".join(
        f"(timestamp'{one}Z', timestamp_ntz'{one}', date'{one[:10]}')" for one in moments
    )
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.semantics")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.semantics.moments USING iceberg AS "
        f"SELECT *, ts AS also_ts FROM VALUES {rows} AS t(ts, ntz, day)"
    )
    name, hashes = "iceberg.semantics.moments", []
    for zone in ("America/St_Johns", "UTC"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        result = checksum(name, name, key=["ts", "ntz"], hash_algorithm=algorithm).run(spark)
        assert result.passed
        hashed = spark.sql(result.metadata["source_sql"]).select("hash_0").collect()
        hashes.append(sorted(row.hash_0 for row in hashed))
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 3


# ------------------------------------------------------------------------------------------ types


def test_decimals_whose_digits_do_not_fit_are_compared_as_doubles_with_a_warning(spark):
    check = checksum(
        table(spark, "id, d", "(1, CAST('1' AS DECIMAL(38,0)))", "(2, CAST('3' AS DECIMAL(38,0)))"),
        table(
            spark, "id, d", "(1, CAST('1' AS DECIMAL(38,30)))", "(2, CAST('4' AS DECIMAL(38,30)))"
        ),
    )
    result = check.run(spark)
    assert result.metric_value["hash_mismatches"] == 1
    assert "double" in str(result.metadata).lower()


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("CAST(1 AS BIGINT)", "CAST(1 AS DOUBLE)"),
        ("'1'", "1"),
        ("date'2024-01-01'", "timestamp'2024-01-01 00:00:00'"),
        ("timestamp_ntz'2024-01-01 00:00:00'", "timestamp'2024-01-01 00:00:00'"),
        ("array(1)", "1"),
        ("true", "1"),
    ],
)
def test_types_without_a_common_one_fail_and_are_named(spark, source, target):
    sides = (
        table(spark, "id, v, w", f"(1, {source}, 1)"),
        table(spark, "id, v, w", f"(1, {target}, 1)"),
    )
    result = checksum(*sides, tolerance=1.0).run(spark)
    assert (result.passed, result.status) == (False, "failed")
    assert "'v'" in str(result.metadata["schema_differences"])
    assert "v" in result.failure_message
    assert result.metric_value["hash_mismatches"] == 0, "the rest is compared"
    assert result.metadata["columns"] == ["w"]


def test_a_local_time_is_held_against_a_moment_only_in_a_zone_that_is_given(spark):
    sides = (
        table(spark, "id, t", "(1, timestamp_ntz'2024-01-01 02:00:00')"),
        table(spark, "id, t", "(1, timestamp'2024-01-01 00:00:00Z')"),
    )
    assert checksum(*sides, assume_timezone="Europe/Kyiv").run(spark).passed
    assert not checksum(*sides, assume_timezone="UTC").run(spark).passed


def test_a_column_that_only_the_target_has_fails_unless_only_common_ones_are_asked_for(spark):
    sides = (
        table(spark, "id, v, old", "(1, 2, 3)"),
        table(spark, "id, v, new", "(1, 2, 3)"),
    )
    strict = checksum(*sides, tolerance=1.0).run(spark)
    assert not strict.passed
    assert "new" in strict.failure_message
    assert "new" in str(strict.metadata["schema_differences"])
    common = checksum(*sides, schema="common").run(spark)
    assert common.passed
    assert common.metadata["columns"] == ["v"]


def test_columns_are_matched_by_name_whatever_their_order_and_case(spark):
    sides = (
        table(spark, "id, a, B, c", "(1, 10, 20, 30)", "(2, 10, 20, 30)"),
        table(spark, "C, A, b, ID", "(30, 10, 20, 1)", "(10, 30, 20, 2)"),
    )
    result, keys = compared_keys(spark, checksum(*sides))
    assert result.metric_value["hash_mismatches"] == 1
    assert {name.lower() for name in keys[2,].differing} == {"a", "c"}


# ------------------------------------------------------------------------------------------- keys


def test_keys_of_different_kinds_are_refused_by_name_and_cast_when_asked_for(spark):
    sides = (
        table(spark, "id, v", "(7, 1)", "(8, 1)", "(9, 1)"),
        table(spark, "id, v", "('007', 1)", "('8', 1)", "('nine', 1)"),
    )
    refused = checksum(*sides).run(spark)
    assert (refused.passed, refused.status) == (False, "error")
    assert "int" in refused.failure_message.lower()
    assert "string" in refused.failure_message.lower()
    assert "key_cast" in refused.failure_message
    cast = checksum(*sides, key_cast={"id": "bigint"}, tolerance=1.0).run(spark)
    assert (cast.passed, cast.status) == (False, "failed"), "uncastable keys are not tolerated"
    assert cast.metadata["uncastable_keys"] == 1
    assert cast.metric_value["missing_in_target"] == 1


def test_null_keys_match_and_are_counted_and_fail_if_told_to(spark):
    sides = (
        table(spark, "a, b, v", "(NULL, 1, 5)", "(NULL, NULL, 6)", "(2, NULL, 7)", "(3, 3, 3)"),
        table(spark, "a, b, v", "(NULL, 1, 5)", "(NULL, NULL, 6)", "(2, NULL, 8)", "(3, 3, 3)"),
    )
    counted, keys = compared_keys(spark, checksum(*sides, key=["a", "b"]))
    assert {key: found.kind for key, found in keys.items()} == {(2, None): "changed"}
    assert counted.metadata["null_keys_source"] == counted.metadata["null_keys_target"] == 3
    failed, keys = compared_keys(spark, checksum(*sides, key=["a", "b"], null_keys="fail"))
    assert set(keys) == {(None, 1), (None, None), (2, None)}
    assert failed.metric_value["mismatch_pct"] == 3 / 4
    assert failed.metric_value["hash_mismatches"] == 1


COPIES = (
    ("(1, 'a')", "(1, 'a')", "(2, 'x')", "(3, 'y')", "(3, 'z')", "(4, 'c')"),
    ("(1, 'a')", "(1, 'a')", "(2, 'x')", "(2, 'x')", "(3, 'y')", "(3, 'w')", "(4, 'c')"),
)


@pytest.mark.parametrize("method", ["cells", pytest.param("hash_join", marks=pytest.mark.slow)])
def test_copies_are_mismatches_or_a_multiset_or_an_error(spark, method):
    sides = table(spark, "id, v", *COPIES[0]), table(spark, "id, v", *COPIES[1])
    failed, keys = compared_keys(spark, checksum(*sides, method=method))
    assert {key: found.kind for (key,), found in keys.items()} == {
        1: "surplus",
        2: "surplus",
        3: "changed",
    }
    assert failed.metric_value["duplicate_keys"] == 3
    assert failed.metric_value["surplus_rows"] == 5
    assert failed.metric_value["total_compared"] == 4 + 5
    assert failed.metadata["duplicate_keys_source"] == 2
    assert failed.metadata["duplicate_keys_target"] == 3

    sets, keys = compared_keys(spark, checksum(*sides, method=method, duplicate_policy="multiset"))
    assert {key: found.kind for (key,), found in keys.items()} == {2: "surplus", 3: "changed"}
    assert sets.metric_value["duplicate_keys"] is None
    assert sets.metric_value["total_compared"] == 7

    stopped = checksum(*sides, method=method, duplicate_policy="error", tolerance=1.0).run(spark)
    assert (stopped.passed, stopped.status) == (False, "error")
    assert "3" in stopped.failure_message


def test_sums_find_what_an_exclusive_or_cancels(spark):
    """Two copies of 7 against two of 9: by exclusive or, both sides are 0."""
    sides = table(spark, "id, v", "(1, 7)", "(1, 7)"), table(spark, "id, v", "(1, 9)", "(1, 9)")
    result = checksum(*sides, duplicate_policy="multiset", method="cells").run(spark)
    assert result.metric_value["hash_mismatches"] == 1
    assert not result.passed


# --------------------------------------------------------------------------- metadata and columns


def test_metadata_columns_are_left_out_by_pattern_and_the_patterns_can_be_others(spark):
    columns = "id, v, _dlt_id, _fivetran_synced, _airbyte_x, _sdc_y, __op, _phlo_run_id, own_meta"
    sides = (
        table(spark, columns, "(1, 2, 'a', 'a', 'a', 'a', 'a', 'a', 'a')"),
        table(spark, columns, "(1, 2, 'b', 'b', 'b', 'b', 'b', 'b', 'b')"),
    )
    result = checksum(*sides).run(spark)
    assert result.metadata["column_mismatches"] == {"own_meta": 1, "v": 0}
    assert len(result.metadata["excluded_columns"]) == 6
    result = checksum(*sides, metadata_patterns=["own_*"], exclude_columns=["_*"]).run(spark)
    assert result.passed
    assert result.metadata["columns"] == ["v"]


def test_columns_that_are_named_are_compared_even_if_they_look_like_metadata(spark):
    sides = (
        table(spark, "id, v, _dlt_id", "(1, 2, 'a')"),
        table(spark, "id, v, _dlt_id", "(1, 3, 'a')"),
    )
    assert checksum(*sides, columns=["_dlt_id"]).run(spark).passed


def test_an_excluded_column_that_nobody_has_is_an_error(spark):
    sides = table(spark, "id, value", "(1, 2)"), table(spark, "id, value", "(1, 2)")
    result = checksum(*sides, exclude_columns=["valeu"]).run(spark)
    assert result.status == "error"
    assert "value" in result.failure_message


def test_samples_are_ten_per_kind_ordered_by_key_with_both_values(spark):
    source = spark.sql("SELECT id, id * 10 AS v, 'same' AS w FROM range(0, 100)")
    target = spark.sql("SELECT id, id * 10 + 1 AS v, 'same' AS w FROM range(50, 150)")
    result = checksum(source, target).run(spark)
    by_kind: dict[str, list[int]] = {}
    for sample in result.metadata["samples"]:
        by_kind.setdefault(sample["kind"], []).append(int(sample["key"]["id"]))
    assert by_kind == {
        "missing_in_target": list(range(10)),
        "missing_in_source": list(range(100, 110)),
        "changed": list(range(50, 60)),
    }
    changed = next(one for one in result.metadata["samples"] if one["kind"] == "changed")
    assert changed["differing_columns"] == ["v"]
    assert (changed["source"]["v"], changed["target"]["v"]) == ("500", "501")


# ------------------------------------------------------------------------------------- tolerances


def test_a_share_is_held_exactly_and_includes_its_edge(spark):
    source, target = spark.range(10), spark.range(3, 10)
    assert checksum(source, target, tolerance=0.3).run(spark).passed, "not 0.30000000000000004"
    assert not checksum(source, target, tolerance=0.29).run(spark).passed
    assert checksum(source, target, absolute_tolerance=3).run(spark).passed
    assert not checksum(source, target, absolute_tolerance=2).run(spark).passed


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), 1.1, True, "0.1"])
def test_a_tolerance_that_is_none_is_refused_at_construction(tolerance):
    with pytest.raises(CheckDefinitionError, match="tolerance"):
        checksum("a", "b", tolerance=tolerance)


def test_a_moment_may_be_some_seconds_off(spark):
    noon = "timestamp'2024-01-01 12:00:0{0}Z'"
    sides = (
        table(spark, "id, t", f"(1, {noon.format('0')})", f"(2, {noon.format('0')})"),
        table(spark, "id, t", f"(1, {noon.format('2')})", f"(2, {noon.format('2.000001')})"),
    )
    _, keys = compared_keys(spark, checksum(*sides, column_tolerances={"t": 2}))
    assert set(keys) == {(2,)}
