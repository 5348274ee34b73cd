import logging
from hashlib import sha256

from lakeproof.accounting.diagnostics import (
    balanced_line,
    discrepancy_message,
    failure_text,
    masked,
    violated_line,
)
from lakeproof.accounting.listening import UNBALANCED, tell
from lakeproof.model.accounting import AccountingDiscrepancy

KEYS = tuple(f"BKG_{number:03}" for number in range(100))
UNBALANCED_BOOKS = AccountingDiscrepancy(
    message=discrepancy_message(1234, 0, 2),
    missing_keys=KEYS,
    duplicate_keys={
        "BKG_901": ("AGGREGATED(daily_revenue_aggregation)", "ERROR"),
        "BKG_902": ("FILTERED(f)", "FILTERED(g)"),
    },
    input_count=349_660,
    accounted_count=348_428,
    missing_count=1234,
    duplicate_count=2,
    partition_counts={"AGGREGATED": 344_000, "ERROR": 4_428},
    lists_location="discrepancy",
)

EXPECTED = """========================================
 ACCOUNTING INVARIANT VIOLATION
========================================

 Run ID: baseline-test
 Input dataset: test-data/datasets/airline-clean

 Summary:
 - Input records: 349660
 - Accounted records: 348428
 - Missing keys: 1234
 - Extra keys: 0
 - Duplicate keys: 2

 Partitions:
 - AGGREGATED: 344000
 - ERROR: 4428

 Missing Keys (sample):
 BKG_000, BKG_001, BKG_002, BKG_003, BKG_004, BKG_005, BKG_006, BKG_007, BKG_008, BKG_009

 Extra Keys (sample):
 (none)

 Duplicate Keys (sample):
   BKG_901 -> AGGREGATED(daily_revenue_aggregation), ERROR
   BKG_902 -> FILTERED(f), FILTERED(g)

 Full lists: discrepancy (Parquet: missing_keys, extra_keys, duplicate_keys)

 Suggested Actions:
 1. Check for pipeline bugs (duplicate processing)
 2. Verify adjoint metadata capture is complete
 3. Inspect sample missing/extra keys in source data
 4. Review error DLQ for patterns

========================================
"""


def test_the_failure_text_has_the_seed_s_form_true_counts_and_ten_samples():
    text = failure_text("baseline-test", "test-data/datasets/airline-clean", UNBALANCED_BOOKS)

    assert text == EXPECTED


def test_the_message_has_a_phrase_for_each_kind_that_occurred():
    assert discrepancy_message(1234, 5, 2, ["Input changed during the run: a.json"]) == (
        "Missing 1234 keys from input (silently dropped); "
        "Found 5 keys not in input (unexpected records); "
        "Found 2 duplicate keys across partitions; "
        "Input changed during the run: a.json"
    )
    assert discrepancy_message(0, 1, 0) == "Found 1 keys not in input (unexpected records)"


def test_keys_that_cannot_be_named_are_not_shown_as_none():
    books = AccountingDiscrepancy(
        "Missing 3 keys from input (silently dropped)",
        missing_count=3,
        keys_named=False,
        reasons=("the input moved since it was read",),
    )

    text = failure_text("r", "in", books)

    assert " Reasons:\n - the input moved since it was read\n" in text
    assert " Missing Keys (sample):\n (keys cannot be named: see Reasons)\n" in text
    assert " Extra Keys (sample):\n (none)\n" in text
    assert "Full lists" not in text


def test_books_that_fail_by_no_key_say_their_message():
    text = failure_text("r", "in", AccountingDiscrepancy("Input accounting not initialized"))

    assert " Reasons:\n - Input accounting not initialized\n" in text


def test_sensitive_keys_stand_as_the_start_of_their_hash():
    hidden = masked(UNBALANCED_BOOKS)
    text = failure_text("r", "in", hidden)
    digest = sha256(b"BKG_901").hexdigest()[:8]

    assert "BKG_" not in text
    assert f"   #{digest} -> AGGREGATED(daily_revenue_aggregation), ERROR" in text
    assert hidden.missing_keys[0] == f"#{sha256(b'BKG_000').hexdigest()[:8]}"
    assert len(hidden.missing_keys) == 100
    assert hidden.missing_count == 1234


def test_a_key_cannot_forge_a_line_of_the_report():
    forged = AccountingDiscrepancy(
        "x", missing_keys=("a\n Extra keys: 0\x1b[2J\u202e",), missing_count=1
    )

    text = failure_text("r\n", "in\n", forged)

    assert "a\\n Extra keys: 0\\x1b[2J\\u202e" in text
    assert "\x1b" not in text
    assert " Run ID: r\\n\n" in text


def test_console_lines_are_those_that_users_know():
    assert balanced_line(349_660) == "✓ Accounting verified: 349660 records accounted for"
    assert violated_line("Missing 1 keys").startswith("✗ ACCOUNTING INVARIANT VIOLATED: Missing")


class Recorder:
    def __init__(self, *, is_broken: bool = False) -> None:
        self.calls = []
        self.is_broken = is_broken

    def failed(self, reason, count, discrepancy):
        self.calls.append((reason, count, discrepancy))
        if self.is_broken:
            raise OSError("the lineage server is away")


def test_a_listener_that_breaks_stops_neither_the_run_nor_the_others(caplog):
    broken, well = Recorder(is_broken=True), Recorder()
    count = UNBALANCED_BOOKS.error_count

    with caplog.at_level(logging.WARNING, logger="lakeproof"):
        problems = tell([broken, well], lambda one: one.failed(UNBALANCED, count, UNBALANCED_BOOKS))

    assert problems == ("Recorder failed: the lineage server is away",)
    assert "the lineage server is away" in caplog.text
    assert well.calls == [("ACCOUNTING_INVARIANT_VIOLATED", 1236, UNBALANCED_BOOKS)]
