"""Every key of both sides by its row hashes: all numbers, and the keys that differ."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from made_steps import Made, made_rows

from lakeproof.engines.spark.pairs.differences import find_differences
from lakeproof.engines.spark.pairs.hash_join import _sent_bytes_max, join_by_hash
from lakeproof.model.column import Column
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm, NullKeyPolicy

pytestmark = pytest.mark.usefixtures("interpreted")

KEY = [Made("name", "string"), Made("number", "double")]
VALUE = [Made("value", "int")]

EQUAL = ("equal", 1.0, 1)
SOURCE = [
    EQUAL,
    ("lost", 1.0, 1),
    ("changed", 1.0, 1),
    ("null_in_key", None, 1),
    (None, None, 1),
    ("nan", math.nan, 1),
    ("zero", -0.0, 1),
    ("copied", 1.0, 1),
    ("copied", 1.0, 1),
    ("one_more", 1.0, 1),
    ("one_more", 1.0, 2),
    ("sums_alike", 1.0, 7),
    ("sums_alike", 1.0, 7),
]
TARGET = [
    EQUAL,
    ("added", None, 1),
    ("changed", 1.0, 2),
    ("null_in_key", None, 1),
    (None, None, 1),
    ("nan", math.nan, 1),
    ("zero", 0.0, 1),
    ("copied", 1.0, 1),
    ("copied", 1.0, 1),
    ("one_more", 1.0, 1),
    ("sums_alike", 1.0, 9),
    ("sums_alike", 1.0, 9),
]
DIFFER = {"lost", "changed", "added", "one_more", "sums_alike"}


def table(rows) -> str:
    def literal(value):
        return "NULL" if value is None else f"CAST('{value}' AS DOUBLE)"

    def text(value):
        return "CAST(NULL AS STRING)" if value is None else f"'{value}'"

    cells = ", ".join(f"({text(name)}, {literal(n)}, {value})" for name, n, value in rows)
    return f"SELECT * FROM VALUES {cells} AS t(name, number, value)"


def joined(spark, columns=VALUE, source=SOURCE, target=TARGET, **choices):
    rows = made_rows(table(source), table(target), KEY, columns, **choices)
    return rows, join_by_hash(spark, rows)


def with_cast_key(rows):
    """The name was of another type in the source."""
    name, *others = rows.step.keys
    keys = (replace(name, source=Column(name.name, "binary")), *others)
    return replace(rows, step=replace(rows.step, keys=keys))


def differing(spark, found) -> set[str | None]:
    names = [row.key_0 for row in spark.sql(found.differing_sql).collect()]
    assert found.differing == len(names) == len(set(names))
    return set(names)


def counts(rows) -> Counter:
    """By key, with NaN and both zeros as Spark's GROUP BY has them."""
    return Counter(
        (name, "nan" if number is not None and math.isnan(number) else (number or number))
        for name, number, _ in rows
    )


@pytest.mark.parametrize("algorithm", [HashAlgorithm.XXHASH64, HashAlgorithm.SHA256])
def test_under_multiset_each_copy_counts_and_equal_copies_agree(spark, algorithm):
    _, found = joined(spark, duplicates=DuplicatePolicy.MULTISET, algorithm=algorithm)
    assert differing(spark, found) == DIFFER
    source, target = counts(SOURCE), counts(TARGET)
    assert (found.source_rows, found.target_rows) == (len(SOURCE), len(TARGET))
    assert found.total_keys == (source | target).total()
    assert found.shared_keys == (source & target).total()
    assert (found.null_keys_source, found.null_keys_target) == (2, 3)
    assert found.uncastable_keys == 0
    found.release()


def test_under_fail_distinct_keys_count_and_every_repeated_one_is_listed(spark):
    _, found = joined(spark)
    assert differing(spark, found) == DIFFER | {"copied"}
    source, target = counts(SOURCE), counts(TARGET)
    assert found.total_keys == len(source | target)
    assert found.shared_keys == len(source & target)
    assert found.duplicate_keys == 3
    assert (found.duplicate_keys_source, found.duplicate_keys_target) == (3, 2)
    found.release()


def test_null_keys_differ_where_they_are_mismatches(spark):
    _, found = joined(spark, duplicates=DuplicatePolicy.MULTISET, null_keys=NullKeyPolicy.FAIL)
    assert differing(spark, found) == DIFFER | {"null_in_key", None}
    found.release()


def test_keys_that_could_not_be_cast_are_counted_apart_from_nulls(spark):
    _, found = joined(spark, castable="NOT (name <=> 'null_in_key')")
    assert found.uncastable_keys == 2
    assert (found.null_keys_source, found.null_keys_target) == (1, 2)
    found.release()


@pytest.mark.parametrize("policy", ["fail", "multiset"])
def test_a_key_that_could_not_be_cast_agrees_with_nothing(spark, policy):
    choices = {"duplicates": DuplicatePolicy(policy), "castable": "name IS NOT NULL"}
    source, target = [*SOURCE, (None, None, 5)], [*TARGET, (None, 2.0, 5)]
    rows = with_cast_key(made_rows(table(source), table(target), KEY, VALUE, **choices))
    found = join_by_hash(spark, rows)
    assert found.uncastable_keys == 4
    assert (found.null_keys_source, found.null_keys_target) == (1, 2)
    differences = find_differences(spark, rows, found.drilled_sql)
    found.release()
    assert differences.missing_in_target == 1 + 1
    assert differences.missing_in_source == 1 + 2
    listed = spark.sql(f"{rows.step.sql} WHERE violation_key LIKE '%null%'").collect()
    assert len(listed) == len({row["violation_key"] for row in listed})
    assert sum(row["excess"] for row in listed if '"name":null' in row["violation_key"]) == 4
    differences.release()


def test_as_sets_only_keys_of_one_side_differ_and_no_table_is_read_again(spark):
    rows, found = joined(spark, columns=(), as_sets=True)
    assert differing(spark, found) == {"lost", "added"}
    assert found.total_keys == len(counts(SOURCE) | counts(TARGET))
    assert found.shared_keys == len(counts(SOURCE) & counts(TARGET))
    assert "VALUES" not in found.drilled_sql
    differences = find_differences(spark, rows, found.drilled_sql)
    found.release()
    assert (differences.missing_in_target, differences.missing_in_source) == (1, 1)
    assert differences.excess == 2
    assert {sample.key["name"]: sample.kind for sample in differences.samples} == {
        "lost": "missing_in_target",
        "added": "missing_in_source",
    }
    differences.release()


@pytest.mark.parametrize("size", ["1g", "1k"])
def test_all_rows_of_the_differing_keys_are_drilled_with_nulls_and_nan(spark, monkeypatch, size):
    """Whether their keys may pass through the driver or not."""
    from lakeproof.engines.spark.pairs import hash_join

    monkeypatch.setattr(hash_join, "_sent_bytes_max", lambda _: {"1g": 2**29, "1k": 1}[size])
    rows, found = joined(spark, null_keys=NullKeyPolicy.FAIL)
    assert ("BROADCAST" in found.drilled_sql) == (size == "1g")
    wanted = DIFFER | {"copied", "null_in_key", None}
    drilled = Counter((row.side, row.key_0) for row in spark.sql(found.drilled_sql).collect())
    assert drilled == Counter(
        (side, name)
        for side, table in ((1, SOURCE), (-1, TARGET))
        for name, *_ in table
        if name in wanted
    )
    differences = find_differences(spark, rows, found.drilled_sql)
    found.release()
    assert differences.surplus_rows == 3 + 2
    assert (differences.changed, differences.null_keys) == (2, 2)
    differences.release()


def test_two_empty_tables_have_nothing_that_differs(spark):
    rows = made_rows(f"{table([EQUAL])} WHERE false", f"{table([EQUAL])} WHERE false", KEY, VALUE)
    found = join_by_hash(spark, rows)
    assert (found.total_keys, found.differing, found.source_rows, found.shared_keys) == (0, 0, 0, 0)
    found.release()


@pytest.mark.parametrize(
    ("setting", "bytes_max"),
    [("8m", 2**22), ("1g", 2**25), ("0", 2**25), ("1024", 512), ("16MB", 2**23), ("odd", 2**25)],
)
def test_what_passes_through_the_driver_is_half_of_what_it_takes(setting, bytes_max):
    session = SimpleNamespace(conf=SimpleNamespace(get=lambda *_: setting))
    assert _sent_bytes_max(session) == bytes_max
