"""The plain-Python encoder: what is equal, what differs, and texts that must never change."""

from __future__ import annotations

import json
import math
import struct
from collections import namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.model.canonical import (
    Months,
    Struct,
    encode_key,
    encode_value,
    hit_id,
    readable_key,
    row_key,
)

KATHMANDU = ZoneInfo("Asia/Kathmandu")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE_EPOCH = EPOCH.replace(tzinfo=None)
NAIVE_NOON = datetime(2024, 1, 1, 12, tzinfo=UTC).replace(tzinfo=None)
Point = namedtuple("Point", "x y")  # noqa: PYI024 - as PySpark's Row: names only at run time

GOLDEN_VALUES = [
    (None, "null"),
    (True, '["b","true"]'),
    (42, '["i","42"]'),
    (-(2**63), '["i","-9223372036854775808"]'),
    (Decimal("1.100"), '["d","1.1"]'),
    (Decimal("-0.00"), '["d","0"]'),
    (Decimal("1E+3"), '["d","1000"]'),
    (Decimal("-1E-38"), '["d","-0.00000000000000000000000000000000000001"]'),
    (0.1, '["f","0x1.999999999999ap-4"]'),
    (1.0, '["f","0x1.0p0"]'),
    (-0.0, '["f","0x0.0p0"]'),
    (1e22, '["f","0x1.0f0cf064dd592p73"]'),
    (5e-324, '["f","0x0.0000000000001p-1022"]'),
    (1.7976931348623157e308, '["f","0x1.fffffffffffffp1023"]'),
    (math.nan, '["f","NaN"]'),
    (-math.inf, '["f","-Infinity"]'),
    ("", '["s",""]'),
    (
        'a"\\/\b\t\n\f\r\x00\x1f\x7f\u2028é😀',
        '["s","a\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001F\x7f\u2028é😀"]',
    ),
    ("\ufffdA", '["u","EFBFBD41"]'),
    (b"\x00\xff", '["x","00FF"]'),
    (date(1, 1, 1), '["D","0001-01-01"]'),
    (time(23, 59, 59, 999999), '["T","86399999999"]'),
    (datetime(2024, 1, 1, tzinfo=UTC), '["t","1704067200000000"]'),
    (datetime(1, 1, 1, tzinfo=KATHMANDU), '["t","-62135617276000000"]'),
    (NAIVE_NOON, '["n","1704110400000000"]'),
    (timedelta(days=-1, microseconds=1), '["p","-86399999999"]'),
    (Months(-15), '["y","-15"]'),
    ([1, None, "a"], '["a",[["i","1"],null,["s","a"]]]'),
    (Struct(b=1, a=None), '["o",{"a":null,"b":["i","1"]}]'),
    (Point(1, [2]), '["o",{"x":["i","1"],"y":["a",[["i","2"]]]}]'),
    ({"b": 1, "a": None}, '["m",[[["s","a"],null],[["s","b"],["i","1"]]]]'),
]


@pytest.mark.parametrize(("value", "text"), GOLDEN_VALUES, ids=[text for _, text in GOLDEN_VALUES])
def test_canonical_texts_never_change(value, text):
    assert encode_value(value) == text


def test_key_row_key_and_hit_id_never_change():
    columns = {"ts": None, "order_id": 42}
    key = encode_key(columns)
    assert key == '{"order_id":["i","42"],"ts":null}'
    digest = "c790fb6d1436d549e8e6bb69398910f248601e9e4cb880879a48fef12157f7c3"
    assert row_key(columns) == f'{{"_row":["h","{digest}"]}}'
    assert hit_id("r1", key) == "251302a7d96fb73962345bd61c99cba37c221f738d6a83cb90d115c6b207a10a"


EQUAL_VALUES = [
    (Decimal("1.10"), Decimal("1.100")),
    (Decimal(0), Decimal("-0.000")),
    (Decimal(100), Decimal("1E2")),
    (0.0, -0.0),
    (math.nan, struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0]),
    (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 5, 45, tzinfo=KATHMANDU)),
    (bytearray(b"a"), b"a"),
    ({1: "a", 2: "b"}, {2: "b", 1: "a"}),
    (Struct(a=1, b=2), Struct(b=2, a=1)),
    (Point(1, 2), Struct(x=1, y=2)),
]


@pytest.mark.parametrize(("left", "right"), EQUAL_VALUES)
def test_spellings_of_one_value_are_equal(left, right):
    assert encode_value(left) == encode_value(right)


UNEQUAL_VALUES = [
    (None, ""),
    (None, "null"),
    (1, "1"),
    (1, True),
    (1, 1.0),
    (1, Decimal(1)),
    (1.0, Decimal(1)),
    ("", b""),
    ("a", b"a"),
    ("2024-01-01", date(2024, 1, 1)),
    (date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
    (NAIVE_NOON, NAIVE_NOON.replace(tzinfo=UTC)),
    ([], [None]),
    ([], {}),
    (Struct(a=1), {"a": 1}),
    (Struct(a=None), Struct()),
    (["a", "b"], ["a,b"]),
    (["a", "b"], ["b", "a"]),
    ('["s","a"]', "a"),
    ("e\u0301", "\u00e9"),
    (" a", "a"),
    (0.1, 0.1 + 2**-56),
    (timedelta(0), time(0)),
    ("\ufffd", "EFBFBD"),
]


@pytest.mark.parametrize(("left", "right"), UNEQUAL_VALUES)
def test_different_values_differ(left, right):
    assert encode_value(left) != encode_value(right)


def test_separators_inside_values_do_not_move_columns():
    assert encode_key({"a": 'x","b":null', "b": "y"}) != encode_key({"a": "x", "b": None})
    assert encode_key({"a": None, "b": "x"}) != encode_key({"a": "x", "b": None})
    assert encode_key({"a": 1, "b": None}) != encode_key({"a": 1})


def test_column_order_does_not_matter_and_code_points_decide():
    names = ["b", "a", "B", "é", "\U0001f600", "\uffee", "a.b", 'q"', ""]
    forward = encode_key(dict.fromkeys(names, 1))
    assert encode_key(dict.fromkeys(reversed(names), 1)) == forward
    # A sort by UTF-16 units would put the astral letter before U+FFEE.
    assert list(json.loads(forward)) == [
        "",
        "B",
        "a",
        "a.b",
        "b",
        'q"',
        "é",
        "\uffee",
        "\U0001f600",
    ]


def test_what_has_no_canonical_form_is_refused_with_its_place():
    with pytest.raises(TypeError, match=r"order\.items\[\]: a object has no canonical form"):
        encode_key({"order": Struct(items=[object()])})
    with pytest.raises(TypeError, match="a tuple has no canonical form"):
        encode_value((1, 2))
    with pytest.raises(ValueError, match="name: half of a surrogate pair at character 1"):
        encode_key({"name": "a\ud800"})
    with pytest.raises(ValueError, match="not a number"):
        encode_value(Decimal("NaN"))
    with pytest.raises(ValueError, match="at least one column"):
        encode_key({})


def _bits(value: float) -> object:
    return "NaN" if math.isnan(value) else struct.pack(">d", value + 0.0)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.floats(),
    TEXT,
    st.text('\ufffd\\"[],{}:\u0000\u001f', max_size=6),
    st.binary(max_size=4),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=st.sampled_from([UTC, KATHMANDU, timezone(timedelta(hours=-12))])),
    st.timedeltas(),
    st.builds(Months, st.integers(-1000, 1000)),
)
MAP_KEYS = st.one_of(TEXT, st.integers(-9, 9), st.dates())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(MAP_KEYS, inner, max_size=3),
        st.dictionaries(TEXT, inner, max_size=3).map(Struct),
    ),
    max_leaves=8,
)


def _meaning(value):  # noqa: PLR0911 - one line per type
    """The value's type and what makes it that value, compared without the encoder."""
    if isinstance(value, Decimal):
        return ("d", Fraction(value))
    if isinstance(value, float):
        return ("f", _bits(value))
    if isinstance(value, datetime):
        tag, epoch = ("n", NAIVE_EPOCH) if value.tzinfo is None else ("t", EPOCH)
        return (tag, (value - epoch) // timedelta(microseconds=1))
    if isinstance(value, list):
        return ("a", [_meaning(item) for item in value])
    if isinstance(value, Struct):
        return ("o", {name: _meaning(item) for name, item in value.items()})
    if isinstance(value, dict):
        return ("m", {_meaning(key): _meaning(item) for key, item in value.items()})
    return (type(value).__name__, value)


DECODERS = {
    "b": lambda body: ("bool", body == "true"),
    "i": lambda body: ("int", int(body)),
    "d": lambda body: ("d", Fraction(body)),
    "f": lambda body: ("f", _bits(float.fromhex(body) if "x" in body else float(body))),
    "s": lambda body: ("str", body),
    "u": lambda body: ("str", bytes.fromhex(body).decode()),
    "x": lambda body: ("bytes", bytes.fromhex(body)),
    "D": lambda body: ("date", date.fromisoformat(body)),
    "T": lambda body: ("time", (NAIVE_EPOCH + timedelta(microseconds=int(body))).time()),
    "t": lambda body: ("t", int(body)),
    "n": lambda body: ("n", int(body)),
    "p": lambda body: ("timedelta", timedelta(microseconds=int(body))),
    "y": lambda body: ("Months", Months(int(body))),
    "a": lambda body: ("a", [_decoded(item) for item in body]),
    "o": lambda body: ("o", {name: _decoded(item) for name, item in body.items()}),
    "m": lambda body: ("m", {_decoded(key): _decoded(item) for key, item in body}),
}


def _decoded(encoded):
    return ("NoneType", None) if encoded is None else DECODERS[encoded[0]](encoded[1])


@given(VALUES)
def test_the_text_gives_the_value_back_so_no_two_values_collide(value):
    assert _decoded(json.loads(encode_value(value))) == _meaning(value)


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_keys_have_no_blanks_and_survive_shuffled_columns(columns, random):
    shuffled = list(columns.items())
    random.shuffle(shuffled)
    key = encode_key(columns)
    assert key == encode_key(dict(shuffled))
    assert {name: _decoded(item) for name, item in json.loads(key).items()} == {
        name: _meaning(item) for name, item in columns.items()
    }


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (
            {"order_id": 42, "ts": datetime(2024, 1, 1, tzinfo=UTC)},
            "order_id=42, ts=2024-01-01T00:00:00Z",
        ),
        ({"n": NAIVE_NOON, "d": date(2024, 2, 29)}, "d=2024-02-29, n=2024-01-01T12:00:00"),
        ({"x": None, "b": False, "f": 0.1, "m": Decimal("1.50")}, "b=false, f=0.1, m=1.5, x=NULL"),
        ({"s": "NULL, x=1", "e": "", "w": "two words"}, 'e="", s="NULL, x=1", w=two words'),
        ({"s": "\x1b[31mred\u202e"}, 's="\\x1b[31mred\\u202e"'),
        ({"bin": b"\x00\xff", "u": "\ufffd"}, "bin=0x00FF, u=\ufffd"),
        ({"l": [1, None], "m": {"k": 1}, "o": Struct(a=1)}, "l=[1, NULL], m={k: 1}, o={a=1}"),
        (
            {"t": time(1, 2, 3), "p": timedelta(seconds=90), "y": Months(3)},
            "p=90.0 s, t=01:02:03, y=3 months",
        ),
        ({"f": math.inf, "g": math.nan}, "f=inf, g=nan"),
    ],
)
def test_keys_are_shown_for_people(columns, shown):
    assert readable_key(encode_key(columns)) == shown


def test_rows_without_key_and_foreign_keys_are_shown_too():
    digest = sha256(encode_key({"a": 1}).encode()).hexdigest()
    assert readable_key(row_key({"a": 1})) == f"row {digest[:8]}…"
    assert readable_key("not json \x07") == '"not json \\x07"'
    assert readable_key("[1]") == '"[1]"'
    assert readable_key('{"a":["t","99999999999999999999"]}') == "a=99999999999999999999 µs"


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=3))
def test_shown_keys_hold_nothing_that_moves_a_terminal(columns):
    assert readable_key(encode_key(columns)).isprintable()
