"""A result as it is stored and printed."""

from __future__ import annotations

from lakeproof import CheckResult, CheckStatus

SEED_FIELDS = [
    "check_name",
    "check_type",
    "table_name",
    "column_name",
    "status",
    "failing_rows",
    "total_rows",
    "details",
    "executed_at",
]


def test_to_dict_has_the_fields_of_the_seed_first_and_plain_values():
    result = CheckResult(
        "n", "t", "sales", "", CheckStatus.PASSED, 0, 1, "fine", "2026-01-01", tags=("a",)
    )
    plain = result.to_dict()
    assert list(plain)[:9] == SEED_FIELDS
    assert plain["status"] == "passed"
    assert type(plain["status"]) is str
    assert plain["tags"] == ["a"]


def test_every_status_has_a_word():
    words = {status.value for status in CheckStatus}
    assert words == {"passed", "failed", "warned", "error", "skipped"}
