"""What the changes of a table weigh, read once for all its rules that stand on changes.

A rebuild is the same over every row of the table.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lakeproof.engines.engine import ChangeSource, Engine, Rows, Weights
from lakeproof.errors import RuleTimeoutError, error_text
from lakeproof.model.printable import counted
from lakeproof.model.reading import Mark, Mode, Readable
from lakeproof.model.standing import Standing
from lakeproof.model.weighing import Resolution, WeighKind
from lakeproof.planning.parts import part_of
from lakeproof.planning.read_mode import Part, Share
from lakeproof.planning.weights import numbers_of
from lakeproof.running.findings import TableFindings
from lakeproof.running.progress import Listener, StepDone
from lakeproof.running.reads import TableRead, Wanted
from lakeproof.running.standings import standings_of
from lakeproof.running.time_budget import TimeBudget
from lakeproof.state.store import RuleProgress, Store, Touched, Weighed


@dataclass(slots=True)
class WeighedTable:
    """What a run knows of the rules of one table that stand on changes.

    `standings` grow from step to step: first what the rows weigh, then what the keys amount to.
    `proven` are rules that file statistics have told, without a row.
    """

    read: TableRead
    standings: dict[str, Standing] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    weighed: list[Weighed] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    tile_views: list[str] = field(default_factory=list)
    kept: Rows | None = None
    missed: int | None = None
    held: ExitStack = field(default_factory=ExitStack)
    touched: Touched | None = None
    drifted: set[str] = field(default_factory=set)
    proven: set[str] = field(default_factory=set)
    news: Mapping[str, int] = field(default_factory=dict)

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The rules that are not evaluated over the whole table."""
        parts = self.read.of(Part.STILL, Part.CHANGES, Part.REBUILD)
        return tuple(name for share in parts for name in share.rule_ids)

    @property
    def resting(self) -> tuple[str, ...]:
        """The rules that list violations and have nothing new to say of them."""
        names = (name for share in self.read.of(Part.STILL) for name in share.rule_ids)
        return tuple(name for name in names if name in self.read.plan.listable)

    @property
    def moved(self) -> tuple[str, ...]:
        """The rules that have come further in this run and are not in error."""
        parts = self.read.of(Part.CHANGES, Part.REBUILD)
        names = (name for share in parts for name in share.rule_ids)
        return tuple(name for name in names if name not in self.errors)

    def release(self) -> None:
        """What was computed from something goes before it: Spark plans anew what outlives that."""
        if self.touched is not None:
            self.touched.release()
        self.held.close()
        self.read.release()


@dataclass(frozen=True, slots=True)
class Weigher:
    """Weighs the changes of tables; what one rule raises is its own error.

    Rules whose changes cannot be weighed are read whole, unless that is not `wanted`.
    """

    engine: Engine
    budget: TimeBudget
    listener: Listener
    wanted: Wanted

    def weigh(self, read: TableRead) -> WeighedTable:
        """Read what changed, once for all rules that stand at one mark.

        Rules whose changes cannot be weighed are built anew: what broke may be mended by now, and
        is for ever in the changes since.
        """
        found = WeighedTable(read)
        for share in read.of(Part.STILL):
            for name in share.rule_ids:
                found.standings[name] = _kept_standing(read.progress[name])
        for share in read.of(Part.CHANGES):
            failed = self._weigh_share(found, share)
            if failed and not self.wanted.require_incremental:
                self._weigh_anew(found, share, failed)
            else:
                found.errors.update(failed)
        rebuilt = read.of(Part.REBUILD)
        if rebuilt:  # one look at all rows, whatever the reasons
            names = tuple(name for share in rebuilt for name in share.rule_ids)
            whole = replace(rebuilt[0], rule_ids=names)
            self._take_proven(found, whole)
            left = tuple(name for name in names if name not in found.proven)
            if left:
                found.errors.update(self._weigh_share(found, replace(whole, rule_ids=left)))
        return found

    def _take_proven(self, found: WeighedTable, share: Share) -> None:
        """Rules that begin anew and that file statistics decide need no row: none is bad."""
        read, kinds = found.read, found.read.plan.weighed
        names = [n for n in share.rule_ids if kinds[n] in {WeighKind.ROW, WeighKind.COUNT}]
        if read.choice.mode is not Mode.CDF or not names:
            return
        started = time.monotonic()
        part = part_of(read.plan, names, Mode.SNAPSHOT, "")
        prover = self.wanted.prover(self.engine, self.listener)
        proof = prover.prove(part, self.budget.for_action())
        if proof is None:
            return
        proof.release()
        known = part_of(part, sorted(proof.proven), Mode.SNAPSHOT, "")
        told = TableFindings(known, datetime.now(UTC), values=dict(proof.decided.values))
        seconds = time.monotonic() - started
        for name, standing in standings_of(told).items():
            if standing is None:
                continue
            found.proven.add(name)
            found.standings[name] = standing
            found.seconds[name] = seconds
            _note(found, share, name, kinds[name])
        found.errors.update(proof.errors)
        self.listener(StepDone(f"{part.pinned.table}: {proof.told(part)}", seconds))

    def _weigh_anew(self, found: WeighedTable, share: Share, failed: Mapping[str, str]) -> None:
        """Move rules from their share of changes into one that is built from the whole table."""
        left = replace(share, rule_ids=tuple(n for n in share.rule_ids if n not in failed))
        told = f"the whole table, rebuilt: its changes could not be weighed: {min(failed.values())}"
        anew = Share(Part.REBUILD, tuple(failed), told, code="unreadable")
        others = tuple(one for one in found.read.shares if one is not share)
        kept = (left,) if left.rule_ids else ()
        found.read = replace(found.read, shares=(*others, *kept, anew))
        found.errors.update(self._weigh_share(found, anew))

    def _weigh_share(self, found: WeighedTable, share: Share) -> dict[str, str]:
        """Weigh one share's rows; gives the rules that could not be weighed, each with why.

        Nothing of a share that breaks as a whole is left in `found`.
        """
        started = time.monotonic()
        read, source = found.read, found.read.source
        assert source is not None  # noqa: S101 (a table read whole has no such share)
        weights: list[Weights] = []
        try:
            rows = self._rows(found, source, share, share.since)
            if rows:
                limit = self.budget.for_action()
                weights.append(self.engine.weigh(read.plan, share.rule_ids, rows, limit))
                found.held.callback(weights[-1].release)
            failed = dict(weights[0].errors) if weights else {}
            names = [name for name in share.rule_ids if name not in failed]
            weights += self._weigh_parents(found, share, names)
        except RuleTimeoutError as problem:  # the whole table would only take longer
            found.errors.update(dict.fromkeys(share.rule_ids, error_text(problem)))
            return {}
        except Exception as problem:  # noqa: BLE001 (what cannot be read is its rules' error)
            return dict.fromkeys(share.rule_ids, error_text(problem))
        if rows and found.kept is None and _must_keep(found.read):
            found.kept = source.to_keep()
        for name in names:
            is_new = share.part is Part.REBUILD
            found.standings[name] = Standing() if is_new else _kept_standing(read.progress[name])
        for one in weights:
            _add(found, one)
        kinds, numbers = read.plan.weighed, numbers_of(read.plan)
        for name in names:
            _note(found, share, name, kinds[name], numbers.get(name, ""))
        if source.mode is Mode.WATERMARK and share.since is not None and names:
            found.missed = source.missed(share.since, found.standings[names[0]].rows)
        seconds = time.monotonic() - started
        found.seconds.update(dict.fromkeys(names, seconds))
        self.listener(StepDone(_told(read, share), seconds))
        return failed

    def _rows(
        self, found: WeighedTable, source: ChangeSource, share: Share, since: Mark | None
    ) -> Sequence[Rows]:
        if share.part is Part.REBUILD:
            rows: Sequence[Rows] = [source.snapshot()]
        elif since is None or source.can_read(since).outcome is Readable.EMPTY:
            rows = []
        else:
            rows = source.changes(since)
        for one in rows:
            found.held.callback(one.release)
        return rows

    def _weigh_parents(
        self, found: WeighedTable, share: Share, rule_ids: Sequence[str]
    ) -> list[Weights]:
        """The other side of rules that refer to another table: its rows that came or went."""
        read = found.read
        alike: dict[tuple[int, Mark | None], list[str]] = {}
        for name in rule_ids:
            if name in read.parents:
                known = read.progress.get(name)
                since = known.parent if known is not None else None
                alike.setdefault((id(read.parents[name]), since), []).append(name)
        weights = []
        for (_, since), names in alike.items():
            rows = self._rows(found, read.parents[names[0]], share, since)
            if rows:
                limit = self.budget.for_action()
                weights.append(self.engine.weigh_parents(read.plan, names, rows, limit))
                found.held.callback(weights[-1].release)
        return weights

    def weigh_again(self, found: WeighedTable, store: Store) -> None:
        """Of a table whose updates and deletes go unseen, count keys in violation again.

        Those that are open, and those that this run would open: a row that was updated is there
        with its new value while the old one still counts.
        """
        weighed = [one for one in found.weighed if not one.is_rebuilt]
        source = found.read.source
        if not weighed or source is None or source.mode is not Mode.WATERMARK:
            return
        again = [one.rule_id for one in weighed]
        limit = self.budget.for_action()
        try:
            view = store.known_keys(weighed, found.views)
            found.held.callback(lambda: store.forget(view))
            weights = self.engine.weigh_again(
                found.read.plan, again, view, limit, found.views, source.present()
            )
            found.held.callback(weights.release)
            _add(found, weights)
        except Exception as problem:  # noqa: BLE001 (what cannot be read is its rules' error)
            found.errors.update(dict.fromkeys(again, error_text(problem)))


def _add(found: WeighedTable, weights: Weights) -> None:
    found.errors.update({n: why for n, why in weights.errors.items() if n in found.standings})
    found.views.append(weights.view)
    if weights.tile_view:
        found.tile_views.append(weights.tile_view)
    for name, standing in weights.standings.items():
        if name in found.standings:
            found.standings[name] += standing


def _note(
    found: WeighedTable,
    share: Share,
    rule_id: str,
    kind: WeighKind,
    number_name: str = "",
) -> None:
    if kind is WeighKind.COUNT:
        return
    known = found.read.progress.get(rule_id)
    is_rebuilt = share.part is Part.REBUILD
    found.weighed.append(
        Weighed(
            rule_id=rule_id,
            kind=kind,
            generation=(known.generation if known else 0) + int(is_rebuilt),
            is_rebuilt=is_rebuilt,
            unseen_as=_why_unseen(found.read, known),
            number_name=number_name,
        )
    )


def _kept_standing(known: RuleProgress) -> Standing:
    assert known.standing is not None  # noqa: S101 (else the rule is rebuilt)
    return known.standing


def _must_keep(read: TableRead) -> bool:
    """Whether rows are to be kept; not where they are already those of this point."""
    source = read.source
    if source is None or not source.kept_id:
        return False
    is_there = read.kept is not None and read.kept.mark == source.until
    return not is_there or source.until.position is None


def _why_unseen(read: TableRead, known: RuleProgress | None) -> Resolution:
    is_other = (
        known is not None
        and known.mark is not None
        and known.mark.table_id != read.plan.pinned.table_id
    )
    return Resolution.TABLE_REPLACED if is_other else Resolution.GONE


def _told(read: TableRead, share: Share) -> str:
    word = "rebuilt" if share.part is Part.REBUILD else "read changes for"
    return f"{read.plan.pinned.table}: {word} {counted(len(share.rule_ids), 'rule')}"
