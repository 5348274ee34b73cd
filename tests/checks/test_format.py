"""Check `format` on real Spark says what the standard library says, on hostile texts too."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.provisional import domains, urls

from lakeproof.checks.catalogue import find_check
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from oracle.row_checks import FORMATS

NOW = datetime(2024, 3, 10, tzinfo=UTC)
LONG = 200_000
TEXTS_PER_RUN = 600

SEEDS = {
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "0" * 8 + "-0000-0000-0000-" + "F" * 12],
    "email": [
        *("a@b.co", "a.b+c@x-y.example", "!#$%&'*+-/=?^_`{|}~@a.b", f"{'a' * 64}@b.co"),
        *(f"{'a' * 65}@b.co", "a..b@c.de", ".a@b.co", "a@localhost", '"a b"@c.de', "a@b@c.de"),
        *("a@1.2.3.4", "a@[1.2.3.4]", f"a@{'b' * 63}.co", f"a@{'b' * 64}.co", "ü@b.co", "a@ü.de"),
        f"{'a' * 64}@{'.'.join(['b' * 60] * 3)}.{'c' * 6}",
        f"{'a' * 64}@{'.'.join(['b' * 60] * 3)}.{'c' * 7}",
    ],
    "uri": [
        *("https://a/b?c#d", "urn:a:b", "mailto:a@b.c", "a:", "file:///x", "http://[::1]:80/"),
        *("http://[v1.a:b]/", "http://[::1", "http://a:b@c:1/d//e", "http://a:x/", "a:b#c#d"),
        *("http://a b/", "http://%41/", "http://%4g/", "a:%", "1a:b", ":a", "//a/b", "a/b:c"),
        *("http://a/?b?c/d", "http://ü/", "http://a@b@c/", "http://[::1]x/", "a://", "a:///"),
        *("http://[1.2.3.4]/", "a:<b>", 'a:"b"', "a:b\\c", "a:[b]", "javascript:alert(1)"),
    ],
    "hostname": [
        *("a", "a.b", "a-b.c", "-a.b", "a-.b", "a..b", ".a", "a.", "1.2.3.4", "1.a", "a_b", "123"),
        *("a" * 63, "a" * 64, "a" * 63 + ".b", "a" * 64 + ".b"),
        *(".".join(["a" * 61] * 4) + ".bbbbb", ".".join(["a" * 61] * 4)),
        *("xn--nxasmq6b", "ä.de", "a.b.1a", "a.1", "", ".".join(["a" * 62] * 4) + ".b"),
    ],
    "ipv4": [
        "0.0.0.0",  # noqa: S104 - an address, bound by nobody
        "255.255.255.255",
        "256.1.1.1",
        "01.1.1.1",
        "1.1.1",
        "1.1.1.1.1",
        "1.1.1.1 ",
    ],
    "ipv6": [
        *("::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8"),
        *("1:2:3:4:5:6:1.2.3.4", "::ffff:1.2.3.4", "1::1.2.3.4", "1:2:3:4:5::1.2.3.4", ":::"),
        *("1:2:3:4:5:6:7:8:9", "1::2::3", "1:2:3:4:5:6:7", "12345::", "::1%eth0", "[::1]", "::g"),
        *("1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4::", "::1.2.3", "::01.2.3.4", "::1/64", ":1", "1:"),
        *("1::2:3:4:5:6:7:8", "1:2:3:4:5:6::1.2.3.4", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8"),
    ],
    "date": [
        *("2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0001-01-01"),
        *("9999-12-31", "2024-04-31", "2024-13-01", "2024-00-10", "2024-1-1", "+2024-01-01"),
        *("20240101", "2024-01-01 ", "2024-W01-1", "2024-01-32", "0400-02-29", "0100-02-29"),
    ],
    "timestamp": [
        *("2024-01-01T00:00:00", "2024-01-01 23:59:59.999999999Z", "2024-01-01T24:00:00"),
        *("2024-01-01T00:00:60", "2024-01-01T00:00", "2024-01-01T00:00:00.", "2024-01-01"),
        *("2024-01-01T00:00:00.1234567890", "2024-01-01T00:00:00+23:59", "2024-02-30T00:00:00Z"),
        *("2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+0100", "2024-01-01t00:00:00z"),
        *("2024-01-01  00:00:00", "2024-01-01T00:00:00 Z", "2024-01-01T00:00:00-00:00"),
    ],
    "json": [
        *("1", "null", '"a"', "{}", "[]", "", " ", " 1 ", "1 2", "1,2", "1],[2", "1]", "[1", '"a'),
        *('{"a":1,"a":2}', '{"a":{"b":1,"b":1}}', "NaN", "-Infinity", '{"a":1} x', "[1]//c"),
        *("01", "1.", ".5", "+1", "1e400", "-0", "[1,]", '{"a":1,}', '"\n"', r'"\x"', r'"\ud800"'),
        *(
            "'a'",
            "{a:1}",
            "tru",
            "[1 2]",
            '"a" "b"',
            "/**/1",
            "\ufeff1",
            "1\x00",
            "null,null",
            "\\",
        ),
    ],
}


def repeated(text: str) -> str:
    return text * (LONG // len(text))


# A pattern with the wrong repetition would not survive these.
HOSTILE = [
    *(repeated(text) for text in ("a", "1", "a.", "1:", "::1:", "a@", "%41", "{")),
    *(f"http://a/{repeated(text)}" for text in ("a", "/", "%41", "?", "@:", "a%")),
    *(f"a@{repeated(text)}" for text in ("a", "a.", "-", "a-")),
    f'"{repeated("a")}"',
]


def mutated(text: str, chance: random.Random) -> str:
    """The text with one small harm: what slips through a careless pattern."""
    place = chance.randint(0, len(text))
    kind = chance.randrange(5)
    if kind == 0:
        return text + chance.choice(["\n", "\r\n", " ", "\x00", "\u2028", "\x85"])
    if kind == 1:
        return text[:place] + chance.choice('٣０é%:.-/@[]{}"\\\n#?_') + text[place:]
    if kind == 2:
        return text[:place] + text[place + 1 :]
    if kind == 3:
        return chance.choice(["\n", " ", "\ufeff"]) + text
    return text.translate({ord("1"): "\u0661", ord("0"): "\uff10"})


VALID = st.one_of(
    st.uuids().map(str),
    st.emails(),
    urls(),
    domains(),
    st.ip_addresses().map(str),
    st.dates().map(str),
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=5,
    ).map(json.dumps),
    st.text(max_size=8),
    st.text("0123456789abcdef:.-T ", max_size=30),
)


def violates(kind: str) -> str:
    check = find_check("format")
    arguments = check.read(["text"], {"kind": kind})
    return check.violates(Column("text", "string"), arguments, NOW).sql("spark")


def differences(spark, texts) -> list[str]:
    """Where Spark and the standard library disagree; one statement for all texts and kinds."""
    items = ", ".join(f"coalesce({violates(kind)}, true) AS {kind}" for kind in FORMATS)
    rows = [(number, text) for number, text in enumerate(texts)]
    spark.createDataFrame(rows, "number int, text string").createOrReplaceTempView("format_texts")
    found = spark.sql(f"SELECT number, {items} FROM format_texts").collect()
    return [
        f"{kind}: {texts[row.number][:80]!r} ({len(texts[row.number])})"
        for row in found
        for kind, is_good in FORMATS.items()
        if row[kind] == is_good(texts[row.number])
    ]


def storable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def test_every_kind_equals_the_standard_library_on_chosen_texts(spark):
    chance = random.Random(4)  # noqa: S311 - arranges test data
    seeds = [text for texts in SEEDS.values() for text in texts]
    texts = [*seeds, *(mutated(text, chance) for text in seeds for _ in range(8))]
    assert differences(spark, texts) == []
    for kind, is_good in FORMATS.items():
        assert len({is_good(text) for text in seeds}) == 2, kind


def test_texts_of_200_kilobytes_neither_hang_nor_overflow_the_stack(spark):
    assert differences(spark, HOSTILE) == []


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    texts=st.lists(VALID.filter(storable), min_size=60, max_size=120), seed=st.integers(0, 2**32)
)
def test_every_kind_equals_the_standard_library_on_generated_texts(spark, texts, seed):
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    more = [mutated(chance.choice(texts), chance) for _ in range(TEXTS_PER_RUN)]
    assert differences(spark, [*texts, *more]) == []


@pytest.mark.parametrize(
    ("text", "size_max"),
    [
        ("repeat('[', size) || repeat(']', size)", 999),
        ("repeat('9', size)", 1000),
        ("concat('{\"', repeat('k', size), '\":1}')", 50_000),
        ("concat('\"', repeat('a', size), '\"')", 20_000_000),
    ],
)
def test_json_is_good_up_to_what_spark_reads(spark, text, size_max):
    sizes = f"VALUES ({size_max}), ({size_max + 1}) AS t(size)"
    sql = f"SELECT {violates('json')} AS bad FROM (SELECT size, {text} AS text FROM {sizes})"
    assert [row.bad for row in spark.sql(f"{sql} ORDER BY size").collect()] == [False, True]


def test_aliases_are_the_same_rule_and_unknown_kinds_name_the_nearest():
    check = find_check("format")
    assert check.read(["c"], {"kind": "iso_date"}) == check.read(["c"], {"kind": "date"})
    with pytest.raises(CheckDefinitionError, match="Did you mean 'email'"):
        check.read(["c"], {"kind": "e-mail"})
