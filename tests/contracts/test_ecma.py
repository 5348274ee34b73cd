"""A pattern of ECMA-262 matches the same texts in Java, or is refused by name."""

from __future__ import annotations

import pytest

from lakeproof.checks.literals import text_literal
from lakeproof.contracts.odcs.ecma import java_pattern
from lakeproof.errors import CheckDefinitionError

# Pattern, a text, whether ECMA-262 (with the flag u) finds it there.
FOUND = [
    ("^[A-Z]{2}$", "AB", True),
    ("^[A-Z]{2}$", "AB\n", False),
    ("^[A-Z]{2}$", "xAB", False),
    ("a$|b", "a\n", False),
    (r"^a.b$", "a\u0085b", True),
    (r"^a.b$", "a\u2028b", False),
    (r"^a.b$", "a\nb", False),
    (r"^\s$", "\u00a0", True),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\u0085", False),
    (r"^\S$", "\u00a0", False),
    (r"^[\s]$", "\u3000", True),
    (r"^[\S]$", "x", True),
    (r"^[\S ]$", " ", True),
    (r"^[^\Sx]$", " ", True),
    (r"^[^\Sx]$", "x", False),
    (r"^\d$", "\u0663", False),
    (r"^\w$", "é", False),
    (r"\bé", "é", False),
    (r"\bx\b", "a x b", True),
    (r"x\B", "xy", True),
    (r"^[^]$", "\n", True),
    (r"[]", "anything", False),
    (r"^[a&&b]+$", "&", True),
    (r"^[[]$", "[", True),
    (r"^[a\-z]$", "-", True),
    (r"^[\b]$", "\b", True),
    (r"^(?<first_1>a)\k<first_1>$", "aa", True),
    (r"^(?<$x>a)b\k<$x>$", "aba", True),
    (r"^(a)(b)\2\1$", "abba", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^\uD83D\uDE00$", "😀", True),
    (r"^.$", "😀", True),
    (r"^\u0041\x42$", "AB", True),
    (r"^\cJ$", "\n", True),
    (r"^\0$", "\x00", True),
    (r"^a\/b$", "a/b", True),
    (r"^\v$", "\x0b", True),
    (r"^a{,2}$", "a{,2}", True),
    (r"^a{2}$", "aa", True),
    (r"^x}]$", "x}]", True),
    (r"^\p{Script=Greek}+$", "αβγ", True),
    (r"^\p{L}\P{L}$", "é1", True),
    (r"^\p{Uppercase_Letter}$", "É", True),
    (r"^\p{Alphabetic}$", "é", True),
    (r"^(?i:éa)$", "ÉA", True),
    (r"(?<=a)b", "ab", True),
    (r"(?<!a)b", "ab", False),
    (r"^(?=.*\d)(?!.*x).{3}$", "a1b", True),
    ("it's \\${x}", "it's ${x}", True),
]


def test_texts_are_found_as_ecma_finds_them(spark):
    def sql(text):
        return text_literal(text).sql("spark")

    items = [f"{sql(text)} RLIKE {sql(java_pattern(pattern))}" for pattern, text, _ in FOUND]
    (row,) = spark.sql(f"SELECT {', '.join(items)}").collect()
    assert [case for case, found in zip(FOUND, row, strict=True) if found is not case[2]] == []


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(?<=a+)b", "lookbehind"),
        (r"(?<!a{2,})b", "lookbehind"),
        (r"(a)|\1", "alternative"),
        (r"(a)?\1", "may not have matched"),
        (r"\1(a)", "may not have matched"),
        (r"(?!(a))\1", "may not have matched"),
        (r"(a)\10", "may not have matched"),
        (r"\k<x>", "may not have matched"),
        (r"[(a)\1]", "may not have matched"),
        (r"a++", "repeats nothing"),
        (r"(?>a)", "opens a group"),
        (r"(?s:.)", "opens a group"),
        (r"(?#x)", "opens a group"),
        (r"(?<n>a)(?<n>b)", "two groups"),
        (r"\p{Script_Extensions=Greek}", "property"),
        (r"\p{Xx}", "property"),
        (r"\u{110000}", "no character"),
        (r"\Aa", r"the escape \A"),
        (r"\e", r"the escape \e"),
        ("a\\", "the escape"),
        (r"\01", "the escape"),
        (r"[a", "not closed"),
        (r"(a", "not closed"),
        (r"a)", "closes nothing"),
    ],
)
def test_what_java_would_read_otherwise_is_refused_by_name(pattern, named):
    with pytest.raises(CheckDefinitionError) as caught:
        java_pattern(pattern)
    assert named in str(caught.value)
    assert repr(pattern) in str(caught.value)
