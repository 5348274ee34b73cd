"""Which rules an audit counts again, where, and when it calls what it finds a drift."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from planned_table import plan_at, stands

from lakeproof.config import TableSettings
from lakeproof.errors import LakeproofError
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.rule import RejectedRule
from lakeproof.model.standing import Standing
from lakeproof.running.auditing import Auditor


class Kept:
    """Progress that may move while somebody counts."""

    def __init__(self, *rules, later=()):
        self.answers = [rules, later or rules]

    def progress(self, rule_ids):
        rules = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return {one.rule_id: one for one in rules if one.rule_id in rule_ids}

    def index_sums(self, rule_id):
        return f"SUMS OF {rule_id}"


class Counting:
    """An engine whose table has 10 rows; the keys in `different` weigh something else."""

    def __init__(self, different=0, rows=10):
        self.different, self.rows = different, rows
        self.asked, self.pinned = [], []

    def change_source(self, pinned, mode, settings, kept):
        self.pinned.append(pinned.position.value)
        rows = SimpleNamespace(release=lambda: None)
        return SimpleNamespace(snapshot=lambda: rows, release=lambda: None)

    def weigh(self, plan, rule_ids, rows, limit):
        found = {name: Standing(rows=self.rows, scope=self.rows) for name in rule_ids}
        return SimpleNamespace(
            standings=found, errors={}, view="v", tile_view="", release=lambda: None
        )

    def fetch_row(self, sql, limit):
        self.asked.append(sql)
        return {"keys": 3, "different": self.different}


def audited(engine, kept, share=1.0, rules=()):
    auditor = Auditor(engine, kept, lambda _: TableSettings(), plan_at)
    return {one.rule_key: one for one in auditor.audit(plan_at(), share, rules)}


def test_rules_are_counted_again_where_they_stand():
    engine = Counting()
    there = Mark("id", Position("delta", 5))
    kept = Kept(stands("a_known"), stands("a_unique"), stands("rows", there))
    found = audited(engine, kept)
    assert sorted(engine.pinned) == [5, 7]  # one read for rules that stand together
    assert (found["a_unique"].keys, found["a_unique"].has_drifted) == (3, False)
    assert (found["rows"].keys, found["rows"].has_drifted) == (0, False)  # numbers only
    assert found["by_query"].skipped == "it keeps no index: a query of the user"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ((), "no run has built one yet"),
        ((stands("a_unique", mode=Mode.SNAPSHOT),), "its table is read whole"),
        ((stands("a_unique", mode=Mode.WATERMARK),), "read by a watermark"),
        ((stands("a_unique", Mark("id", None)),), "its table has no history"),
        ((replace(stands("a_unique"), standing=None),), "no run has built one yet"),
    ],
)
def test_what_cannot_be_counted_again_says_why(known, said):
    found = audited(Counting(different=1), Kept(*known), rules=("a_unique",))
    assert list(found) == ["a_unique"]
    assert said in found["a_unique"].skipped
    assert not found["a_unique"].has_drifted


def test_a_key_or_a_number_that_differs_is_a_drift():
    by_key = audited(Counting(different=2), Kept(stands("a_unique")))["a_unique"]
    assert (by_key.different, by_key.numbers, by_key.has_drifted) == (2, (), True)
    by_number = audited(Counting(rows=11), Kept(stands("rows")))["rows"]
    assert (by_number.numbers, by_number.has_drifted) == (("rows", "scope"), True)


def test_a_rule_that_moved_meanwhile_has_not_drifted():
    kept = Kept(stands("a_unique"), later=(stands("a_unique", batch=5),))
    found = audited(Counting(different=2), kept, rules=("a_unique",))["a_unique"]
    assert not found.has_drifted
    assert "a run moved it" in found.failed


@pytest.mark.parametrize(("share", "slices"), [(0.0001, 1), (0.01, 3), (0.5, 128), (1.0, 256)])
def test_a_share_is_so_many_slices_of_the_key_space(share, slices):
    engine = Counting()
    audited(engine, Kept(stands("a_unique")), share, ("a_unique",))
    (sql,) = engine.asked
    listed = sql.partition("IN (")[2].partition(")")[0].split(", ")
    assert len(set(listed)) == slices
    assert "SUMS OF" in sql


def test_rows_that_are_gone_are_told_and_stop_nobody_else():
    class Gone(Counting):
        def change_source(self, pinned, mode, settings, kept):
            if pinned.position.value == 7:
                raise LakeproofError("the file is gone")
            return super().change_source(pinned, mode, settings, kept)

    kept = Kept(stands("a_unique"), stands("rows", Mark("id", Position("delta", 5))))
    found = audited(Gone(), kept)
    assert "the file is gone" in found["a_unique"].failed
    assert (found["a_unique"].skipped, found["rows"].failed) == ("", "")


def test_a_rule_that_cannot_be_planned_is_not_passed_over():
    nowhere = rejected_rule("lost", "table t does not exist")
    absent = replace(nowhere, key="elsewhere", is_skipped=True)
    plan = replace(plan_at(), rejected=(nowhere, absent))
    auditor = Auditor(Counting(), Kept(), lambda _: TableSettings(), plan_at)
    *_, lost, elsewhere = auditor.audit(plan, 1.0)
    assert (lost.rule_key, lost.failed, lost.skipped) == ("lost", "table t does not exist", "")
    assert (elsewhere.failed, elsewhere.skipped) == ("", "table t does not exist")
    assert auditor.audit(plan, 1.0, ("lost",)) == [lost]


def rejected_rule(key, reason):
    return RejectedRule(
        key=key, check="not_null", table_label="t", table=None, column_label="a", reason=reason
    )
