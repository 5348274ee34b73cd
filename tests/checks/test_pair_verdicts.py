"""What comparisons of two tables make of what was found, without Spark."""

from __future__ import annotations

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.model.pairing import ColumnMatch, PairFound, Sample
from lakeproof.model.threshold import Threshold

SOURCE = {"source_table": "raw.orders"}
KEYED = {**SOURCE, "key_columns": ["id"]}
TOTAL = {"name": "total", "expression": "SUM(amount)", "target_column": "total"}
NEEDED = {
    "reconciliation": SOURCE,
    "multi_aggregate_consistency": {**SOURCE, "aggregates": [TOTAL]},
    "key_parity": KEYED,
    "checksum_reconciliation": KEYED,
}
CHECKSUM = "checksum_reconciliation"


def read(check, **params):
    return find_check(check).read((), {**NEEDED[check], **params})


# ------------------------------------------------------------------------------------ row counts


def counts(source, target, threshold=None, **params):
    kind = find_check("reconciliation")
    found = PairFound({"source_count": source, "target_count": target}, 0, 0)
    return kind.judge(found, threshold or Threshold(), read("reconciliation", **params))


GTE = {"check_type": "rowcount_gte"}


@pytest.mark.parametrize(
    ("source", "target", "share", "rows", "params", "passed", "difference"),
    [
        (100, 100, None, None, {}, True, 0.0),
        (100, 120, None, None, {}, False, 0.2),
        (100, 120, 0.0, None, {}, False, 0.2),
        (100, 95, 0.05, None, {}, True, 0.05),
        (100, 90, 0.05, None, {}, False, 0.1),
        (100, 95, None, 5, {}, True, 0.05),
        (100, 94, None, 5, {}, False, 0.06),
        (100, 90, 0.05, 10, {}, True, 0.1),
        (3, 2, 0.3333333333333333, None, {}, False, 1 / 3),
        (10, 7, 0.3, None, {}, True, 0.3),
        (0, 0, None, None, {}, True, 0.0),
        (0, 3, 0.99, None, {}, False, 1.0),
        (0, 3, 1.0, 3, {}, False, 1.0),
        (100, 0, 0.99, None, {}, False, 1.0),
        (3, 0, 1.0, 3, {}, False, 1.0),
        (3, 0, 1.0, 3, GTE, False, 1.0),
        (100, 120, None, None, GTE, True, 0.2),
        (100, 96, None, 5, GTE, True, 0.04),
        (100, 95, 0.05, None, GTE, True, 0.05),
        (100, 94, 0.05, 5, GTE, False, 0.06),
        (0, 5, None, None, GTE, True, 1.0),
    ],
)
def test_row_counts_are_held_against_a_share_or_a_number(
    source, target, share, rows, params, passed, difference
):
    verdict = counts(source, target, Threshold(share, rows), **params)
    assert verdict.passed is passed
    assert verdict.measures == {
        "source_count": source,
        "target_count": target,
        "difference_pct": difference,
        "difference_abs": abs(target - source),
    }
    assert verdict.measure == difference
    assert verdict.total == source


def test_row_counts_are_told_in_a_sentence():
    assert counts(1_000, 1_000).details == "1,000 rows on both sides; full table"
    fewer = counts(1_000, 999, partition_column="day", partition="2024-03-01")
    assert fewer.details == (
        "target has 999 rows, 1 fewer than source with 1,000; day=2024-03-01 only"
    )
    lost = counts(3, 0, Threshold(1.0, 3))
    assert lost.details.startswith("the target has no rows; target has 0 rows, 3 fewer than")
    assert (fewer.failing, counts(1, 3).failing, counts(1, 3, **GTE).failing) == (1, 2, 0)


# ------------------------------------------------------------------------------------ aggregates


def aggregates(mismatches, total, columns=(), samples=(), metadata=None, **params):
    kind = find_check("multi_aggregate_consistency")
    found = PairFound(
        {"mismatches": mismatches, "total_checked": total},
        mismatches,
        total,
        columns=columns,
        samples=samples,
        metadata=metadata or {},
    )
    return kind.judge(found, Threshold(), read("multi_aggregate_consistency", **params))


def test_aggregates_pass_only_if_all_agree():
    assert aggregates(0, 6).passed
    assert aggregates(0, 6).details == "6 aggregates agree; full table"
    columns = (ColumnMatch("rows", 0, 3), ColumnMatch("total", 2, 3))
    verdict = aggregates(2, 6, columns, group_by=["day", "shop"])
    assert not verdict.passed
    assert verdict.details == "2 of 6 aggregates differ (total 2), grouped by day, shop; full table"
    assert (verdict.failing, verdict.total) == (2, 6)
    assert verdict.measures == {"mismatches": 2, "total_checked": 6}


def test_aggregates_that_were_not_counted_one_by_one_are_named_by_samples():
    verdict = aggregates(1, 1, samples=(Sample("group", {}, ("total",)),))
    assert verdict.details == "1 of 1 aggregate differs (total); full table"


def test_no_group_on_either_side_is_told():
    verdict = aggregates(0, 0, group_by=["day"])
    assert (verdict.passed, verdict.skipped) == (True, False)
    assert verdict.details == "warning: no rows on either side; full table"
    assert counts(0, 0).details == verdict.details


def test_aggregates_over_one_side_without_rows_fail_although_each_is_tolerated():
    verdict = aggregates(0, 1, metadata={"empty": False, "source_rows": 3, "target_rows": 0})
    assert not verdict.passed
    assert verdict.details == "the target has no rows; 1 aggregate agrees; full table"
    assert aggregates(0, 1, metadata={"source_rows": 3, "target_rows": 1}).passed
    grouped = {"source_rows": None, "target_rows": None}
    assert aggregates(0, 1, metadata=grouped, group_by=["day"]).passed


# ------------------------------------------------------------------------------------ rows by key


def compared(numbers, *, mismatches=None, total=1_000, threshold=None, check=CHECKSUM, **more):
    """The verdict over numbers of a comparison; those left out are 0."""
    found = {name: more.pop(name) for name in ("metadata", "columns", "samples") if name in more}
    classes = ("missing_in_target", "missing_in_source", "hash_mismatches", "surplus_rows")
    bad = sum(numbers.get(name, 0) for name in classes) if mismatches is None else mismatches
    rows = {"total_keys": total, "source_rows": total, "target_rows": total}
    kept = {**rows, **numbers} if check == CHECKSUM else {"total_keys": total, **numbers}
    kind = find_check(check)
    return kind.judge(
        PairFound(kept, bad, total, **found), threshold or Threshold(), read(check, **more)
    )


@pytest.mark.parametrize(
    ("share", "rows", "mismatches", "total", "passed"),
    [
        (None, None, 0, 1_000, True),
        (None, None, 1, 1_000, False),
        (0.001, None, 1, 1_000, True),
        (0.001, None, 2, 1_000, False),
        (0.25, None, 1, 5, True),
        (0.5, None, 1, 3, True),
        (0.29, None, 29, 100, True),  # as floats, 0.29 * 100 is below 29
        (0.3, None, 30, 100, True),
        (0.3, None, 31, 100, False),
        (0.7, None, 7, 10, True),
        (None, 2, 2, 1_000, True),
        (None, 2, 3, 1_000, False),
        (0.001, 2, 2, 1_000, True),
        (0.01, 2, 10, 1_000, True),
        (0.0, None, 1, 10**18, False),
        (1e-18, None, 1, 10**18, True),
        (1e-18, None, 2, 10**18, False),
    ],
)
@pytest.mark.parametrize("check", [CHECKSUM, "key_parity"])
def test_mismatches_are_tolerated_by_share_or_number_exactly(
    check, share, rows, mismatches, total, passed
):
    verdict = compared(
        {"missing_in_target": mismatches},
        total=total,
        threshold=Threshold(share, rows),
        check=check,
    )
    assert verdict.passed is passed
    assert (verdict.failing, verdict.total) == (mismatches, total)
    assert verdict.measure == mismatches / total


def test_what_differs_is_told_in_a_sentence():
    assert compared({}).details == "1,000 keys agree; full table"
    assert compared({}, total=1).details == "1 key agrees; full table"
    verdict = compared(
        {"missing_in_target": 2, "hash_mismatches": 1}, columns=(ColumnMatch("amount", 1, 998),)
    )
    assert verdict.details == (
        "3 of 1,000 keys differ: 2 missing in target, 1 changed (amount 1); full table"
    )
    surplus = compared({"missing_in_source": 1, "surplus_rows": 2}, total=1_002)
    assert surplus.details == (
        "3 of 1,002 keys and surplus rows differ: 1 missing in source, 2 surplus rows; full table"
    )
    copies = compared({"surplus_rows": 1}, duplicate_policy="multiset")
    assert copies.details == "1 of 1,000 rows differs: 1 surplus row; full table"
    nulls = compared({"missing_in_target": 1}, mismatches=3, null_keys="fail")
    assert nulls.details == (
        "3 of 1,000 keys differ: 1 missing in target, 2 with NULL in the key; full table"
    )


def test_many_columns_are_counted_the_worst_named():
    columns = tuple(ColumnMatch(f"c{number}", number, 100) for number in range(8))
    verdict = compared({"hash_mismatches": 7}, columns=columns)
    assert "7 changed (c7 7, c6 6, c5 5, c4 4, c3 3 and 2 more)" in verdict.details


def test_the_part_that_was_compared_is_told():
    verdict = compared(
        {},
        partition_column="day",
        partition="2024-03-01",
        where_clause="x > 1",
        sample=0.1,
        limit=5_000,
        metadata={"limit_applied": True},
    )
    assert verdict.details == (
        "1,000 keys agree; day=2024-03-01 only, source filtered, sample 0.1 of the keys, "
        "limit 5,000 rows"
    )
    assert "limit" not in compared({}, limit=5_000, metadata={"limit_applied": False}).details


LACKING = {"column": "status", "difference": "missing_in_source", "source": "", "target": "int"}
UNLIKE = {"column": "amount", "difference": "incompatible", "source": "string", "target": "int"}
OPAQUE = {
    "column": "blob",
    "difference": "incompatible",
    "source": "variant",
    "target": "variant",
    "detail": "Spark cannot compare VARIANT",
}
DOUBLES = {**UNLIKE, "difference": "compared_as_double"}
UNLIKE_TOLD = "schemas differ: amount is STRING in the source and INT in the target"
EXTRA = {"column": "more", "difference": "only_in_source", "source": "int", "target": ""}
ALL = Threshold(1.0, 10**9)


@pytest.mark.parametrize(
    ("differences", "schema", "told"),
    [
        ([LACKING], "strict", "schemas differ: status is not in the source"),
        (
            [UNLIKE, LACKING],
            "strict",
            f"{UNLIKE_TOLD}, status is not in the source",
        ),
        (
            [OPAQUE],
            "strict",
            "schemas differ: blob cannot be compared: Spark cannot compare VARIANT",
        ),
        ([LACKING], "common", ""),
        (
            [UNLIKE, LACKING],
            "common",
            UNLIKE_TOLD,
        ),
    ],
)
def test_schemas_that_differ_fail_whatever_is_tolerated(differences, schema, told):
    verdict = compared(
        {}, metadata={"schema_differences": differences}, schema=schema, threshold=ALL
    )
    assert verdict.passed is (told == "")
    agreed = "1,000 keys agree; full table"
    assert verdict.details == (f"{told}; {agreed}" if told else agreed)


def test_columns_that_were_compared_less_strictly_or_not_at_all_are_told():
    verdict = compared({}, metadata={"schema_differences": [EXTRA, DOUBLES]})
    assert verdict.passed
    assert verdict.details == (
        "1,000 keys agree (compared as DOUBLE: amount); only in the source: more; full table"
    )


def test_keys_that_cannot_be_read_fail_whatever_is_tolerated():
    verdict = compared(
        {}, metadata={"uncastable_keys": 2}, key_cast={"id": "bigint"}, threshold=ALL
    )
    assert not verdict.passed
    assert verdict.details.startswith("2 keys cannot be read as key_cast says; ")


@pytest.mark.parametrize("check", [CHECKSUM, "key_parity"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_one_side_without_rows_fails_whatever_is_tolerated(check, side):
    numbers = {f"missing_in_{side}": 1_000}
    numbers |= {f"{side}_rows": 0} if check == CHECKSUM else {}
    verdict = compared(numbers, threshold=ALL, check=check)
    assert not verdict.passed
    assert verdict.measure == 1.0
    assert verdict.details.startswith(f"the {side} has no rows; 1,000 of 1,000 keys differ")


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"sample": 0.001}, "the target has no rows in the sample; "),
        ({"limit": 1, "metadata": {"limit_applied": True}}, "the target has no rows within the "),
    ],
)
def test_a_part_that_only_one_side_has_fails_as_well(part, told):
    numbers = {"missing_in_target": 1, "target_rows": 0}
    verdict = compared(numbers, total=1, threshold=ALL, **part)
    assert not verdict.passed
    assert verdict.details.startswith(told)


SELECTS_NOTHING = "the filter or sample selects no row on either side"


@pytest.mark.parametrize(
    ("on_empty", "passed", "told"),
    [
        ("warn", True, f"warning: {SELECTS_NOTHING}"),
        ("pass", True, SELECTS_NOTHING),
        ("fail", False, f"nothing was compared; {SELECTS_NOTHING}"),
    ],
)
@pytest.mark.parametrize(
    "narrowing",
    [
        {"where_clause": "false"},
        {"sample": 0.5},
        {"metadata": {"empty": True, "empty_reason": "selection"}},
    ],
)
def test_nothing_to_compare_is_what_on_empty_says(on_empty, passed, told, narrowing):
    verdict = compared({}, total=0, on_empty=on_empty, **narrowing)
    assert verdict.passed is passed
    assert verdict.details.startswith(f"{told}; ")
    assert verdict.measure == 0.0


DAY = {"partition_column": "day", "partition": "2024-03-01"}
NOWHERE = "partition day=2024-03-01 has no rows on either side"


@pytest.mark.parametrize(
    ("on_empty", "passed", "skipped", "told"),
    [
        ("warn", True, True, NOWHERE),
        ("pass", True, False, NOWHERE),
        ("fail", False, False, f"nothing was compared; {NOWHERE}"),
    ],
)
@pytest.mark.parametrize(
    "judged",
    [
        lambda **params: counts(0, 0, **params),
        lambda **params: aggregates(0, 1, metadata={"empty": True}, **params),
        lambda **params: compared({}, total=0, check="key_parity", **params),
        lambda **params: compared({}, total=0, **params),
    ],
    ids=["counts", "aggregates", "keys", "rows"],
)
def test_a_partition_that_is_nowhere_is_no_pass_unless_that_is_said(
    judged, on_empty, passed, skipped, told
):
    verdict = judged(on_empty=on_empty, **DAY)
    assert (verdict.passed, verdict.skipped, verdict.details) == (passed, skipped, told)
    filtered = judged(on_empty=on_empty, where_clause="x > 1", **DAY)
    assert filtered.details == f"{told}, source filtered"


def test_an_empty_partition_does_not_hide_that_schemas_differ():
    verdict = compared({}, total=0, metadata={"schema_differences": [LACKING]}, **DAY)
    assert (verdict.passed, verdict.skipped) == (False, False)
    assert verdict.details == f"schemas differ: status is not in the source; {NOWHERE}"


@pytest.mark.parametrize("on_empty", ["warn", "pass", "fail"])
def test_two_empty_tables_are_equal_and_that_is_told(on_empty):
    verdict = compared(
        {}, total=0, on_empty=on_empty, metadata={"empty": True, "empty_reason": "tables"}
    )
    assert verdict.passed
    assert verdict.details == "warning: both tables are empty; full table"


def test_numbers_that_were_not_taken_are_no_measures():
    verdict = compared({"duplicate_keys": None, "mismatch_pct": 0.0})
    assert "duplicate_keys" not in verdict.measures
    assert verdict.measures["total_keys"] == 1_000.0
