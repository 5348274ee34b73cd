from __future__ import annotations

import pytest
from made_results import failed, made

from lakeproof.model.outcome import CheckStatus
from lakeproof.reporting.trend import (
    ASCII_BLOCKS,
    BLOCKS,
    RuleTrend,
    fits,
    trend_line,
    trend_text,
    trends_of,
)


def line(*results, blocks=BLOCKS):
    return trend_line(RuleTrend(results), blocks)


def measured(*measures):
    return [made("r", measure=measure) for measure in measures]


@pytest.mark.parametrize(
    ("measures", "drawn"),
    [
        ((0.0, 0.0, 0.0), "▁▁▁"),
        ((0.0, 0.5, 1.0), "▁▅█"),
        ((0.0, 0.00001, 1.0), "▁▂█"),
        ((100.0, 200.0, 150.0), "▅█▇"),
        ((-1.0, 0.0, 1.0), "▁▅█"),
        ((-2.0, -1.0), "▁█"),
        ((None, 0.0), "▁▁"),
        ((float("nan"), 1.0), "▁█"),
    ],
)
def test_blocks_tell_the_measure_against_the_largest(measures, drawn):
    assert line(*measured(*measures)) == drawn


def test_what_was_not_evaluated_is_a_letter():
    assert (
        line(
            made("r", CheckStatus.ERROR),
            made("r", CheckStatus.SKIPPED),
            made("r", "perhaps"),
            failed("r", measure=1.0),
        )
        == "ES?█"
    )


def test_without_a_measure_the_failing_share_is_drawn():
    assert line(failed("r", measure=None, failing_rows=500), failed("r", measure=1.0)) == "▅█"


def test_rules_come_heaviest_first_with_their_last_runs_newest_right():
    newest_first = [
        made("fine"),
        failed("bad", measure=1.0),
        failed("bad", measure=0.5),
        made("fine"),
        made("bad", measure=0.0),
        made("bad", measure=0.0, table_fqn="iceberg.lakehouse.other"),
    ]
    trends = trends_of(newest_first, 2)
    assert trend_text(trends, 3).split("\n") == [
        "STATUS  RUNS  NOT PASSED  RULE",
        "FAILED    ▅█      2 of 2  bad (iceberg.lakehouse.sales.amount)",
        "PASSED     ▁      0 of 1  bad (iceberg.lakehouse.other.amount)",
        "PASSED    ▁▁      0 of 2  fine (iceberg.lakehouse.sales.amount)",
        "3 rules",
    ]


def test_a_stream_that_cannot_say_blocks_gets_plain_characters():
    assert fits(BLOCKS, "utf-8")
    assert not fits(BLOCKS, "latin-1")
    assert not fits(BLOCKS, None)
    assert not fits(BLOCKS, "no such encoding")
    assert line(*measured(0.0, 0.5, 1.0), blocks=ASCII_BLOCKS) == "_=#"
    assert len(ASCII_BLOCKS) == len(BLOCKS)
