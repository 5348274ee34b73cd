"""Where rules stand, as people read it."""

from __future__ import annotations

import pytest

from lakeproof.model.reading import Watermark


@pytest.mark.parametrize(
    ("type_text", "value", "told"),
    [
        ("timestamp", "1735689600000001", "2025-01-01 00:00:00.000001"),
        ("timestamp_ntz Europe/Berlin", "-1", "1969-12-31 23:59:59.999999"),
        ("timestamp", "9223372036854775807", "9223372036854775807"),
        ("date", "20484", "2026-01-31"),
        ("date", "9999999", "9999999"),
        ("bigint", "10", "10"),
        ("decimal(10,2)", "10.10", "10.10"),
    ],
)
def test_a_watermark_is_told_as_its_column_is_written(type_text, value, told):
    assert str(Watermark(type_text, value)) == told
