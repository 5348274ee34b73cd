"""What a run knows of one table while it reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lakeproof.engines.engine import Hits
from lakeproof.model.pairing import PairFound
from lakeproof.model.violation import HitSummary
from lakeproof.planning.plan import TablePlan
from lakeproof.running.proving import Proof


@dataclass(slots=True)
class TableFindings:
    """What is known of one table so far; hits stay with the engine until released.

    `held` are the hits of queries, which are run once; `hits` those of every failing rule.
    `previous` holds the measure that a rule had in its last run, where the rule asks for it;
    `compared` what a comparison with another table found. `proof` is what file statistics said.
    """

    plan: TablePlan
    now: datetime
    previous: Mapping[str, float] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    held: dict[str, Hits] = field(default_factory=dict)
    hits: Hits | None = None
    summaries: Mapping[str, HitSummary] = field(default_factory=dict)
    unlisted: dict[str, str] = field(default_factory=dict)
    compared: dict[str, PairFound] = field(default_factory=dict)
    proof: Proof | None = None

    @property
    def table_rows(self) -> int | None:
        rows = self.values.get("table_rows")
        return None if rows is None else int(str(rows))

    @property
    def evaluated(self) -> tuple[str, ...]:
        """Rules whose violations are known: neither in error nor with bad rows unlisted."""
        ids = dict.fromkeys(rule.rule_id for rule in self.plan.rules)
        unknown = {*self.errors, *self.unlisted}
        return tuple(name for name in ids if name not in unknown)

    def release(self) -> None:
        """Let the engine forget all hits."""
        for hits in (self.hits, *self.held.values()):
            if hits is not None:
                hits.release()
        self.hits = None
        self.held.clear()
        if self.proof is not None:
            self.proof.release()
