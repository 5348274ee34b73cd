"""Who may work is decided on values, so the claims here need no Spark."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from lakeproof.config import StoreSettings
from lakeproof.errors import AlreadyRunningError, TableMovedError
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.state.intent_log import IntentLog
from lakeproof.state.leases import Claimant, IntentStatus, withdrawn
from lakeproof.state.spark_store import SparkStore
from lakeproof.state.store import TableWork

NOW = datetime(2026, 3, 1, 12)  # noqa: DTZ001 (state holds UTC without zone)
SALES = TableWork(
    TableName(("iceberg", "lakehouse", "sales")), "uuid-1", "suite", ("r1",), Position("iceberg", 7)
)


def claimant(run_id, *, now=NOW, dead=()):
    return Claimant(run_id, f"host:{run_id}:x", now, now + timedelta(hours=1), dead.__contains__)


def open_intent(run_id, work=SALES, known=()):
    return claimant(run_id).claim(work, known).intent


def test_first_run_of_a_table_gets_batch_one():
    batch = claimant("a").claim(SALES, []).batch
    assert (batch.batch_seq, batch.epoch, batch.adopted) == (1, 1, False)
    assert batch.position == SALES.position


def test_live_lease_of_another_run_is_respected_and_named():
    with pytest.raises(AlreadyRunningError, match=r"run 'a' \(host:a:x\).*2026-03-01 13:00:00 UTC"):
        claimant("b").claim(SALES, [open_intent("a")])


def test_expired_lease_is_taken_over_under_the_next_epoch():
    held = open_intent("a")
    claim = claimant("b", now=NOW + timedelta(hours=2)).claim(SALES, [held])
    assert (claim.batch.batch_seq, claim.batch.epoch) == (2, 2)
    assert [(one.run_id, one.status) for one in claim.ended] == [("a", IntentStatus.ABANDONED)]


def test_dead_owner_does_not_keep_its_lease():
    claim = claimant("b", dead=["host:a:x"]).claim(SALES, [open_intent("a")])
    assert claim.batch.epoch == 2


@pytest.mark.parametrize(
    "status", [IntentStatus.OPEN, IntentStatus.COMMITTED, IntentStatus.ABANDONED]
)
def test_repeated_run_reads_its_first_position_again(status):
    first = open_intent("a").closed(status, NOW)
    later = TableWork(SALES.table, "uuid-1", "suite", ("r1",), Position("iceberg", 99))
    batch = claimant("a").claim(later, [first]).batch
    assert (batch.adopted, batch.batch_seq, batch.epoch) == (True, 1, 2)
    assert batch.position == Position("iceberg", 7)


def test_repeated_run_waits_for_a_newer_one_that_is_at_work():
    old = open_intent("a").closed(IntentStatus.ABANDONED, NOW)
    newer = open_intent("b", known=[old])
    with pytest.raises(AlreadyRunningError, match="run 'b'"):
        claimant("a").claim(SALES, [old, newer])


def test_table_made_again_under_its_name_goes_on_counting_and_is_not_adopted():
    first = open_intent("a")
    again = TableWork(SALES.table, "uuid-2", "suite", ("r1",), Position("iceberg", 1))
    claim = claimant("a").claim(again, [first])
    assert (claim.batch.adopted, claim.batch.batch_seq) == (False, 2)
    assert claim.batch.position == Position("iceberg", 1)
    assert [one.status for one in claim.ended] == [IntentStatus.ABANDONED]


def test_another_group_shares_the_numbers_but_not_the_lease():
    other = TableWork(SALES.table, "uuid-1", "other suite", ("r2",), SALES.position)
    claim = claimant("b").claim(other, [open_intent("a")])
    assert (claim.batch.batch_seq, claim.ended) == (2, ())


def test_two_that_see_each_other_have_one_that_yields():
    a, b = claimant("a"), claimant("b")
    claim_a, claim_b = a.claim(SALES, []), b.claim(SALES, [])
    both = [claim_a.intent, claim_b.intent]
    assert not a.yields_to(a.rivals([claim_a], both))
    assert b.yields_to(b.rivals([claim_b], both))
    after = [claim_a.intent, *withdrawn([claim_b], NOW)]
    assert a.rivals([claim_a], after) == []


def test_one_number_is_never_shared_even_by_two_groups():
    other = TableWork(SALES.table, "uuid-1", "other suite", ("r2",), SALES.position)
    a, b = claimant("a"), claimant("b")
    claim_a, claim_b = a.claim(SALES, []), b.claim(other, [])
    assert b.rivals([claim_b], [claim_a.intent, claim_b.intent]) == [claim_a.intent]


@pytest.mark.parametrize(
    "status", [IntentStatus.OPEN, IntentStatus.COMMITTED, IntentStatus.ABANDONED]
)
def test_a_number_that_another_run_has_claimed_too_is_not_taken_up_again(status):
    died = open_intent("a").closed(IntentStatus.ABANDONED, NOW)
    other = open_intent("b").closed(status, NOW)
    assert died.batch_seq == other.batch_seq
    a = claimant("a", dead=["host:b:x"])
    claim = a.claim(SALES, [died, other])
    assert (claim.batch.adopted, claim.batch.batch_seq) == (False, 2)
    ended = [one.closed(IntentStatus.ABANDONED, NOW) for one in (died, other)]
    assert a.rivals([claim], [*ended, claim.intent]) == []


def test_a_number_that_was_committed_stays_its_run_s_whoever_claimed_it_later():
    ours = open_intent("a").closed(IntentStatus.COMMITTED, NOW)
    late = open_intent("b").closed(IntentStatus.ABANDONED, NOW)
    a = claimant("a")
    claim = a.claim(SALES, [ours, late])
    assert (claim.batch.adopted, claim.batch.batch_seq) == (True, 1)
    assert a.rivals([claim], [ours, late, claim.intent]) == []


def test_withdrawn_claim_is_not_adopted_by_its_run():
    (gone,) = withdrawn([claimant("a").claim(SALES, [])], NOW)
    batch = claimant("a").claim(SALES, [gone]).batch
    assert (batch.adopted, batch.batch_seq) == (False, 2)


def test_withdrawing_an_adopted_claim_keeps_its_history():
    first = open_intent("a")
    (gone,) = withdrawn([claimant("a").claim(SALES, [first])], NOW)
    assert gone.status == IntentStatus.ABANDONED
    assert claimant("a").claim(SALES, [gone]).batch.adopted


def test_tables_without_a_uuid_are_told_apart_by_name():
    plain = TableWork(TableName(("c", "n", "one")), "", "suite", (), None)
    other = TableWork(TableName(("c", "n", "two")), "", "suite", (), None)
    assert claimant("b").claim(other, [open_intent("a", plain)]).batch.batch_seq == 1


def test_two_suites_that_share_a_rule_share_its_lease():
    held = open_intent("a")
    other = replace(SALES, group="another suite", rule_ids=("r0", "r1"))
    with pytest.raises(AlreadyRunningError, match="run 'a'"):
        claimant("b").claim(other, [held])
    claim = claimant("b", dead=["host:a:x"]).claim(other, [held])
    assert (claim.batch.batch_seq, claim.batch.epoch, claim.batch.adopted) == (2, 2, False)
    apart = replace(other, rule_ids=("r2",))
    assert claimant("b").claim(apart, [held]).ended == ()
    assert claimant("b").rivals([claimant("b").claim(apart, [held])], [held]) == []
    assert claimant("c").rivals([claimant("c").claim(SALES, [])], [claim.intent]) == [claim.intent]


def test_a_run_repeated_with_other_rules_ends_its_own_lease_and_starts_anew():
    other = replace(SALES, group="another suite", rule_ids=("r0", "r1"))
    claim = claimant("a").claim(other, [open_intent("a")])
    assert (claim.batch.adopted, claim.batch.batch_seq) == (False, 2)
    assert [one.status for one in claim.ended] == [IntentStatus.ABANDONED]


CODES = TableWork(TableName(("iceberg", "lakehouse", "codes")), "uuid-9", "joined", (), None)


def test_a_run_takes_up_all_its_tables_again_or_none():
    known = [open_intent("a"), open_intent("a", CODES)]
    a = claimant("a")
    assert [claim.batch.adopted for claim in a.claims([SALES, CODES], known)] == [True, True]
    again = replace(CODES, table_id="uuid-10")
    anew = a.claims([SALES, again], known)
    assert [claim.batch.adopted for claim in anew] == [False, False]
    assert [one.status for claim in anew for one in claim.ended] == [IntentStatus.ABANDONED] * 2


def test_what_begins_anew_stands_at_the_head_and_what_is_repeated_where_it_was():
    def moved_on(_table):
        return Position("iceberg", 8)

    with pytest.raises(TableMovedError, match=r"lakehouse\.sales was written to"):
        claimant("a").claims([SALES], [], moved_on)
    (claim,) = claimant("a").claims([SALES], [open_intent("a")], moved_on)
    assert claim.batch.position == SALES.position


@pytest.fixture
def log(monkeypatch):
    """The table of intents as a list."""
    rows = []
    monkeypatch.setattr(IntentLog, "present", lambda *_: list(rows))
    monkeypatch.setattr(IntentLog, "append", lambda _, intents: rows.extend(intents))
    return rows


def test_a_lease_that_was_not_confirmed_is_given_back(log, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    store = SparkStore(None, StoreSettings())
    monkeypatch.setattr(store, "_await_rivals", stop)
    with pytest.raises(KeyboardInterrupt):
        store.begin("a", [SALES], NOW)
    store.release("a", NOW)
    assert [row.status for row in log] == [IntentStatus.OPEN, IntentStatus.ABANDONED]


def test_a_lease_that_could_not_be_closed_is_given_back(log, monkeypatch):
    def break_down(*_):
        raise ConnectionError

    store = SparkStore(None, StoreSettings())
    batches = store.begin("a", [SALES], NOW)
    monkeypatch.setattr(store, "_assert_committed", lambda *_: None)
    with monkeypatch.context() as broken:
        broken.setattr(IntentLog, "append", break_down)
        with pytest.raises(ConnectionError):
            store.commit(batches, "a", [], NOW)
    store.release("a", NOW)
    assert [row.status for row in log] == [IntentStatus.OPEN, IntentStatus.ABANDONED]
