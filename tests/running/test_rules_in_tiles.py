"""Which unique rules have their keys told by tiles, by what one look at all rows says of them."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from planned_table import IDS, plan_at

from lakeproof.engines.spark import weighing
from lakeproof.errors import RuleTimeoutError

RULE = IDS["a_unique"]


@pytest.fixture
def tiled(monkeypatch):
    """The rules that are tiled, given what the look finds, or how it ends."""
    monkeypatch.setattr(weighing, "time_limit", lambda *_: nullcontext())

    def found(rows=0, tiles=0, crowded=0, ends_in=None):
        def collect():
            if ends_in is not None:
                raise ends_in
            return [{"rule_id": RULE, "rows": rows, "tiles": tiles, "crowded": crowded}]

        spark = SimpleNamespace(sql=lambda _: SimpleNamespace(collect=collect))
        (plan,) = plan_at().tables
        return weighing._tiled(spark, plan, [RULE], "rows", None)

    return found


def test_numbers_that_lie_together_are_told_by_tiles(tiled):
    assert tiled(rows=640, tiles=10) == {RULE: 0}
    assert tiled(rows=15, tiles=10) == {RULE: 0}
    assert tiled(rows=14, tiles=10) == {}


def test_where_most_tiles_are_crowded_there_are_none(tiled):
    assert tiled(rows=640, tiles=10, crowded=5) == {RULE: 5}
    assert tiled(rows=640, tiles=10, crowded=6) == {}
    million = weighing.BROADCAST_KEYS_MAX
    assert tiled(rows=640 * million, tiles=10 * million, crowded=million) == {RULE: million}
    assert tiled(rows=640 * million, tiles=10 * million, crowded=million + 1) == {}


def test_a_look_that_breaks_leaves_it_to_the_keys_and_one_that_takes_too_long_does_not(tiled):
    assert tiled(ends_in=ValueError("a column that cannot be read")) == {}
    with pytest.raises(RuleTimeoutError):
        tiled(ends_in=RuleTimeoutError("too long"))
