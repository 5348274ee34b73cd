"""Names of tables: read as people write them, quoted so that nothing in them is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import TableName, quote

PARTS = st.lists(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(
        lambda part: part.strip() and "${" not in part
    ),
    min_size=1,
    max_size=4,
).map(tuple)


@given(PARTS)
def test_a_quoted_name_is_read_back_part_by_part(parts):
    assert TableName.parse(TableName(parts).sql).parts == parts
    assert TableName.parse(str(TableName(parts))).parts == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sales", ("sales",)),
        ("lakehouse.sales", ("lakehouse", "sales")),
        ("`a.b`.sales", ("a.b", "sales")),
        ("a.`b``c`.d", ("a", "b`c", "d")),
        ("`order by`", ("order by",)),
    ],
)
def test_dots_separate_parts_unless_they_stand_in_backticks(text, parts):
    assert TableName.parse(text).parts == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a.`b", " ", "a. ", "``"])
def test_a_name_that_cannot_be_read_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(CheckDefinitionError, match=r"catalog\.namespace\.table"):
        TableName.parse(text)


def test_a_short_name_is_completed_from_the_defaults():
    resolved = TableName(("iceberg", "lakehouse", "sales"))
    assert TableName.parse("sales").resolve("iceberg", "lakehouse") == resolved
    assert TableName.parse("lakehouse.sales").resolve("iceberg", "other") == resolved
    assert TableName.parse("iceberg.lakehouse.sales").resolve("x", "y") == resolved
    assert TableName.parse("sales").resolve("iceberg", "a.b").parts == (
        "iceberg",
        "a",
        "b",
        "sales",
    )
    deep = TableName.parse("iceberg.a.b.sales")
    assert deep.resolve("x", "y") == deep


def test_a_name_shows_backticks_only_where_it_needs_them():
    name = TableName(("iceberg", "my space", "sales_2024"))
    assert str(name) == "iceberg.`my space`.sales_2024"
    assert name.sql == "`iceberg`.`my space`.`sales_2024`"
    assert (name.catalog, name.short) == ("iceberg", "sales_2024")


def test_identifiers_are_quoted_by_doubling_backticks():
    assert quote("a") == "`a`"
    assert quote("a`; DROP TABLE x; --") == "`a``; DROP TABLE x; --`"


def test_a_name_that_spark_would_replace_is_refused():
    with pytest.raises(CheckDefinitionError, match="rename it"):
        quote("${spark.app.name}")
