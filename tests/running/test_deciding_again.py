"""A run decides how tables are read before its lease and under it: what it asks a second time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

from planned_table import HERE, IDS, plan_at, stands

from lakeproof.model.position import Position
from lakeproof.model.reading import Readable, Reading
from lakeproof.planning.read_mode import Abilities
from lakeproof.running.read_planner import ReadPlanner


class Asked:
    """An engine and a store that count what they are asked for."""

    def __init__(self):
        self.feeds, self.abilities_of, self.progress_times = Counter(), Counter(), 0
        self.max_hits = None

    def abilities(self, pinned, _settings):
        self.abilities_of[str(pinned.table), pinned.position] += 1
        return Abilities(has_feed=True, asked_for=True)

    def change_source(self, pinned, *_):
        self.feeds[str(pinned.table), pinned.position] += 1
        return SimpleNamespace(
            kept_id="",
            until=replace(HERE, position=pinned.position),
            can_read=lambda _: Reading(Readable.OK),
            release=lambda: None,
        )

    def progress(self, ids):
        self.progress_times += 1
        known = {IDS["a_unique"]: stands("a_unique")}
        return {name: known[name] for name in ids if name in known}


def test_the_store_is_asked_again_and_the_feed_of_the_checked_table_only_where_it_moved():
    asked, plan = Asked(), plan_at()
    planner = ReadPlanner(asked, asked)
    (table,) = plan.tables
    here = str(table.pinned.table), table.pinned.position
    for _ in range(2):
        for read in planner.decide(plan):
            read.release()
    assert asked.progress_times == 2
    assert asked.feeds[here] == asked.abilities_of[here] == 1

    moved = replace(table, pinned=replace(table.pinned, position=Position("delta", 99)))
    planner.decide(replace(plan, tables=(moved,)))
    assert asked.feeds[here[0], Position("delta", 99)] == 1
