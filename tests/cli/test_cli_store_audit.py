"""What `lakeproof store audit` says of rules, and how it ends."""

from __future__ import annotations

import pytest

from lakeproof.cli.store_audit import _document, _exit_code, _lines
from lakeproof.running.auditing import Audited

EQUAL = Audited("equal", "1", "t", keys=3)
DRIFTED = Audited("drifted", "2", "t", keys=3, different=2)
SKIPPED = Audited("query", "3", "t", skipped="it keeps no index: a query of the user")
FAILED = Audited("expired", "4", "t", failed="version 3 is gone")


@pytest.mark.parametrize(
    ("found", "is_rebuilt", "code"),
    [
        ([EQUAL, SKIPPED], False, 0),
        ([EQUAL, FAILED], False, 3),
        ([FAILED, SKIPPED], False, 3),
        ([SKIPPED], False, 5),
        ([], False, 5),
        ([EQUAL, DRIFTED, FAILED], False, 1),
        ([EQUAL, DRIFTED], True, 0),
        ([DRIFTED, FAILED], True, 3),
    ],
)
def test_what_could_not_be_counted_is_no_success(found, is_rebuilt, code):
    assert _exit_code(found, is_rebuilt=is_rebuilt) == code


def test_each_rule_that_was_not_audited_says_why():
    lines = _lines([EQUAL, SKIPPED, FAILED], "")
    assert lines[:3] == [
        "EQUAL    equal on t: 3 keys and all numbers",
        "SKIPPED  query on t: it keeps no index: a query of the user",
        "UNKNOWN  expired on t: version 3 is gone",
    ]
    assert lines[3].startswith("1 rule could not be audited.")
    assert _lines([EQUAL, SKIPPED], "") == lines[:2]
    failed = [row["failed"] for row in _document([EQUAL, FAILED], 1.0, "")["rules"]]
    assert failed == [None, "version 3 is gone"]
