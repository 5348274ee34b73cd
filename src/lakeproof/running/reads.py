"""What each rule of a run reads: nothing, the changes, or the whole table, and why.

Decided by metadata and committed progress, before a row is read. A gap in a feed is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lakeproof.config import TableSettings
from lakeproof.engines.engine import ChangeSource, Engine
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mark, Mode, Readable, Reading
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.parts import part_of
from lakeproof.planning.plan import Plan, TablePlan
from lakeproof.planning.read_mode import AUTO, Choice, Part, Share, choose_mode
from lakeproof.planning.tables import PinnedTable
from lakeproof.planning.weights import shape_of
from lakeproof.planning.withholding import is_withheld
from lakeproof.running.progress import Listener, ignore
from lakeproof.running.proving import Prover, Proving
from lakeproof.state.store import RuleProgress, Store

_WITHHELD = "its numbers may show what is sensitive, and are not kept"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asks of reading: a mode for every table, and whether it may fall back.

    `rebuild` names rules, by rule_key, whose state is to be built anew; `proving` says what may be
    left unread.
    """

    settings_of: Callable[[TableName], TableSettings] = lambda _table: TableSettings()
    mode: str = AUTO
    require_incremental: bool = False
    rebuild: frozenset[str] = frozenset()
    proving: Proving = field(default_factory=Proving)

    def mode_of(self, table: TableName) -> str:
        return self.settings_of(table).mode if self.mode == AUTO else self.mode

    def prover(self, engine: Engine, listener: Listener) -> Prover:
        return Prover(engine, self.proving, self.settings_of, listener)


@dataclass(frozen=True, slots=True)
class TableRead:
    """How one table is read.

    `source` is None where it is read whole; `parents` are the sources of the tables that its rules
    refer to, by rule_id. `kept` is up to where rows were kept under `kept_id`, for a source that
    keeps them, and `watermark_column` the one that is declared, in mode watermark.
    """

    plan: TablePlan
    choice: Choice
    progress: Mapping[str, RuleProgress]
    shares: tuple[Share, ...] = ()
    source: ChangeSource | None = None
    parents: Mapping[str, ChangeSource] = field(default_factory=dict)
    kept_id: str = ""
    kept: RuleProgress | None = None
    watermark_column: str = ""

    @property
    def whole(self) -> tuple[str, ...]:
        return tuple(name for share in self.of(Part.WHOLE) for name in share.rule_ids)

    def of(self, *parts: Part) -> list[Share]:
        return [share for share in self.shares if share.part in parts]

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why each rule is read as it is, by rule_id."""
        return {name: share.reason for share in self.shares for name in share.rule_ids}

    @property
    def is_still(self) -> bool:
        """Whether no rule of the table has anything to read."""
        return all(share.part is Part.STILL for share in self.shares)

    def release(self) -> None:
        for source in {id(one): one for one in self.parents.values()}.values():
            source.release()
        if self.source is not None:
            self.source.release()


def read_whole(plan: TablePlan) -> TableRead:
    """The read of a table in a run that keeps nothing."""
    ids = tuple(dict.fromkeys(rule.rule_id for rule in plan.rules))
    share = Share(Part.WHOLE, ids, plan.mode_reason)
    return TableRead(plan, Choice(Mode.SNAPSHOT, plan.mode_reason), {}, (share,))


@dataclass(frozen=True, slots=True)
class ReadPlanner:
    """Decides for the tables of a plan. Without `store` no rule has ever run."""

    engine: Engine
    store: Store | None
    wanted: Wanted = field(default_factory=Wanted)
    suite: str = ""

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
        shares = _Shares(read, batch, self.wanted.rebuild, strays, most)
        for name in ids:
            shares.add(name)
        decided = replace(read, shares=tuple(shares.grouped()))
        if self.wanted.require_incremental:
            _refuse_rebuilds(decided)
        return decided

    def _choice(self, plan: TablePlan, known: Iterable[RuleProgress]) -> Choice:
        table = plan.pinned.table
        settings = self.wanted.settings_of(table)
        abilities = self.engine.abilities(plan.pinned, settings)
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
        source = self.engine.change_source(pinned, mode, settings, None)
        if not source.kept_id or self.store is None:
            return source
        kept = self.store.kept(self._kept_id(source))
        return self.engine.change_source(pinned, mode, settings, kept)

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
                    pinned.position is not None and self.engine.abilities(pinned, settings).has_feed
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


class _Shares:
    """Puts each rule of a table into its share; rules that are read alike share one."""

    def __init__(
        self,
        read: TableRead,
        batch: int | None,
        asked: frozenset[str],
        strays: frozenset[str],
        max_hits: int | None,
    ) -> None:
        assert read.source is not None  # noqa: S101 (only incremental tables get here)
        self._read = read
        self._source = read.source
        self._batch = batch
        self._asked = asked
        self._strays = strays
        self._max_hits = max_hits
        self._found: dict[Share, list[str]] = {}
        secret = {rule.rule_id for rule in read.plan.rules if is_withheld(rule, read.plan)}
        self._kinds = {
            name: kind
            for name, kind in read.plan.weighed.items()
            if kind is not WeighKind.COUNT or name not in secret
        }
        self._whole_reasons = read.plan.whole_reasons
        self._rechecked = read.plan.rechecked
        self._readings: dict[tuple[int, Mark], Reading] = {}

    def add(self, rule_id: str) -> None:
        share = self._share(rule_id)
        self._found.setdefault(share, []).append(rule_id)

    def grouped(self) -> list[Share]:
        return [replace(share, rule_ids=tuple(ids)) for share, ids in self._found.items()]

    def _share(self, rule_id: str) -> Share:
        known = self._read.progress.get(rule_id)
        if known is not None and self._batch is not None and known.batch_seq > self._batch:
            return Share(Part.WHOLE, (), "a newer run has moved on; this repeats an older one")
        if known is not None and self._is_settled(known):
            return Share(Part.STILL, (), "as this run has left it")
        kind = self._kinds.get(rule_id)
        if kind is None:
            return self._evaluated_whole(rule_id, known)
        if kind is WeighKind.REFERENCE and rule_id not in self._read.parents:
            return Share(Part.WHOLE, (), "the table that it refers to has no change feed")
        if self._read.choice.mode is Mode.WATERMARK and not self._can_be_rechecked(rule_id, kind):
            return Share(Part.WHOLE, (), "a watermark does not show when its bad rows are mended")
        return self._weighed(rule_id, kind, known)

    def _is_settled(self, known: RuleProgress) -> bool:
        """Whether this run has committed the rule on a table that cannot be read again."""
        is_ours = known.batch_seq == self._batch and known.standing is not None
        return is_ours and self._read.plan.pinned.position is None

    def _can_be_rechecked(self, rule_id: str, kind: WeighKind) -> bool:
        return kind is WeighKind.COUNT or rule_id in self._rechecked

    def _evaluated_whole(self, rule_id: str, known: RuleProgress | None) -> Share:
        """A rule that changes do not decide; where nothing moved, it stands all the same."""
        pinned = self._read.plan.pinned
        here = Mark(pinned.table_id, pinned.position)
        is_same = pinned.position is not None and known is not None and known.mark == here
        if is_same and self._may_rest(rule_id, known) and rule_id not in self._strays:
            return Share(Part.STILL, (), _nothing_new(here))
        return Share(Part.WHOLE, (), self._whole_reasons.get(rule_id, _WITHHELD))

    def _may_rest(self, rule_id: str, known: RuleProgress | None) -> bool:
        """Whether nothing but its table can change what the rule says."""
        plan, standing = self._read.plan, known.standing if known else None
        if standing is None or rule_id not in plan.alone or standing.fits_again(self._max_hits):
            return False
        return rule_id not in plan.clocked or (rule_id in plan.mending and not standing.bad)

    def _weighed(self, rule_id: str, kind: WeighKind, known: RuleProgress | None) -> Share:
        why = self._why_anew(rule_id, kind, known)
        if known is None or known.mark is None or why:
            return Share(Part.REBUILD, (), f"the whole table: {why}")
        steps = [(self._source, known.mark)]
        if known.parent is not None and rule_id in self._read.parents:
            steps.append((self._read.parents[rule_id], known.parent))
        for source, since in steps:
            reading = self._reading(source, since)
            if reading.outcome is Readable.GAP:
                told = f"the whole table, rebuilt: {reading.reason}"
                return Share(Part.REBUILD, (), told, code=reading.code)
        is_still = all(_is_same(since, source.until) for source, since in steps)
        if is_still and rule_id not in self._strays:
            return Share(Part.STILL, (), _nothing_new(known.mark))
        reason = f"changes after {_place(known.mark)}: {self._read.choice.reason}"
        return Share(Part.CHANGES, (), reason, since=known.mark)

    def _why_anew(self, rule_id: str, kind: WeighKind, known: RuleProgress | None) -> str:
        """Why what is kept of the rule does not tell how it stands; '' if it does."""
        read = self._read
        if known is None or known.mark is None or known.standing is None:
            return "the first run of this rule"
        if rule_id in read.parents and known.parent is None:
            return "the first run of this rule"
        is_unindexed = kind is not WeighKind.COUNT and not known.generation
        reasons = {
            f"the rule was read by {known.mode} before": known.mode is not read.choice.mode
            or is_unindexed,
            "the key of the table, its types or what is sensitive in it have changed": known.shape
            != shape_of(read.plan, rule_id),
            "all its violations may be stored again": known.standing.fits_again(self._max_hits),
            "its rows were kept by a run that this rule did not finish": bool(self._source.kept_id)
            and not _stands_where_kept(known, read.kept),
            "it was asked for": any(
                rule.key in self._asked for rule in read.plan.rules if rule.rule_id == rule_id
            ),
        }
        return next((why for why, holds in reasons.items() if holds), "")

    def _reading(self, source: ChangeSource, since: Mark) -> Reading:
        asked = (id(source), since)
        if asked not in self._readings:
            self._readings[asked] = source.can_read(since)
        return self._readings[asked]


def _stands_where_kept(known: RuleProgress, kept: RuleProgress | None) -> bool:
    """Kept rows are those of one point; a rule that stands elsewhere cannot be told by them."""
    if kept is None:
        return False
    if kept.mark is not None and kept.mark.position is not None:
        return known.mark == kept.mark
    return (known.batch_seq, known.epoch) == (kept.batch_seq, kept.epoch)


def _is_same(since: Mark, until: Mark) -> bool:
    """Whether nothing lies between; a table without history is never known to stand still."""
    return until.position is not None and since == until


def _place(mark: Mark) -> str:
    return str(mark.position if mark.watermark is None else mark.watermark)


def _nothing_new(mark: Mark) -> str:
    return f"nothing new since {_place(mark)}"


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
    return replace(
        plan,
        tables=tuple(
            replace(
                read.plan,
                mode=read.choice.mode.value,
                mode_reason=read.choice.reason,
                mode_advice=read.choice.advice,
                reads=read.shares,
                statistics=_told_by_statistics(read, engine, wanted),
            )
            for read in reads
        ),
    )


def _told_by_statistics(read: TableRead, engine: Engine, wanted: Wanted) -> str:
    """What file statistics decide of the rules that are evaluated over the whole table."""
    if not read.whole:
        return ""
    plan = part_of(read.plan, read.whole, Mode.SNAPSHOT, "")
    proof = wanted.prover(engine, ignore).prove(plan, None)
    if proof is None:
        return ""
    proof.release()
    return proof.told(plan)
