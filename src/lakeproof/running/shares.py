"""The share that each rule of a table has in its read: nothing, the changes, or all, and why."""

from __future__ import annotations

from dataclasses import replace

from lakeproof.engines.engine import ChangeSource
from lakeproof.model.reading import Mark, Mode, Readable, Reading
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.clock import user_sql_of
from lakeproof.planning.columns_read import columns_read, parent_columns_read
from lakeproof.planning.read_mode import Part, Share
from lakeproof.planning.shapes import shapes_of
from lakeproof.planning.withholding import is_withheld
from lakeproof.running.reads import TableRead
from lakeproof.state.store import RuleProgress

_WITHHELD = "its numbers may show what is sensitive, and are not kept"


class Shares:
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
        self._shapes = shapes_of(read.plan)
        self._readings: dict[tuple[int, Mark], Reading] = {}

    def add(self, rule_id: str) -> None:
        share = self._share(rule_id)
        self._found.setdefault(share, []).append(rule_id)

    def grouped(self) -> list[Share]:
        return [replace(share, rule_ids=tuple(ids)) for share, ids in self._found.items()]

    def _share(self, rule_id: str) -> Share:
        known, kind = self._read.progress.get(rule_id), self._kinds.get(rule_id)
        repeated = self._repeated(known, kind) if known is not None else None
        if repeated is not None:
            return repeated
        if kind is None:
            return self._evaluated_whole(rule_id, known)
        if kind is WeighKind.REFERENCE and rule_id not in self._read.parents:
            return Share(Part.WHOLE, (), "the table that it refers to has no change feed")
        if self._read.choice.mode is Mode.WATERMARK and not self._can_be_rechecked(rule_id, kind):
            return Share(Part.WHOLE, (), "a watermark does not show when its bad rows are mended")
        return self._weighed(rule_id, kind, known)

    def _repeated(self, known: RuleProgress, kind: WeighKind | None) -> Share | None:
        """What a run does with a rule that itself or a newer one has committed; None if neither."""
        if self._batch is not None and known.batch_seq > self._batch:
            return Share(Part.WHOLE, (), "a newer run has moved on; this repeats an older one")
        if not self._is_ours(known):
            return None
        is_there = self._read.plan.pinned.position is not None
        if known.standing is not None and (kind is not None or not is_there):
            return Share(Part.STILL, (), "as this run has left it")
        if kind is None:
            return None
        return Share(Part.WHOLE, (), "this run has left nothing that tells it")

    def _is_ours(self, known: RuleProgress) -> bool:
        """Whether this run has committed the rule already, and is repeated.

        Its weights cannot be added a second time under one batch. What a later run that died has
        left of the rule is for another one to mend: an older batch never writes over a newer.
        """
        return self._batch is not None and known.batch_seq == self._batch

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
            if reading.outcome is Readable.SPLIT:
                reading = self._across(reading, rule_id, of_parent=source is not self._source)
            if reading.outcome is Readable.GAP:
                told = f"the whole table, rebuilt: {reading.reason}"
                return Share(Part.REBUILD, (), told, code=reading.code)
        is_still = all(_is_same(since, source.until) for source, since in steps)
        if is_still and rule_id not in self._strays:
            return Share(Part.STILL, (), _nothing_new(known.mark))
        reason = self._changes_reason(known.mark)
        return Share(Part.CHANGES, (), reason, since=known.mark)

    def _changes_reason(self, since: Mark) -> str:
        reading = self._reading(self._source, since)
        is_split = reading.outcome is Readable.SPLIT
        why = reading.reason if is_split else self._read.choice.reason
        return f"changes after {_place(since)}: {why}"

    def _across(self, reading: Reading, rule_id: str, *, of_parent: bool) -> Reading:
        """A split as it is for one rule: a gap if a column that it reads is not what it was."""
        plan = self._read.plan
        read = parent_columns_read if of_parent else columns_read
        found = reading.altered | reading.added
        # Its values are the same; what a user's SQL makes of them may hang on their type.
        rules = [rule for rule in plan.rules if rule.rule_id == rule_id]
        if any(any(user_sql_of(rule)) for rule in rules):
            found |= reading.widened
        names = sorted(read(plan, rule_id) & found)
        if not names:
            return reading
        table = f"{plan.parents[rule_id].table}: " if of_parent else ""
        told = f"{table}{reading.reason}, {', '.join(names)} among them"
        return Reading(Readable.GAP, "schema_changed", told)

    def _why_anew(self, rule_id: str, kind: WeighKind, known: RuleProgress | None) -> str:
        """Why what is kept of the rule does not tell how it stands; '' if it does."""
        read = self._read
        if known is None or known.mark is None:
            return "the first run of this rule"
        if known.standing is None:
            return "what was kept of it no longer counts"
        if rule_id in read.parents and known.parent is None:
            return "the first run of this rule"
        is_unindexed = kind is not WeighKind.COUNT and not known.generation
        reasons = {
            f"the rule was read by {known.mode} before": known.mode is not read.choice.mode
            or is_unindexed,
            "the key of the table, its types, what is sensitive in it, or how this version keeps "
            "keys has changed": known.shape != self._shapes.get(rule_id),
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
