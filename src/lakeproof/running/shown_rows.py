"""Which bad rows a result shows: those that count against the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from lakeproof.errors import short_message
from lakeproof.model.standing import KeyTotals
from lakeproof.running.findings import TableFindings
from lakeproof.running.progress import Listener, StepDone


class Suppressions(Protocol):
    """What is needed of a store."""

    def suppressed_hits(self, rule_ids: Sequence[str], now: datetime) -> str:
        """SQL of the hit_id of each suppressed violation."""


def show_what_counts(
    found: TableFindings,
    suppressed: Mapping[str, KeyTotals],
    store: Suppressions,
    listener: Listener,
) -> None:
    """Leave out of the samples of a table read whole what is suppressed, where not all of it is.

    Reads nothing for rules without suppressions.
    """
    nobody = KeyTotals()
    names = [
        name
        for name, summary in found.summaries.items()
        if 0 < suppressed.get(name, nobody).hits < summary.hits
    ]
    if not names or found.hits is None:
        return
    try:
        samples = found.hits.samples_without(names, store.suppressed_hits(names, found.now))
    except Exception as problem:  # noqa: BLE001 (verdicts stand, whichever rows are shown)
        text = f"{found.plan.pinned.table}: suppressed rows may be shown: {short_message(problem)}"
        listener(StepDone(text, 0.0))
        return
    found.summaries = {
        name: summary.showing(samples[name]) if name in samples else summary
        for name, summary in found.summaries.items()
    }
