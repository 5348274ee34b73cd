"""Rule payloads: edits that must keep a rule_id, and edits that must change it."""

from __future__ import annotations

import json
import math
import unicodedata
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.model.canonical import canonical_payload, rule_id_of

KATHMANDU = ZoneInfo("Asia/Kathmandu")
NAIVE_NOON = datetime(2024, 1, 1, 12, tzinfo=UTC).replace(tzinfo=None)


def test_payload_text_and_rule_id_never_change():
    payload = canonical_payload(
        {
            "table": "iceberg.lakehouse.sales",
            "check": "range",
            "arguments": {"min": 0, "max": 1.5, "since": date(2024, 1, 1), "$x": None},
            "columns": frozenset({"b", "a"}),
            "nan": math.nan,
            "huge": 10**45,
        }
    )
    assert payload == (
        '{"canon":1,"payload":{"arguments":{"$$x":null,"max":1.5,"min":0,'
        '"since":{"$date":"2024-01-01"}},"check":"range","columns":{"$set":["a","b"]},'
        '"huge":1E+45,"nan":{"$number":"NaN"},"table":"iceberg.lakehouse.sales"}}'
    )
    assert rule_id_of(payload) == "534da7e4c2a50bd3d2c65b10e161ee85efe22292556eefffef2dab981038c346"


EQUAL_PAYLOADS = [
    (1, 1.0),
    (1, Decimal("1.00")),
    (0.1, Decimal("0.10")),
    (0, -0.0),
    (0, Decimal("0E+99")),
    (1e23, 10**23),
    (10**60, Decimal("1.000E60")),
    (math.nan, Decimal("sNaN")),
    (-math.inf, Decimal("-Infinity")),
    ("e\u0301", "\u00e9"),
    ({"e\u0301": 1}, {"\u00e9": 1}),
    ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"d": 2.0, "c": 1}, "a": 1}),
    ((1, 2), [1, 2]),
    ({1, 2}, frozenset([2, 1])),
    ({"\u00e9", "e\u0301"}, {"\u00e9"}),
    (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 5, 45, tzinfo=KATHMANDU)),
    (b"a", bytearray(b"a")),
]

UNEQUAL_PAYLOADS = [
    (1, "1"),
    (1, True),
    (0, False),
    (0, None),
    (None, ""),
    (None, "null"),
    (True, "True"),
    (True, "true"),
    (math.nan, "NaN"),
    (math.nan, math.inf),
    (math.inf, -math.inf),
    (math.nan, {"$number": "NaN"}),
    (date(2024, 1, 1), "2024-01-01"),
    (date(2024, 1, 1), {"$date": "2024-01-01"}),
    ({"$date": 1}, {"$$date": 1}),
    (date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
    (NAIVE_NOON, NAIVE_NOON.replace(tzinfo=UTC)),
    ("x ", "x"),
    ("x = 'a  b'", "x = 'a b'"),
    ([1, 2], [2, 1]),
    ([1, 2], {1, 2}),
    ([1, 2], "[1,2]"),
    (["a"], "a"),
    ([], {}),
    ([], None),
    ({"a": None}, {}),
    ({"negate": True}, {}),
    (b"a", "a"),
    (b"", ""),
    (2**53, 2**53 + 1),
    (10**60, 10**60 + 1),
    (0.1, 0.1 + 2**-56),
    (timedelta(seconds=1), 1_000_000),
]


@pytest.mark.parametrize(("left", "right"), EQUAL_PAYLOADS)
def test_cosmetic_edits_keep_the_rule_id(left, right):
    assert canonical_payload({"v": left}) == canonical_payload({"v": right})


@pytest.mark.parametrize(("left", "right"), UNEQUAL_PAYLOADS)
def test_edits_of_logic_change_the_rule_id(left, right):
    assert rule_id_of(canonical_payload({"v": left})) != rule_id_of(canonical_payload({"v": right}))


def test_payloads_that_cannot_be_hashed_are_refused_with_their_place():
    with pytest.raises(TypeError, match=r"payload\.a\[1\]: a complex has no canonical form"):
        canonical_payload({"a": [1, 1j]})
    with pytest.raises(TypeError, match=r"payload\.a: key 1 is a int; keys must be text"):
        canonical_payload({"a": {1: 2}})
    with pytest.raises(ValueError, match="two spellings of one text"):
        canonical_payload({"\u00e9": 1, "e\u0301": 2})
    with pytest.raises(ValueError, match=r"payload\.a: half of a surrogate pair"):
        canonical_payload({"a": "\udcff"})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested deeper than 64 levels"):
        canonical_payload(endless)


def test_a_huge_number_has_a_short_payload():
    assert canonical_payload(Decimal("-12.50E999999")) == '{"canon":1,"payload":-1.25E+1000000}'
    assert canonical_payload(Decimal("5E-999999")) == '{"canon":1,"payload":5E-999999}'


def _nfc(text):
    return unicodedata.normalize("NFC", text)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
PAYLOAD_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    TEXT,
    st.sampled_from(["$", "$date", "$$date"]),
    st.binary(max_size=3),
    st.dates(),
)
PAYLOAD_KEYS = st.one_of(st.sampled_from(["$", "$date", "$$date", "$set", "a", ""]), TEXT.map(_nfc))
PAYLOADS = st.recursive(
    PAYLOAD_SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(PAYLOAD_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


def _payload_meaning(value):
    if isinstance(value, str):
        return _nfc(value)
    if isinstance(value, float):
        return ("number", Fraction(repr(value)))
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return ("number", Fraction(value))
    if isinstance(value, list):
        return [_payload_meaning(item) for item in value]
    if isinstance(value, dict):
        return {_nfc(key): _payload_meaning(item) for key, item in value.items()}
    return value


def _payload_decoded(node):
    match node:
        case Fraction():
            return ("number", node)
        case {"$date": str(text)} if len(node) == 1:
            return date.fromisoformat(text)
        case {"$bytes": str(text)} if len(node) == 1:
            return bytes.fromhex(text)
        case dict():
            return {key.removeprefix("$"): _payload_decoded(item) for key, item in node.items()} | {
                key: _payload_decoded(item) for key, item in node.items() if not key.startswith("$")
            }
        case list():
            return [_payload_decoded(item) for item in node]
    return node


@given(PAYLOADS)
def test_a_payload_gives_the_logic_back_so_no_two_rules_collide(value):
    envelope = json.loads(canonical_payload(value), parse_int=Fraction, parse_float=Fraction)
    assert _payload_decoded(envelope["payload"]) == _payload_meaning(value)
