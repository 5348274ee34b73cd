"""`lakeproof show violations` and `show progress` on kept state, and what `suppress` refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from kept_store import MOMENT_FIRST, kept_progress, kept_result, kept_violation, write_store

from lakeproof.cli import show_progress
from lakeproof.cli.suppress import _moment
from lakeproof.engines.spark import retention
from lakeproof.model.canonical import encode_key
from lakeproof.model.distance import Distance
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Watermark
from lakeproof.reporting.progress_text import RuleStand, progress_text, warnings_of

FIXED, NEW, BACK, LOST, HUSHED = (encode_key({"order_id": number}) for number in range(1, 6))
LATER = MOMENT_FIRST + timedelta(days=1)
FOREVER = MOMENT_FIRST + timedelta(days=36_500)


@pytest.fixture
def place(folder):
    found = [
        kept_violation(
            "positive", FIXED, 1, status="resolved", resolved_at=LATER, resolution="rule_changed"
        ),
        kept_violation("positive", NEW, 2, hit_id="0123456789abcdef"),
        kept_violation("positive", BACK, 1, reopened_run_id="run-2", reopen_count=2),
        kept_violation("positive", LOST, 1, status="unknown"),
        kept_violation(
            "positive",
            HUSHED,
            1,
            occurrences=3,
            suppressed_until=FOREVER,
            suppressed_by="ann",
            suppressed_why="a known migration",
        ),
        kept_violation(
            "elsewhere",
            NEW,
            3,
            suppressed_until=LATER,
            suppressed_by="bob",
            suppressed_why="until Monday",
        ),
    ]
    results = [
        kept_result("positive", 1),
        kept_result("positive", 2),
        kept_result("elsewhere", 3, table_fqn="iceberg.lakehouse.other", table_name="other"),
    ]
    return write_store(folder / "lake", results, found)


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ((), [NEW, BACK, HUSHED, NEW]),
        (("--status", "unknown"), [LOST]),
        (("--status", "all", "--rule", "positive"), [FIXED, NEW, BACK, LOST, HUSHED]),
        (("--new",), [NEW]),  # the newest run is that of another table
        (("--new", "--rule", "positive"), [NEW, BACK]),
        (("--new", "--table", "sales"), [NEW, BACK]),
        (("--new", "--run", "run-1", "--rule", "positive"), [BACK, HUSHED]),
    ],
)
def test_violations_by_status_and_by_what_is_new(lakeproof, place, options, keys):
    done = lakeproof("show", "violations", *place, "--format", "json", *options)
    found = [row["violation_key"] for row in json.loads(done.stdout)["violations"]]
    assert sorted(found) == sorted(keys)


def test_the_life_of_a_violation_is_told(lakeproof, place):
    told = lakeproof("show", "violations", *place, "--status", "all").stdout
    assert "resolved 2025-01-02 00:00:00 (rule changed)" in told
    assert "came back 2 times" in told
    assert ", hit 0123456789ab\n" in told
    assert "  unknown   order_id=4" in told
    assert "suppressed until 2124-12-08 00:00:00, by ann: a known migration" in told
    assert "suppression is over, by bob: until Monday" in told
    assert "order_id=5  (3 rows)" in told


def test_progress_is_told_by_state_alone(lakeproof, folder):
    at = Mark("uuid", Position("delta", 12))
    by_value = Mark("uuid", None, Watermark("timestamp", "1735689600000001"))
    rows = [
        kept_progress("old_place", Mark("uuid", Position("delta", 3)), batch=1),
        kept_progress("old_place", at, batch=2),
        kept_progress("beside", at, batch=2),
        kept_progress("late", by_value, mode="watermark"),
        kept_progress("gone", at, mode="snapshot", suite="", standing=None),
        kept_progress("kept rows", at, rule_key="", standing=None),
    ]
    renamed = [
        kept_result("old_place", 1, rule_key="was_called_so", check_name="was_called_so"),
        kept_result("old_place", 2, rule_key="new_name", check_name="new_name"),
    ]
    place = write_store(folder / "lake", renamed, progress=rows)
    done = lakeproof("show", "progress", "--kept-only", *place)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "iceberg.lakehouse.sales",
        "  cdf at version 12, read 2025-01-01 00:00:00",
        "    beside, new_name",
        "  watermark at 2025-01-01 00:00:00.000001, read 2025-01-01 00:00:00",
        "    late",
        "3 rules",
    ]
    done = lakeproof("show", "progress", "--kept-only", *place, "--format", "json")
    found = {row["rule"]: row for row in json.loads(done.stdout)["rules"]}
    assert found["new_name"]["position"] == {"kind": "delta", "value": 12}
    assert found["late"]["watermark"] == {
        "type": "timestamp",
        "value": "1735689600000001",
        "text": "2025-01-01 00:00:00.000001",
    }
    assert found["late"]["commits_behind"] is None
    done = lakeproof("show", "progress", "--kept-only", *place, "--table", "nowhere")
    assert (done.exit_code, done.stdout) == (5, "")
    assert done.stderr == "lakeproof: no progress of table 'nowhere' is kept\n"


def test_a_position_that_soon_expires_is_warned_of():
    now = datetime(2025, 1, 8, tzinfo=UTC)
    week = timedelta(days=7)

    def stand(table, distance, mode="cdf"):
        mark = Mark("uuid", Position("delta", 1))
        return RuleStand(table, "r", "id", mode, mark, None, MOMENT_FIRST, "run", 1, 1, distance)

    altered = "its columns changed at version 2, which rules that read a cannot follow"
    stands = [
        stand("altered", Distance(altered, None, 2, now - timedelta(days=3), week)),
        stand("altered_old", Distance(altered, None, 2, now - timedelta(days=4), week)),
        stand("fresh", Distance("", None, 2, now - timedelta(days=3), week)),
        stand("old", Distance("", None, 2, now - timedelta(days=4), week)),
        stand("over", Distance("", None, 2, now - timedelta(days=14), week)),
        stand("still", Distance("", None, 0)),
        stand("gone", Distance("its snapshot has expired")),
        stand("whole", Distance("its snapshot has expired"), mode="snapshot"),
        stand("dropped", Distance(unreadable="table dropped does not exist")),
        stand("lost", Distance(unreadable="table lost does not exist"), mode="snapshot"),
    ]
    told = progress_text(stands, now)
    assert "2 commits behind, 42.86 % of the 7 days that changes are kept are over" in told
    assert "read 2025-01-01 00:00:00, at the head" in told
    assert "read 2025-01-01 00:00:00, table dropped does not exist" in told
    *expiring, dropped, lost = warnings_of(stands, now)
    assert dropped == "table dropped does not exist; a run can evaluate none of its rules"
    assert lost == "table lost does not exist; a run can evaluate none of its rules"
    warned = {text.partition(":")[0]: text for text in expiring}
    assert set(warned) == {"altered_old", "old", "over", "gone"}
    assert "57.14 % of the 7 days" in warned["altered_old"]
    assert "57.14 % of the 7 days" in warned["old"]
    assert "200 % of the 7 days" in warned["over"]
    assert "its snapshot has expired; the next run rebuilds" in warned["gone"]


def test_of_a_rule_that_refers_to_another_table_the_worse_mark_is_told(monkeypatch):
    here, there = Mark("uuid", Position("delta", 1)), Mark("other", Position("delta", 7))
    stand = RuleStand("orders", "r", "id", "cdf", here, there, MOMENT_FIRST, "run", 1, 1)
    gone = {here: Distance(commits=0), there: Distance("its feed was off")}
    monkeypatch.setattr(retention, "distance_of", lambda _spark, _table, mark, _mode: gone[mark])
    now = datetime(2025, 1, 8, tzinfo=UTC)
    (found,) = show_progress._measured(None, [stand], {"other": "codes"}, now)
    assert "read 2025-01-01 00:00:00, codes: its feed was off" in progress_text([found], now)
    assert warnings_of([found], now) == ["codes: its feed was off; the next run rebuilds"]
    gone[here] = Distance(unreadable="table orders does not exist")
    (found,) = show_progress._measured(None, [stand], {"other": "codes"}, now)
    assert found.distance.table == ""
    assert "table orders does not exist" in progress_text([found], now)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("0123456789",), "give --until and --why, or --lift"),
        (("0123456789", "--until", "30d"), "give --until and --why, or --lift"),
        (("0123456789", "--until", "30d", "--why", "  "), "give --until and --why, or --lift"),
        (("0123456789", "--lift", "--why", "x"), "--lift takes neither"),
        (("0123456789", "--until", "soon", "--why", "x"), "soon is neither a date"),
        (("0123456789", "--until", "2020-01-01", "--why", "x"), "2020-01-01 is over"),
        (("0123456789", "--until", "9999999d", "--why", "x"), "9999999d is too long"),
        ((), "Missing argument 'HIT...'"),
    ],
)
def test_a_suppression_without_end_or_reason_is_refused(lakeproof, folder, given, said):
    done = lakeproof("suppress", *given)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-03-01", "2025-03-02 00:00:00"),
        ("2025-03-01T18:00", "2025-03-01 18:00:00"),
        ("2025-03-01T18:00+02:00", "2025-03-01 16:00:00"),
        ("30d", "2025-03-02 12:00:00"),
        ("1mo", "2025-02-28 12:00:00"),
        ("12h", "2025-02-01 00:00:00"),
    ],
)
def test_until_is_a_day_to_its_end_or_a_moment_or_a_duration(text, moment):
    now = datetime(2025, 1, 31, 12, tzinfo=UTC)
    assert str(_moment(text, now).replace(tzinfo=None)) == moment
