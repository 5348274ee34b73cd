"""Which bad rows of a table read whole are shown, where some are suppressed."""

from __future__ import annotations

from types import SimpleNamespace

from lakeproof.errors import RuleTimeoutError
from lakeproof.model.standing import KeyTotals
from lakeproof.model.violation import HitSummary
from lakeproof.running.shown_rows import show_what_counts


class Hits:
    """Two rows of each rule are left over, if it is asked for them."""

    def __init__(self, problem=None):
        self.asked, self.problem = [], problem

    def samples_without(self, rule_ids, left_out):
        self.asked.append((tuple(rule_ids), left_out))
        if self.problem:
            raise self.problem
        return dict.fromkeys(rule_ids, (("c", "3"), ("d", "")))


def found_with(hits):
    names = ("some", "all", "none")
    return SimpleNamespace(
        plan=SimpleNamespace(pinned=SimpleNamespace(table="t")),
        now="now",
        hits=hits,
        summaries={name: HitSummary(name, 4, 4, 4, ("a", "b"), ("1", "2")) for name in names},
    )


def shown(found, suppressed):
    told = []
    store = SimpleNamespace(suppressed_hits=lambda names, now: f"HITS OF {names} AT {now}")
    show_what_counts(found, suppressed, store, lambda step: told.append(step.text))
    rows = {name: of.sample_keys for name, of in found.summaries.items()}
    return rows, told


def test_what_is_suppressed_is_left_out_while_there_is_anything_else():
    found = found_with(Hits())
    rows, _ = shown(found, {"some": KeyTotals(hits=2), "all": KeyTotals(hits=4)})
    assert rows == {"some": ("c", "d"), "all": ("a", "b"), "none": ("a", "b")}
    assert found.summaries["some"].sample_values == ("3", "")
    assert found.hits.asked == [(("some",), "HITS OF ['some'] AT now")]


def test_nothing_is_read_where_nothing_is_suppressed():
    found = found_with(Hits())
    shown(found, {})
    shown(found, {"all": KeyTotals(hits=4)})
    assert found.hits.asked == []


def test_what_cannot_be_read_again_stays_as_it_was_and_is_told():
    found = found_with(Hits(RuleTimeoutError("too slow")))
    rows, told = shown(found, {"some": KeyTotals(hits=1)})
    assert rows["some"] == ("a", "b")
    assert told == ["t: suppressed rows may be shown: too slow"]
