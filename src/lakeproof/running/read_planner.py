"""What each rule of a run reads: nothing, the changes, or the whole table, and why.

Decided by metadata and committed progress, before a row is read. A gap in a feed is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lakeproof.config import TableSettings
from lakeproof.engines.engine import ChangeSource, Engine
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mode
from lakeproof.planning.parts import part_of
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.planning.read_mode import Abilities, Choice, Part, Share, choose_mode
from lakeproof.planning.tables import PinnedTable
from lakeproof.running.progress import StepDone
from lakeproof.running.reads import TableRead, Wanted
from lakeproof.running.shares import Shares
from lakeproof.state.store import RuleProgress, Store


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a run has asked of its tables, each where it is pinned.

    Asked once: both ends of a range are pinned, and a table that has moved is pinned elsewhere.
    What goes between the look and the read, as with VACUUM, the read itself finds out: the rules
    of a checked table are then built anew. One that is referred to is asked each time.
    """

    abilities: dict[PinnedTable, Abilities] = field(default_factory=dict)
    feeds: dict[PinnedTable, ChangeSource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadPlanner:
    """Decides for the tables of a plan, in one run. Without `store` no rule has ever run.

    Decided again, it asks the store again, and the tables only if they are pinned elsewhere.
    """

    engine: Engine
    store: Store | None
    wanted: Wanted = field(default_factory=Wanted)
    suite: str = ""
    looked_up: LookedUp = field(default_factory=LookedUp)

    def decide(
        self,
        plan: Plan,
        batches: Mapping[TableName, int] | None = None,
        strays: frozenset[str] = frozenset(),
    ) -> list[TableRead]:
        """One read for each table; `batches` are the numbers that the run holds, if it does.

        `strays` are rules with violations that have to be assigned again, whatever is new.
        """
        progress = self._progress(dict.fromkeys(rule.rule_id for rule in plan.rules))
        return [
            self._read(table, progress, (batches or {}).get(table.pinned.table), strays)
            for table in plan.tables
        ]

    def _progress(self, rule_ids: Iterable[str]) -> Mapping[str, RuleProgress]:
        ids = list(rule_ids)
        return self.store.progress(ids) if self.store is not None and ids else {}

    def _read(
        self,
        plan: TablePlan,
        progress: Mapping[str, RuleProgress],
        batch: int | None,
        strays: frozenset[str],
    ) -> TableRead:
        ids = tuple(dict.fromkeys(rule.rule_id for rule in plan.rules))
        known = {name: progress[name] for name in ids if name in progress}
        choice = self._choice(plan, known.values())
        if not choice.is_incremental:
            share = Share(Part.WHOLE, ids, choice.reason)
            return TableRead(plan, choice, known, (share,))
        table = plan.pinned.table
        settings = self.wanted.settings_of(table)
        source = self._source(plan.pinned, choice.mode, settings)
        kept_id = self._kept_id(source)
        kept = self._progress([kept_id] if kept_id else [])
        read = TableRead(
            plan,
            choice,
            known,
            source=source,
            parents=self._parents(plan),
            kept_id=kept_id,
            kept=kept.get(kept_id),
            watermark_column=settings.watermark.column
            if settings.watermark is not None and choice.mode is Mode.WATERMARK
            else "",
        )
        most = self.store.max_hits if self.store is not None else None
        shares = Shares(read, batch, self.wanted.rebuild, strays, most)
        for name in ids:
            shares.add(name)
        decided = replace(read, shares=tuple(shares.grouped()))
        if self.wanted.require_incremental:
            _refuse_rebuilds(decided)
        return decided

    def _choice(self, plan: TablePlan, known: Iterable[RuleProgress]) -> Choice:
        table = plan.pinned.table
        settings = self.wanted.settings_of(table)
        abilities = self._abilities(plan.pinned, settings)
        has_state = any(one.mode is Mode.CDF for one in known)
        try:
            choice = choose_mode(
                self.wanted.mode_of(table), settings, abilities, has_state=has_state
            )
        except ConfigError as problem:
            raise ConfigError(f"{table}: {problem}") from problem
        if self.wanted.require_incremental and not choice.is_incremental:
            advice = f". To make it incremental: {choice.advice}" if choice.advice else ""
            raise ConfigError(f"{table} is not incremental: {choice.reason}{advice}")
        return choice

    def _source(self, pinned: PinnedTable, mode: Mode, settings: TableSettings) -> ChangeSource:
        """The source of the table; one that keeps rows gets back those that it kept."""
        if mode is Mode.CDF:
            return self._feed(pinned, settings)
        source = self.engine.change_source(pinned, mode, settings, None)
        if not source.kept_id or self.store is None:
            return source
        kept = self.store.kept(self._kept_id(source))
        return self.engine.change_source(pinned, mode, settings, kept)

    def _abilities(self, pinned: PinnedTable, settings: TableSettings) -> Abilities:
        known = self.looked_up.abilities
        if pinned not in known:
            known[pinned] = self.engine.abilities(pinned, settings)
        return known[pinned]

    def _feed(self, pinned: PinnedTable, settings: TableSettings) -> ChangeSource:
        known = self.looked_up.feeds
        if pinned not in known:
            known[pinned] = self.engine.change_source(pinned, Mode.CDF, settings, None)
        return known[pinned]

    def _kept_id(self, source: ChangeSource) -> str:
        """Rows are kept for each suite: its rules move together, those of two suites do not."""
        return f"{source.kept_id}:{self.suite}" if source.kept_id and self.suite else source.kept_id

    def _parents(self, plan: TablePlan) -> dict[str, ChangeSource]:
        """Sources of the tables referred to, where these have a feed; one for each table."""
        by_table: dict[TableName, ChangeSource | None] = {}
        found: dict[str, ChangeSource] = {}
        for name, pinned in plan.parents.items():
            if pinned.table not in by_table:
                settings = self.wanted.settings_of(pinned.table)
                has_feed = (
                    pinned.position is not None and self._abilities(pinned, settings).has_feed
                )
                by_table[pinned.table] = (
                    self.engine.change_source(pinned, Mode.CDF, settings, None)
                    if has_feed
                    else None
                )
            source = by_table[pinned.table]
            if source is not None:
                found[name] = source
        return found


def _refuse_rebuilds(read: TableRead) -> None:
    """A first run must read everything; `require_incremental` is about rules that stood."""
    for share in read.of(Part.REBUILD):
        stood = [read.progress[name] for name in share.rule_ids if name in read.progress]
        if share.code or any(one.mode is read.choice.mode for one in stood):
            read.release()
            raise ConfigError(
                f"{read.plan.pinned.table} cannot be read incrementally: {share.reason}. Run "
                "without --require-incremental to rebuild"
            )


def plan_of_reads(
    plan: Plan, engine: Engine, store: Store, wanted: Wanted, suite: str = ""
) -> Plan:
    """The plan with how a run that keeps its state in the store would read each table."""
    reads = ReadPlanner(engine, store if store.exists() else None, wanted, suite).decide(plan)
    for read in reads:
        read.release()
    return replace(plan, tables=tuple(_planned(read, engine, wanted) for read in reads))


def _planned(read: TableRead, engine: Engine, wanted: Wanted) -> TablePlan:
    told, proven = _told_by_statistics(read, engine, wanted)
    return replace(
        read.plan,
        mode=read.choice.mode.value,
        mode_reason=read.choice.reason,
        mode_advice=read.choice.advice,
        reads=read.shares,
        statistics=told,
        proven=proven,
    )


def _told_by_statistics(
    read: TableRead, engine: Engine, wanted: Wanted
) -> tuple[str, frozenset[str]]:
    """What file statistics decide of the rules that are evaluated over the whole table.

    In words, which say why if they cannot be used, and the rules that they decide.
    """
    if not read.whole:
        return "", frozenset()
    plan = part_of(read.plan, read.whole, Mode.SNAPSHOT, "")
    said: list[StepDone] = []
    proof = wanted.prover(engine, said.append).prove(plan, None)
    if proof is None:
        prefix = f"{plan.pinned.table}: "
        return "; ".join(step.text.removeprefix(prefix) for step in said), frozenset()
    proof.release()
    return proof.told(plan), proof.proven
