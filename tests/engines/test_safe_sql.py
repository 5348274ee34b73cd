"""User SQL is judged before anything runs: hostile texts are refused, honest ones pass.

Two judges must agree: Spark's own parser (classic sessions) and the walk over sqlglot's tree (all
that Spark Connect has).
"""

from __future__ import annotations

import logging
import random

import pytest
from sql_texts import BENIGN, BENIGN_PREDICATES, HOSTILE, HOSTILE_PREDICATES

from lakeproof.checks.sql_lexer import lex
from lakeproof.checks.user_sql import parse_predicate, parse_query
from lakeproof.engines.spark.safe_sql import (
    _classic_parser,
    ensure_read_only_query,
    ensure_row_predicate,
    judge_predicate_plan,
    judge_query_plan,
)
from lakeproof.errors import UnsafeSqlError


def judge_by_spark(spark, text):
    judge_query_plan(_classic_parser(spark), text)


def judge_by_sqlglot(spark, text):
    parse_query(text)


def judge_predicate_by_spark(spark, text):
    judge_predicate_plan(_classic_parser(spark), text)


def judge_predicate_by_sqlglot(spark, text):
    parse_predicate(text)


QUERY_JUDGES = pytest.mark.parametrize("judge", [judge_by_spark, judge_by_sqlglot])
PREDICATE_JUDGES = pytest.mark.parametrize(
    "judge", [judge_predicate_by_spark, judge_predicate_by_sqlglot]
)


def short(text):
    return ascii(text[:60])


@QUERY_JUDGES
@pytest.mark.parametrize("text", HOSTILE, ids=short)
def test_hostile_query_is_refused_by_each_judge(spark, judge, text):
    with pytest.raises(UnsafeSqlError) as refusal:
        judge(spark, text)
    assert len(str(refusal.value)) > 20


@QUERY_JUDGES
@pytest.mark.parametrize("text", BENIGN, ids=short)
def test_benign_query_is_accepted_by_each_judge(spark, judge, text):
    judge(spark, text)


@pytest.mark.parametrize("text", BENIGN, ids=short)
def test_both_judges_see_the_same_tables(spark, text):
    ensure_read_only_query(spark, text)


@PREDICATE_JUDGES
@pytest.mark.parametrize("text", HOSTILE_PREDICATES, ids=short)
def test_hostile_predicate_is_refused_by_each_judge(spark, judge, text):
    with pytest.raises(UnsafeSqlError):
        judge(spark, text)


@PREDICATE_JUDGES
@pytest.mark.parametrize("text", BENIGN_PREDICATES, ids=short)
def test_benign_predicate_is_accepted_by_each_judge(spark, judge, text):
    judge(spark, text)


def test_lists_are_long_enough_to_mean_something():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 40
    assert len(set(BENIGN)) == len(BENIGN) >= 40


def test_refused_transform_starts_no_program(spark, tmp_path):
    marker = tmp_path / "ran"
    text = f"SELECT TRANSFORM(1) USING 'sh -c \"touch {marker}; cat\"' AS (x)"
    with pytest.raises(UnsafeSqlError):
        ensure_read_only_query(spark, text)
    assert not marker.exists()


def test_refused_drop_leaves_the_view_in_place(spark):
    spark.sql("SELECT 1 AS a").createOrReplaceTempView("survivor")
    try:
        for text in ("DROP VIEW survivor", "SELECT 1; DROP VIEW survivor"):
            with pytest.raises(UnsafeSqlError):
                ensure_read_only_query(spark, text)
        assert spark.catalog.tableExists("survivor")
    finally:
        spark.catalog.dropTempView("survivor")


def test_connect_session_is_judged_without_a_jvm():
    class ConnectSession:
        @property
        def _jsparkSession(self):  # noqa: N802 - Spark's name
            raise AttributeError("[JVM_ATTRIBUTE_NOT_SUPPORTED]")

    ensure_read_only_query(ConnectSession(), "SELECT * FROM t")
    ensure_row_predicate(ConnectSession(), "a > 1")
    with pytest.raises(UnsafeSqlError, match="runs code"):
        ensure_read_only_query(ConnectSession(), "SELECT reflect('a', 'b')")


def test_predicate_passes_both_judges_on_a_classic_session(spark):
    ensure_row_predicate(spark, "a > 1 AND b = 'x'")


def test_refusal_logs_nothing(spark, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        for text in ("SELECT n'x'", "VACUUM t", "CALL x()"):
            with pytest.raises(UnsafeSqlError):
                judge_by_spark(spark, text)
            with pytest.raises(UnsafeSqlError):
                parse_query(text)
    assert "SQLQueryContextLogger" not in capfd.readouterr().err
    assert not [record for record in caplog.records if record.name.startswith("sqlglot")]


def cuts_of_spark(spark, text):
    """Where Spark's own lexer cuts a text, comments and blanks left out."""
    jvm = spark._jvm
    parser = jvm.org.apache.spark.sql.catalyst.parser
    antlr = jvm.org.antlr.v4.runtime
    lexer = parser.SqlBaseLexer(parser.UpperCaseCharStream(antlr.CharStreams.fromString(text)))
    lexer.removeErrorListeners()
    stream = antlr.CommonTokenStream(lexer)
    stream.fill()
    cuts = []
    for token in stream.getTokens():
        if token.getChannel() == 0 and token.getType() != -1:
            shift = token.getText() in (">>", ">>>")
            cuts += list(token.getText()) if shift else [token.getText()]
    return cuts


PIECES_TEXT = (
    "/* */ /*+ -- \n ' \" ` \\ r' R\" a b1 1 1e5 1.5 1. 5L . < = > ! ( ) , ; '' :: || | - / * + "
    "x \r _"
)
PIECES = PIECES_TEXT.split(" ")


def test_our_lexer_cuts_where_sparks_does(spark):
    dice = random.Random(20240501)  # noqa: S311 - reproducible texts, no secret
    compared = 0
    for _ in range(1_000):
        text = " ".join("".join(dice.choices(PIECES, k=dice.randint(1, 5))) for _ in range(3))
        try:
            ours = [text[token.start : token.end] for token in lex(text)]
        except UnsafeSqlError:
            continue
        compared += 1
        assert ours == cuts_of_spark(spark, text), text
    assert compared > 150
