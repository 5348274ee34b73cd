"""User SQL: its identity, where its tables stand, and what a filter may be."""

from __future__ import annotations

import logging
import time
import unicodedata

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.checks.sql_lexer import TEXT_CHARACTERS_MAX, TokenKind, lex
from lakeproof.checks.user_sql import (
    TableReference,
    canonical_sql,
    parse_predicate,
    parse_query,
    table_problem,
)
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError

COSMETIC = [
    ("a IS NULL", "a is  null"),
    ("a IS NULL", "A\n\tis /* why */ NULL -- because"),
    ("a != 1", "a<>1"),
    ("a == 1", "a = 1"),
    ("`c`.s.t", "c.s.t"),
    ("`C`.`S`.`T`", "c.s.t"),
    ("`order id` = 1", "`ORDER ID`=1"),
    ("x = 'a'", 'x = "a"'),
    ("x = 'a\\'b'", 'x = "a\'b"'),
    ("x = 'it''s'", "x = 'it\\'s'"),
    ("x RLIKE r'\\d'", "x RLIKE '\\\\d'"),
    ("x = 'caf\u00e9'", "x = 'cafe\u0301'"),
    ("`caf\u00e9` = 1", "`cafe\u0301` = 1"),
    ("x = '\\u0041'", "x = 'A'"),
    ("SELECT 1", "select 1;"),
    ("SELECT 1", "select 1 ; ;"),
    ("a > 1E5", "A > 1e5"),
    ("a > 10L", "a > 10l"),
    ("sum(a)", "SUM ( `a` )"),
    ("a >= 1", "a>=1"),
    ("SELECT/*+ BROADCAST(t) */ * FROM t", "select /*+broadcast(t)*/ * from t"),
    ("a /* x /* nested */ y */ > 1", "a > 1"),
    ("CAST(a AS array<array<int>>)", "cast(a as array < array < int > >)"),
    ("a\r\n>\r\n1", "a > 1"),
    ("`2024_sales`.x", "2024_sales.X"),
]

DIFFERENT = [
    ("x = 'a  b'", "x = 'a b'"),
    ("x = 'x '", "x = 'x'"),
    ("x = 'A'", "x = 'a'"),
    ("x = 1", "x = '1'"),
    ("x = 1", "x = 1.0"),
    ("x = 1", "x = 1L"),
    ("x = null", "x = ''"),
    ("x = null", "x = `null`"),
    ("x = true", "x = 'true'"),
    ("x = true", "x = `true`"),
    ("x = DATE '2020-01-01'", "x = '2020-01-01'"),
    ("a > 1 -- c\nAND b > 1", "a > 1 -- c AND b > 1"),
    ("a > 1 AND b > 1", "a > 1 OR b > 1"),
    ("a <= 1", "a < 1"),
    ("a < 1", "a <=> 1"),
    ("x = r'\\n'", "x = '\\n'"),
    ("x LIKE 'a\\%'", "x LIKE 'a%'"),
    ("x = 'a' 'b'", "x = 'a\\' \\'b'"),
    ("x = '-- a'", "x = '-- b'"),
    ("x = '/* a */'", "x = ''"),
    ("SELECT /*+ BROADCAST(t) */ * FROM t", "SELECT * FROM t"),
    ("SELECT /*+ BROADCAST(t) */ * FROM t", "SELECT /* BROADCAST(t) */ * FROM t"),
    ("`a.b` = 1", "a.b = 1"),
    ("`a b` = 1", "`a  b` = 1"),
    ("`a``b` = 1", "`ab` = 1"),
    ("a - -1", "a --1"),
    ("1 .5", "1.5"),
    ("`1e5` = 1", "1e5 = 1"),
    ("x = '\u212a'", "x = 'k'"),
]


@pytest.mark.parametrize(("one", "other"), COSMETIC)
def test_cosmetic_edit_keeps_the_identity(one, other):
    assert canonical_sql(one) == canonical_sql(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_edit_that_changes_the_meaning_changes_the_identity(one, other):
    assert canonical_sql(one) != canonical_sql(other)


@pytest.mark.parametrize("text", sorted({text for pair in COSMETIC + DIFFERENT for text in pair}))
def test_canonical_form_is_its_own_canonical_form(text):
    assert canonical_sql(canonical_sql(text)) == canonical_sql(text)


def test_canonical_form_is_readable():
    text = 'SELECT  *\nFROM `Iceberg`.lakehouse.Sales s -- all\nWHERE s.x != "it\'s" ;'
    expected = r"select * from iceberg . lakehouse . sales s where s . x <> 'it\'s'"
    assert canonical_sql(text) == expected


TOKENS = """
select from where a B1 _x 1 1.5 .5 1e5 10L = <> <=> ( ) [ ] , . + - * / % || -> :: null `a` `a``b`
"""
PIECES = st.one_of(
    st.sampled_from(TOKENS.split()),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    .filter(lambda text: "${" not in text)
    .map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"),
)
# Each begins with a blank: `-` and `--`, or `*` and `/*`, would grow together.
GAPS = st.sampled_from(
    [" ", "\n", "\t ", " /* c */ ", " -- c\n", " /**/", " /* 'x /* y */ \" */", "\r--`\r\n"]
)


@given(st.lists(st.tuples(PIECES, GAPS), max_size=12))
def test_blanks_and_comments_between_tokens_never_matter(pairs):
    text = "".join(piece + gap for piece, gap in pairs)
    assert canonical_sql(text) == canonical_sql(" ".join(piece for piece, _ in pairs))


def literal(value, quote):
    return quote + value.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(
    lambda text: "${" not in text
)


@given(VALUES)
def test_kind_of_quotes_never_matters(value):
    assert canonical_sql(literal(value, "'")) == canonical_sql(literal(value, '"'))


@given(
    VALUES, st.integers(0, 19), st.characters(exclude_categories=["Cs"], exclude_characters="${")
)
def test_every_character_of_a_literal_matters(value, at, character):
    changed = value[:at] + character + value[at + 1 :]
    same_text = unicodedata.normalize("NFC", changed) == unicodedata.normalize("NFC", value)
    same_identity = canonical_sql(literal(changed, "'")) == canonical_sql(literal(value, "'"))
    assert same_identity == same_text


@given(VALUES)
def test_lexer_returns_the_value_that_was_quoted(value):
    (token,) = lex(literal(value, "'"))
    assert (token.kind, token.value) == (TokenKind.STRING, value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a = 'x", "line 1:5: this string has no end"),
        ('a =\n  "x', "line 2:3: this string has no end"),
        ("a = r'x", "line 1:5: this raw string has no end"),
        ("a\n/* /* */", "line 2:1: this comment has no end"),
        ("SELECT /*+ BROADCAST(t)", "line 1:8: this hint has no end"),
        ("`a", "line 1:1: this name has no end"),
        ("a = caf\u00e9", "line 1:8: 'é' (U+00E9) is not part of Spark SQL. Put names"),
        ("a\u00a0= 1", "line 1:2: '\\xa0' (U+00A0) is not part of Spark SQL. Use plain blanks"),
        ("a */ 2", "line 1:3: '*/' closes no comment"),
        ("a -- x\\\n", "line 1:7: a comment ends in a backslash"),
        ("a = '${env:X}'", "line 1:6: '${' would be replaced"),
    ],
)
def test_unreadable_text_is_refused_with_its_place(text, where):
    with pytest.raises(UnsafeSqlError) as refusal:
        canonical_sql(text)
    assert str(refusal.value).startswith(where)


def spans(text):
    query = parse_query(text)
    return [
        (query.text[table.start : table.end], table.parts, table.alias) for table in query.tables
    ]


def test_tables_are_found_with_their_exact_text():
    text = (
        "SELECT /* 😀 FROM x */ '😀', `ünï😀` FROM `iceberg`.lakehouse.`sa``les` s -- FROM y\n"
        "JOIN B.c AS d ON s.a = d.a LEFT JOIN plain USING (id), `näme 😀`"
    )
    assert spans(text) == [
        ("`iceberg`.lakehouse.`sa``les`", ("iceberg", "lakehouse", "sa`les"), "s"),
        ("B.c", ("B", "c"), "d"),
        ("plain", ("plain",), None),
        ("`näme 😀`", ("näme 😀",), None),
    ]


def test_name_split_by_comments_is_one_span():
    assert spans("SELECT * FROM a /* . */ . -- c\n b") == [
        ("a /* . */ . -- c\n b", ("a", "b"), None)
    ]


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("WITH c AS (SELECT * FROM t) SELECT * FROM c", ["t"]),
        ("WITH c AS (SELECT * FROM t) SELECT * FROM C JOIN `c` x ON true", ["t"]),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM b", ["b"]),
        ("WITH a AS (WITH z AS (SELECT 1) SELECT * FROM z) SELECT * FROM a, z", ["z"]),
        ("SELECT * FROM (WITH i AS (SELECT 1) SELECT * FROM i) x JOIN i ON true", ["i"]),
        ("WITH c AS (SELECT 1) SELECT * FROM t WHERE a IN (SELECT * FROM c)", ["t"]),
        ("WITH c AS (SELECT 1) SELECT * FROM db.c", ["db.c"]),
        ("WITH c AS (SELECT 1) SELECT * FROM c UNION SELECT * FROM u", ["u"]),
        ("WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT * FROM r) SELECT * FROM r", []),
        (
            "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE x IN (SELECT y FROM c))",
            list("abc"),
        ),
        ("SELECT (SELECT max(x) FROM m) FROM t ORDER BY (SELECT 1 FROM o)", ["m", "t", "o"]),
        (
            "SELECT * FROM t, LATERAL (SELECT * FROM u) z LATERAL VIEW explode(z.a) e AS x",
            ["t", "u"],
        ),
        ("SELECT * FROM explode(array(1)) AS e(x)", []),
        ("SELECT /*+ BROADCAST(u) */ * FROM (t JOIN u USING (id))", ["t", "u"]),
        ("SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))", ["t"]),
        ("VALUES (1)", []),
        ("SELECT 'FROM x', `FROM y` -- FROM z\nFROM t", ["t"]),
    ],
)
def test_tables_are_catalog_tables_only(text, tables):
    assert [".".join(table.parts) for table in parse_query(text).tables] == tables


def test_replacing_tables_leaves_every_other_character_alone():
    text = "SELECT  s.*,'sales'  FROM sales s -- sales\n JOIN `x`.sales USING(sales) ; -- end"
    pinned = parse_query(text).with_tables(
        lambda table: f"iceberg.lakehouse.{table.parts[-1]} VERSION AS OF 7"
    )
    assert pinned == (
        "SELECT  s.*,'sales'  FROM iceberg.lakehouse.sales VERSION AS OF 7 s -- sales\n"
        " JOIN iceberg.lakehouse.sales VERSION AS OF 7 USING(sales)"
    )


def test_query_text_has_no_trailing_semicolon_and_keeps_offsets():
    query = parse_query("  SELECT * FROM t ;\n; -- done;")
    assert query.text == "  SELECT * FROM t"
    assert query.tables == (TableReference(("t",), 16, 17, None),)
    assert query.canonical == "select * from t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM t VERSION AS OF 3", "line 1:15: VERSION or TIMESTAMP AS OF is refused"),
        (
            "SELECT\n  reflect('a', 'b')",
            "line 2:3: function reflect\\(\\) is refused: it runs code",
        ),
        ("SELECT lenght(a) FROM t", "line 1:8: function lenght.* Did you mean length"),
        ("SELECT a FROM t; SELECT 2", "line 1:16: several statements"),
        ("DROP TABLE t", "line 1:1: a query begins with SELECT, WITH or VALUES"),
        ("SELECT * FROM csv.`a`", "line 1:15: 'csv.a' reads files"),
        ("SELECT rand()", "line 1:8: .*differs from run to run"),
        ("SELECT a FROM\n  WHERE", "line 2:3: not one Spark SQL query"),
    ],
)
def test_refusal_says_what_and_where(text, message):
    with pytest.raises(UnsafeSqlError, match=message):
        parse_query(text)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("b > 1 AND A < 2 OR b = 3", ("b", "A")),
        (
            "`order id` = 1 AND address.city = 'x' AND m['k'] = a[0]",
            ("order id", "address", "m", "a"),
        ),
        ("exists(items, x -> x.price < lowest)", ("items", "lowest")),
        ("d <= current_date() AND 'quoted' = name", ("d", "name")),
        ("1 = 1", ()),
    ],
)
def test_predicate_names_its_columns_in_order(text, columns):
    assert parse_predicate(text).columns == columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a > (SELECT 1)", "one condition on a row"),
        ("sum(a) > 1", "needs more than one row"),
        ("rank() OVER (ORDER BY a) = 1", "one condition on a row"),
        ("explode(a)", "makes several"),
        ("a > 1, b > 1", "line 1:6: not one"),
        ("a > 1 AS b", "line 1:7: not one"),
        ("a > 1,", "not one"),
        ("a > 1; b > 1", "several statements"),
        ("a > 1) OR (b > 1", "closes nothing"),
        ("*", "one condition on a row"),
        ("", "empty"),
    ],
)
def test_predicate_that_is_no_row_condition_is_refused(text, message):
    with pytest.raises(UnsafeSqlError, match=message):
        parse_predicate(text)


def test_predicate_and_query_are_rendered_for_trino():
    predicate = parse_predicate("`order id` = 'it\\'s' AND s RLIKE r'\\d' -- why")
    assert predicate.to_dialect("trino") == "\"order id\" = 'it''s' AND REGEXP_LIKE(s, '\\d')"
    query = parse_query("SELECT /*+ BROADCAST(t) */ `a` FROM c.s.t WHERE d > DATE '2020-01-01';")
    rendered = query.to_dialect("trino")
    assert sqlglot.parse_one(rendered, read="trino")
    assert 'SELECT "a" FROM c.s.t' in rendered


def test_query_that_another_engine_cannot_express_is_a_definition_error():
    with pytest.raises(CheckDefinitionError, match="cannot be written for trino: PIVOT"):
        parse_query("SELECT * FROM t PIVOT (sum(a) FOR b IN (1))").to_dialect("trino")


@pytest.mark.parametrize(
    "parts", [("t",), ("db", "t"), ("iceberg", "lakehouse", "sales"), ("c", "json", "t"), ("json",)]
)
def test_catalog_names_are_no_paths(parts):
    assert table_problem(parts) is None


def test_long_and_deep_texts_are_refused_quickly():
    started = time.monotonic()
    for text in (
        "SELECT " + "1," * TEXT_CHARACTERS_MAX,
        "SELECT " + "(" * 5_000,
        "SELECT " + "(" * 33 + "1" + ")" * 33,
        "SELECT " + "NOT " * 20_000 + "true",
        "SELECT " + "CASE WHEN " * 5_000 + "true",
        "SELECT 1 " + "/*" * 40_000,
        "SELECT '" + "\\'" * 40_000,
    ):
        with pytest.raises(UnsafeSqlError):
            parse_query(text)
    assert time.monotonic() - started < 5


def test_thirty_brackets_are_fine():
    query = "SELECT " + "(" * 30 + "1" + ")" * 30
    assert parse_query(query).text == query
    assert parse_predicate("abs(" * 30 + "a" + ")" * 30 + " > 1").columns == ("a",)


def test_refusal_does_not_log(caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(UnsafeSqlError):
        parse_query("WITH x AS (SELECT 1) VACUUM t")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT id, x FROM t", set()),
        ("SELECT ssn AS id FROM t", {"id"}),
        ("SELECT id FROM (SELECT ssn id FROM t)", {"id"}),
        ("WITH c(id) AS (SELECT ssn FROM t) SELECT id FROM c", {"c", "id"}),
        ("SELECT id FROM t UNION ALL SELECT ssn FROM t", {"id", "ssn"}),
    ],
)
def test_names_that_a_query_gives_to_something_are_known(text, names):
    assert parse_query(text).given_names == names
