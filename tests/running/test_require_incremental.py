"""What a run that must be incremental refuses, and what it reads whole all the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from planned_table import HERE, IDS, plan_at, stands

from lakeproof.errors import ConfigError
from lakeproof.model.reading import Mode, Readable, Reading
from lakeproof.planning.read_mode import Abilities, Part
from lakeproof.planning.shapes import shapes_of
from lakeproof.running.read_planner import ReadPlanner
from lakeproof.running.reads import Wanted

FEED = Abilities(has_feed=True, asked_for=True)
NO_FEED = Abilities(has_feed=False, no_feed="it has none", advice="ALTER TABLE t")
READABLE, GAP = Reading(Readable.OK), Reading(Readable.GAP, "vacuumed", "VACUUM removed files")


def parts(known, reading=READABLE, abilities=FEED):
    """Rule to what is done about it, in a run that must be incremental."""
    plan = plan_at()
    shapes = shapes_of(plan.tables[0])
    progress = {
        IDS[name]: replace(one, shape=shapes.get(IDS[name], "")) for name, one in known.items()
    }
    source = SimpleNamespace(
        kept_id="",
        until=replace(HERE, position=plan.tables[0].pinned.position),
        can_read=lambda _: reading,
        release=lambda: None,
    )
    engine = SimpleNamespace(abilities=lambda *_: abilities, change_source=lambda *_: source)
    store = SimpleNamespace(
        max_hits=None,
        progress=lambda ids: {name: progress[name] for name in ids if name in progress},
    )
    (read,) = ReadPlanner(engine, store, Wanted(require_incremental=True)).decide(plan)
    names = {rule_id: name for name, rule_id in IDS.items()}
    return {names[one]: share.part for share in read.shares for one in share.rule_ids}


def test_a_first_run_and_a_new_rule_read_the_whole_table_once():
    first = parts({})
    assert first["a_unique"] is Part.REBUILD
    later = parts({"a_known": stands("a_known")})
    assert (later["a_known"], later["a_unique"]) == (Part.CHANGES, Part.REBUILD)


def test_a_rule_that_another_mode_has_read_is_built_once():
    assert parts({"a_known": stands("a_known", mode=Mode.SNAPSHOT)})["a_known"] is Part.REBUILD


def test_rules_that_changes_do_not_decide_are_evaluated_over_the_whole_table():
    assert parts({"by_query": stands("by_query", mode=Mode.SNAPSHOT)})["by_query"] is Part.WHOLE


def test_a_gap_is_refused_with_its_reason():
    with pytest.raises(ConfigError, match=r"VACUUM removed files.*without --require-incremental"):
        parts({"a_known": stands("a_known")}, GAP)


def test_a_split_is_refused_for_rules_that_read_a_column_that_was_altered_and_for_no_others():
    split = Reading(Readable.SPLIT, reason="its columns changed at version 8", at=(8,))
    known = {name: stands(name) for name in ("a_known", "a_unique", "rows")}
    assert set(parts(known, replace(split, altered=frozenset({"b"}))).values()) == {
        Part.CHANGES,
        Part.WHOLE,
    }
    altered = replace(split, altered=frozenset({"a"}))
    assert parts({"rows": known["rows"]}, altered)["rows"] is Part.CHANGES
    for name in ("a_known", "a_unique"):
        with pytest.raises(ConfigError, match="its columns changed at version 8, a among them"):
            parts({name: known[name]}, altered)
    # A rule that names no column would read one that is new.
    added = replace(split, added=frozenset({"a"}))
    assert parts({"rows": known["rows"]}, added)["rows"] is Part.CHANGES
    with pytest.raises(ConfigError, match="a among them"):
        parts({"a_known": known["a_known"]}, added)
    # No rule here has SQL of a user's in it, to which the type would matter.
    widened = replace(split, widened=frozenset({"a"}))
    assert parts(known, widened)["a_known"] is Part.CHANGES


def test_kept_state_that_does_not_fit_is_refused():
    with pytest.raises(ConfigError, match="cannot be read incrementally"):
        parts({"a_known": replace(stands("a_known"), standing=None)})


def test_a_table_that_is_read_whole_is_refused_with_what_would_change_it():
    with pytest.raises(ConfigError, match=r"not incremental: .*it has none.*ALTER TABLE t"):
        parts({}, abilities=NO_FEED)
