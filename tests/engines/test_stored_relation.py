"""A table that is filtered or masked is none whose files say what Spark reads."""

from __future__ import annotations

import pytest

from lakeproof.engines.spark.stored_relation import is_bare

BARE = """\
Project [id#1L, a.b#2]
+- SubqueryAlias spark_catalog.s.t
   +- Relation spark_catalog.s.t[id#1L,a.b#2] parquet"""
FILTERED = """\
Project [id#1L, a.b#2]
+- SubqueryAlias spark_catalog.s.t
   +- Filter (id#1L > 0)
      +- Relation spark_catalog.s.t[id#1L,a.b#2] parquet"""
MASKED = """\
Project [id#1L, a.b#3]
+- SubqueryAlias spark_catalog.s.t
   +- Project [id#1L, mask(a.b#2) AS a.b#3]
      +- RelationV2[id#1L, a.b#2] spark_catalog.s.t"""
MASKED_ABOVE = """\
Project [id#1L, mask(a.b#2) AS a.b#3]
+- RelationV2[id#1L, a.b#2] spark_catalog.s.t"""
CUT = """\
Project [id#1L, ... 1 more fields]
+- RelationV2[id#1L, ... 1 more fields] spark_catalog.s.t"""
VIEW = """\
Project [id#1L, a.b#2]
+- SubqueryAlias spark_catalog.s.t
   +- View (`spark_catalog`.`s`.`t`, [id#1L, a.b#2])
      +- Relation spark_catalog.s.u[id#1L,a.b#2] parquet"""


def words(nodes: str) -> str:
    shown = "id: bigint, a.b: string"
    return (
        f"== Parsed Logical Plan ==\n'Project [*]\n\n== Analyzed Logical Plan ==\n{shown}\n"
        f"{nodes}\n\n== Optimized Logical Plan ==\nRelationV2[id#1L]\n"
    )


def test_a_table_right_below_its_columns_is_read_as_it_is_stored():
    assert is_bare(words(BARE), ["id", "a.b"])


@pytest.mark.parametrize("nodes", [FILTERED, MASKED, MASKED_ABOVE, CUT, VIEW, "", BARE + "\n"])
def test_what_stands_between_is_seen(nodes):
    assert not is_bare(words(nodes), ["id", "a.b"])


def test_words_of_another_kind_say_nothing():
    assert not is_bare("== Physical Plan ==\nScan", ["id"])
