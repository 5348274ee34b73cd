"""Keys as text and their sums, in Python; against Spark in test_records."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import sha256
from uuid import UUID

import pytest

from lakeproof.accounting.without_spark.key_text import Summer, key_text, positional_text, row_text
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import NOTHING, Commitment, KeyColumn, Level

SALT = "00112233445566778899aabbccddeeff"
ONE = (KeyColumn("k", "string"),)
TWO = (KeyColumn("b", "bigint"), KeyColumn("a", "string"))
BERLIN_SUMMER = timezone(timedelta(hours=2))

TEXTS = [
    ("BKG_001", "BKG_001"),
    ("", ""),
    ("@home", "@@home"),
    ("@@", "@@@"),
    (-7, "-7"),
    (True, "true"),
    (Decimal("1.100"), "1.1"),
    (Decimal("-0.00"), "0"),
    (Decimal("1E+3"), "1000"),
    (Decimal("1E-10"), "0.0000000001"),
    (date(2024, 1, 31), "2024-01-31"),
    (date(1, 1, 1), "0001-01-01"),
    (datetime(2024, 1, 31, 10, tzinfo=UTC), "2024-01-31 10:00:00Z"),
    (datetime(2024, 1, 31, 10, 0, 0, 120_000, tzinfo=BERLIN_SUMMER), "2024-01-31 08:00:00.12Z"),
    (datetime(2024, 1, 31, 10, 0, 10), "2024-01-31 10:00:10"),  # noqa: DTZ001 (without zone)
    (b"\x00\xff", "00FF"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (None, None),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_a_key_of_one_column_is_the_value_as_people_write_it(value, text):
    assert key_text([value], ONE) == text


def test_a_key_of_several_columns_is_canonical_json_unless_all_are_null():
    assert key_text([1, "x"], TWO) == '{"a":["s","x"],"b":["i","1"]}'
    assert key_text([None, "x"], TWO) == '{"a":["s","x"],"b":null}'
    assert key_text([None, None], TWO) is None


def test_no_float_is_a_key():
    with pytest.raises(LedgerError, match="a float is no key"):
        key_text([1.5], ONE)


def test_a_record_without_key_is_known_by_where_it_stands():
    assert positional_text("a/b.parquet", 17) == "@a/b.parquet#17"
    assert positional_text("@home/@b.parquet", 17) == "@./@home/@b.parquet#17"
    line = b'{"id":'
    assert positional_text("b c.json", line) == f"@b c.json#{sha256(line).hexdigest()}"
    row = sha256(b'{"a":null}').hexdigest()
    assert row_text({"a": None}) == f"@row#{row}"


def test_sums_add_like_multisets():
    def summed(*texts):
        summer = Summer(SALT, Level.COMMIT)
        summer.add_all(texts)
        return summer.commitment

    assert summed() == NOTHING
    assert summed("a", "b", "a") == summed("a") + summed("b", "a")
    assert summed("a", "a") != summed("a", "b")


def test_at_level_count_records_are_only_counted():
    summer = Summer("", Level.COUNT)
    summer.add_all(["a", "b"])
    assert summer.commitment == Commitment(2)


def test_a_salt_that_is_none_is_refused():
    for salt in ("", "xy", "00" * 15):
        with pytest.raises(LedgerError, match="not 32 hex digits"):
            Summer(salt, Level.COMMIT)
