"""Comparisons of two tables: what they take, and which of them are one rule."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal

import pytest
from verdicts import refusal, same_logic

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import PairCheck
from lakeproof.errors import UnsafeSqlError

SOURCE = {"source_table": "raw.orders"}
KEYED = {**SOURCE, "key_columns": ["id"]}
SUMMED = {**SOURCE, "aggregate_column": "total", "source_expression": "SUM(amount)"}
COUNT = {"name": "rows", "expression": "COUNT(*)", "target_column": "n"}
TOTAL = {"name": "total", "expression": "SUM(amount)", "target_column": "total"}
SEVERAL = {**SOURCE, "aggregates": [COUNT, TOTAL]}
NEEDED = {
    "reconciliation": SOURCE,
    "aggregate_consistency": SUMMED,
    "multi_aggregate_consistency": SEVERAL,
    "key_parity": KEYED,
    "checksum_reconciliation": KEYED,
}
CHECKSUM = "checksum_reconciliation"


def read(check, columns=(), **params):
    return find_check(check).read(columns, {**NEEDED[check], **params})


def refused(check, **params):
    return refusal(check, **{**NEEDED[check], **params})


# ------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize("check", NEEDED)
def test_a_comparison_needs_its_source_and_says_so(check):
    kind = find_check(check)
    assert isinstance(kind, PairCheck)
    assert kind.dimension == "consistency"
    assert read(check)["source_table"] == "raw.orders"
    without = {name: value for name, value in NEEDED[check].items() if name != "source_table"}
    assert "needs parameter 'source_table'" in refusal(check, **without)
    assert "cannot be read" in refused(check, source_table="raw..orders")
    assert "Did you mean 'source_table'?" in refused(check, source_tabel="x")


@pytest.mark.parametrize("check", NEEDED)
def test_the_scope_is_read_alike_by_all(check):
    found = read(check, partition_column="day", partition=date(2024, 3, 1), where_clause=" x > 1 ")
    assert (found["partition"], found["where_clause"]) == ("2024-03-01", "x > 1")
    assert read(check, partition_column="day")["partition"] is None
    assert "without a partition_column" in refused(check, partition="2024-03-01")
    assert "not empty" in refused(check, partition_column=" ")
    assert "not empty" in refused(check, where_clause=" ")
    with pytest.raises(UnsafeSqlError, match="where_clause 'x >'"):
        read(check, where_clause="x > ")


def test_a_source_may_be_files():
    assert read("reconciliation", source_table="../raw/orders.parquet")


@pytest.mark.parametrize(
    ("check", "params", "told"),
    [
        ("reconciliation", {"check_type": "rowcount_gt"}, "Did you mean 'rowcount_gte'?"),
        ("reconciliation", {"tolerance": 0.1}, "unknown parameter 'tolerance'"),
        ("key_parity", {"key_columns": []}, "one key column at least"),
        ("key_parity", {"key_columns": ["id", "ID"]}, "names 'ID' twice"),
        ("key_parity", {"key_columns": ["id", 3]}, "not empty, got 3"),
        ("key_parity", {"key_columns": {"id"}}, "must be str or list or tuple"),
        ("key_parity", {"null_keys": "fails"}, "Did you mean 'fail'?"),
        ("key_parity", {"on_empty": "error"}, "Known: warn, fail, pass."),
        ("key_parity", {"key_cast": {"di": "bigint"}}, "no key column. Nearest: id"),
        ("key_parity", {"key_cast": {"id": "bigint)) --"}}, "key_cast to 'bigint)) --'"),
        ("key_parity", {"key_cast": {"id": "array<int>"}}, "a key is read as one of"),
        ("key_parity", {"key_cast": {"id": "decimal(39,0)"}}, "a key is read as one of"),
        ("key_parity", {"key_cast": "bigint"}, "must be Mapping"),
        ("key_parity", {"output_table": "a..b"}, "'a..b' cannot be read"),
        (CHECKSUM, {"hash_algorithm": "sha1"}, "Known: xxhash64, xxhash128, md5, sha256."),
        (CHECKSUM, {"hash_algorithm": "xxhash"}, "Did you mean 'xxhash64'?"),
        (CHECKSUM, {"duplicate_policy": "multi"}, "Did you mean 'multiset'?"),
        (CHECKSUM, {"schema": "loose"}, "Known: strict, common."),
        (CHECKSUM, {"method": "snapshot"}, "Known: auto, cells, hash_join."),
        (CHECKSUM, {"timestamp_precision": "ns"}, "Known: s, ms, us."),
        (CHECKSUM, {"float_precision": 16}, "0 to 15 digits, or None"),
        (CHECKSUM, {"float_precision": -1}, "0 to 15 digits, or None"),
        (CHECKSUM, {"float_precision": 2.5}, "must be int"),
        (CHECKSUM, {"float_precision": True}, "must be int"),
        (CHECKSUM, {"sample": 0}, "above 0 and up to 1"),
        (CHECKSUM, {"sample": 1.01}, "above 0 and up to 1"),
        (CHECKSUM, {"sample": -0.1}, "above 0 and up to 1"),
        (CHECKSUM, {"sample": math.nan}, "above 0 and up to 1"),
        (CHECKSUM, {"sample": True}, "must be int or float or Decimal"),
        (CHECKSUM, {"sample": 2**-21}, "too small to select anything"),
        (CHECKSUM, {"limit": 0}, "1 row or more"),
        (CHECKSUM, {"limit": True}, "must be int"),
        (CHECKSUM, {"limit": 1.5}, "must be int"),
        (CHECKSUM, {"column_tolerances": {"x": -1}}, "number of 0 or more, got -1"),
        (CHECKSUM, {"column_tolerances": {"x": math.nan}}, "number of 0 or more, got nan"),
        (CHECKSUM, {"column_tolerances": {"x": True}}, "number of 0 or more, got True"),
        (CHECKSUM, {"column_tolerances": {"x": "1"}}, "number of 0 or more, got '1'"),
        (CHECKSUM, {"column_tolerances": {"x": {}}}, "got none"),
        (CHECKSUM, {"column_tolerances": {"x": {"relativ": 1}}}, "Did you mean 'relative'?"),
        (CHECKSUM, {"column_tolerances": {"x": {"relative": math.inf}}}, "0 or more, got inf"),
        (CHECKSUM, {"column_tolerances": {"ID": 1}}, "names the key column 'ID'"),
        (CHECKSUM, {"normalize": {"x": ["lowr"]}}, "Did you mean 'lower'?"),
        (CHECKSUM, {"normalize": {"x": []}}, "nothing to do"),
        (CHECKSUM, {"normalize": {"x": ["lower", "upper"]}}, "not both"),
        (CHECKSUM, {"normalize": {"x": "trim", "X": "lower"}}, "names 'X' twice"),
        (CHECKSUM, {"normalize": ["x"]}, "must be Mapping"),
        (CHECKSUM, {"exclude_columns": ["tmp_["]}, "a [ that no ] closes"),
        (CHECKSUM, {"exclude_columns": [""]}, "not empty"),
        (CHECKSUM, {"exclude_columns": ["id"]}, "names the key column 'id'"),
        (CHECKSUM, {"metadata_patterns": ["_a[b"]}, "a [ that no ] closes"),
        (CHECKSUM, {"unordered_arrays": ["a", "A"]}, "names 'A' twice"),
        (CHECKSUM, {"assume_timezone": "Mars"}, "'assume_timezone' of check"),
        (CHECKSUM, {"columns": ["x", "X"]}, "names 'X' twice"),
        ("aggregate_consistency", {"aggregate_column": " "}, "not empty"),
        ("aggregate_consistency", {"group_by": ["day", "day"]}, "names 'day' twice"),
        ("multi_aggregate_consistency", {"aggregates": []}, "one aggregate at least"),
        ("multi_aggregate_consistency", {"aggregates": [COUNT, COUNT]}, "names 'rows' twice"),
        ("multi_aggregate_consistency", {"aggregates": COUNT}, "must be list or tuple"),
        ("multi_aggregate_consistency", {"aggregates": ["rows"]}, "is a mapping with name"),
        (
            "multi_aggregate_consistency",
            {"aggregates": [{**COUNT, "target": "n"}]},
            "Did you mean 'target_column'?",
        ),
        (
            "multi_aggregate_consistency",
            {"aggregates": [{"name": "n", "expression": "COUNT(*)"}]},
            "aggregates: target_column",
        ),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_allowed(check, params, told):
    columns = params.pop("columns", ())
    assert told in refusal(check, columns, **{**NEEDED[check], **params})


@pytest.mark.parametrize("check", ["aggregate_consistency", "multi_aggregate_consistency"])
def test_the_tolerance_of_an_aggregate_is_its_argument(check):
    assert find_check(check).holds_tolerance
    found = read(check, tolerance=Decimal("0.05"), absolute_tolerance=0.5)
    assert (found["tolerance"], found["absolute_tolerance"]) == (Decimal("0.05"), 0.5)
    for wrong in (-0.1, 1.5, math.nan, True, "5%"):
        assert "tolerance" in refused(check, tolerance=wrong)
    for wrong in (-1, math.inf, math.nan, True):
        assert "absolute_tolerance" in refused(check, absolute_tolerance=wrong)


@pytest.mark.parametrize(
    "wrong", ["amount", "SUM(amount", "SUM(a), SUM(b)", "(SELECT 1)", "uuid()"]
)
def test_only_an_aggregate_can_be_held_against_one(wrong):
    with pytest.raises(UnsafeSqlError, match="source_expression"):
        read("aggregate_consistency", source_expression=wrong)
    with pytest.raises(UnsafeSqlError, match="target_expression"):
        read("aggregate_consistency", target_expression=wrong)
    with pytest.raises(UnsafeSqlError, match="aggregates: expression"):
        read("multi_aggregate_consistency", aggregates=[{**COUNT, "expression": wrong}])


def test_every_choice_has_a_default_and_one_spelling():
    found = read(CHECKSUM, key_columns="id")
    assert found["key_columns"] == ("id",)
    assert (found["float_precision"], found["hash_algorithm"]) == (6, "xxhash64")
    assert (found["duplicate_policy"], found["on_empty"]) == ("fail", "warn")
    assert "_dlt_*" in found["metadata_patterns"]
    chosen = read(
        CHECKSUM,
        key_cast={"ID": "Long"},
        normalize={"x": ["rstrip", "rtrim", "lower"], "y": "strip"},
        column_tolerances={"x": 0.01, "y": {"relative": 0.1}},
        metadata_patterns=[],
        exclude_columns="tmp_[0-9]*",
        sample=Decimal("0.000001"),
    )
    assert chosen["key_cast"] == {"ID": "bigint"}
    assert chosen["normalize"] == {"x": ("rtrim", "lower"), "y": ("trim",)}
    assert chosen["column_tolerances"] == {"x": {"absolute": 0.01}, "y": {"relative": 0.1}}
    assert chosen["metadata_patterns"] == ()
    assert chosen["exclude_columns"] == ("tmp_[0-9]*",)


def test_no_precision_is_another_choice_than_none_given():
    assert read(CHECKSUM, float_precision=None)["float_precision"] is None
    assert read(CHECKSUM, float_precision=0)["float_precision"] == 0


# -------------------------------------------------------------------------------------- identity


@pytest.mark.parametrize(
    ("check", "first", "second"),
    [
        ("reconciliation", {}, {"check_type": "rowcount_parity"}),
        ("reconciliation", {"where_clause": "a>1"}, {"where_clause": "a  >  1 -- late"}),
        ("aggregate_consistency", {}, {"tolerance": 0, "group_by": []}),
        ("aggregate_consistency", {}, {"source_expression": "sum( amount )"}),
        ("aggregate_consistency", {"group_by": ["a", "b"]}, {"group_by": ["B", "a"]}),
        ("multi_aggregate_consistency", {}, {"aggregates": [TOTAL, COUNT]}),
        (
            "multi_aggregate_consistency",
            {},
            {"aggregates": [{**COUNT, "target_expression": None}, TOTAL]},
        ),
        ("key_parity", {"key_columns": ["a", "b"]}, {"key_columns": ("B", "A")}),
        ("key_parity", {}, {"on_empty": "fail", "key_cast": {}, "output_table": "a.b.c"}),
        (CHECKSUM, {}, {"method": "hash_join", "on_empty": "fail"}),
        (CHECKSUM, {}, {"float_precision": 6, "duplicate_policy": "fail", "normalize": {}}),
        (CHECKSUM, {"normalize": {"X": "rstrip"}}, {"normalize": {"x": ["rtrim"]}}),
        (CHECKSUM, {"column_tolerances": {"x": 1}}, {"column_tolerances": {"x": {"absolute": 1}}}),
        (CHECKSUM, {"key_cast": {"id": "bigint"}}, {"key_cast": {"ID": "LONG"}}),
        (CHECKSUM, {"exclude_columns": ["a", "b"]}, {"exclude_columns": ["b", "a"]}),
        (
            CHECKSUM,
            {"partition_column": "day", "partition": "2024-03-01"},
            {"partition_column": "DAY", "partition": date(2024, 3, 1)},
        ),
    ],
)
def test_equal_logic_is_one_rule(check, first, second):
    assert same_logic(check, {**NEEDED[check], **first}, {**NEEDED[check], **second})


@pytest.mark.parametrize(
    ("check", "other"),
    [
        ("reconciliation", {"check_type": "rowcount_gte"}),
        ("reconciliation", {"source_table": "raw.other"}),
        ("reconciliation", {"where_clause": "a > 1"}),
        ("reconciliation", {"partition_column": "day", "partition": "2024-03-01"}),
        ("aggregate_consistency", {"tolerance": 0.1}),
        ("aggregate_consistency", {"absolute_tolerance": 1}),
        ("aggregate_consistency", {"target_expression": "MAX(total)"}),
        ("multi_aggregate_consistency", {"tolerance": 0.1}),
        ("multi_aggregate_consistency", {"aggregates": [COUNT]}),
        ("key_parity", {"null_keys": "fail"}),
        ("key_parity", {"key_columns": ["id", "line"]}),
        (CHECKSUM, {"float_precision": None}),
        (CHECKSUM, {"hash_algorithm": "md5"}),
        (CHECKSUM, {"sample": 0.5}),
        (CHECKSUM, {"limit": 10}),
        (CHECKSUM, {"duplicate_policy": "multiset"}),
        (CHECKSUM, {"exclude_columns": ["a"]}),
        (CHECKSUM, {"column_tolerances": {"x": 1}}),
    ],
)
def test_other_logic_is_another_rule(check, other):
    assert not same_logic(check, NEEDED[check], {**NEEDED[check], **other})


def test_only_what_differs_from_its_default_is_hashed():
    kind = find_check(CHECKSUM)
    assert kind.identity(read(CHECKSUM)) == {"source_table": "raw.orders", "key_columns": ["id"]}
    assert kind.identity_columns(["b", "A"]) == ("a", "b")
