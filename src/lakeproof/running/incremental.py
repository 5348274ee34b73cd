"""Rules that stand on changes: what the changes weigh, added to what was known.

For each table the weights go into the key index, the keys they touch into the violations; the
numbers add up to a new standing, and that is what the rule is judged by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from lakeproof.errors import LakeproofError, error_text
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import KeyTotals, Standing
from lakeproof.model.weighing import WeighKind
from lakeproof.planning.parts import part_of
from lakeproof.planning.read_mode import Part
from lakeproof.planning.shapes import shapes_of
from lakeproof.running.findings import TableFindings
from lakeproof.running.standings import standing_findings
from lakeproof.running.weigher import WeighedTable
from lakeproof.state.store import Batch, Move, RuleProgress, Store, Weighed


def put_into_index(
    found: WeighedTable, store: Store, batch: Batch, run_id: str, now: datetime
) -> None:
    """Add the weights to the key index, and what open violations amount to to the standings."""
    gaps = [name for share in found.read.of(Part.REBUILD) if share.code for name in share.rule_ids]
    unsure = [name for name in gaps if name in found.read.progress and name not in found.errors]
    if unsure:
        store.mark_unknown(batch, run_id, unsure, now)
    source = found.read.source
    if source is not None and found.kept is not None:
        kept = found.kept
        store.keep(batch, found.read.kept_id, kept.relation, is_rebuilt=kept.is_snapshot)
    weighed = [one for one in found.weighed if one.rule_id not in found.errors]
    found.weighed = weighed
    if not weighed:
        return
    try:
        views = [*found.views, *found.tile_views]
        found.touched = store.add_weights(batch, run_id, weighed, views)
    except LakeproofError:
        raise
    except Exception as problem:  # noqa: BLE001 (keys are computed here; what breaks is theirs)
        found.errors.update(dict.fromkeys((one.rule_id for one in weighed), error_text(problem)))
        return
    for one in weighed:
        standing = found.standings[one.rule_id]
        totals = found.touched.totals.get(one.rule_id, KeyTotals())
        grown = replace(standing, keys=standing.keys + totals)
        found.standings[one.rule_id] = grown.capped_at(store.max_hits)
    for one in weighed:
        told = found.touched.problems.get(one.rule_id, "")
        told = told or _imbalance(one, found.standings[one.rule_id])
        if told:
            found.errors[one.rule_id] = (
                f"its kept state does not add up ({told}). The next run builds it anew"
            )
            found.drifted.add(one.rule_id)


def put_into_violations(
    found: WeighedTable, store: Store, batch: Batch, run_id: str, now: datetime
) -> None:
    """Assign the violations of the keys that were touched."""
    weighed = [
        replace(one, is_capped=found.standings[one.rule_id].is_capped)
        for one in found.weighed
        if one.rule_id not in found.errors
    ]
    if weighed and found.touched is not None:
        news = store.assign_touched(batch, run_id, weighed, found.touched, now)
        anew = {one.rule_id for one in weighed if one.is_rebuilt}
        found.news = {
            name: grown_by(found.read.progress.get(name), found.standings[name].keys.hits, count)
            if name in anew
            else count
            for name, count in news.items()
        }


def grown_by(known: RuleProgress | None, hits: int, counted_new: int) -> int:
    """New violations of a rule that was assigned as a whole.

    If not all that it had before were stored, those left out cannot be told from new ones: then it
    is by how many it has grown.
    """
    before = known.standing if known is not None else None
    if before is None or not before.is_capped:
        return counted_new
    return max(0, hits - before.keys.hits)


def findings_of(
    found: WeighedTable,
    now: datetime,
    samples: Mapping[str, tuple[str, ...]],
    previous: Mapping[str, float],
) -> Iterable[TableFindings]:
    """What is known of each share's rules, as a verdict needs it."""
    mode = found.read.choice.mode.value
    for share in found.read.of(Part.STILL, Part.CHANGES, Part.REBUILD):
        part = part_of(found.read.plan, share.rule_ids, mode, share.reason)
        standings = {
            name: found.standings[name] for name in share.rule_ids if name not in found.errors
        }
        table = standing_findings(part, now, standings, samples, previous)
        table.errors.update(
            {name: found.errors[name] for name in share.rule_ids if name in found.errors}
        )
        table.seconds.update(found.seconds)
        yield table


def moves_of(found: WeighedTable, suite: str) -> list[Move]:
    """Where the rules come to stand; one in error stays where it was."""
    read, source = found.read, found.read.source
    if source is None:
        return []
    keys = {rule.rule_id: rule.key for rule in read.plan.rules}
    generations = found.touched.generations if found.touched is not None else {}
    shapes = shapes_of(read.plan)
    moves = []
    for name in found.moved:
        known, parent = read.progress.get(name), read.parents.get(name)
        standing = found.standings[name]
        move = moved(known, name, read.choice.mode, source.until, standing, keys[name], suite)
        moves.append(
            replace(
                move,
                generation=generations.get(name, move.generation),
                parent=parent.until if parent is not None else None,
                shape=shapes[name],
                watermark_col=read.watermark_column,
            )
        )
    for name in sorted(found.drifted):
        known = read.progress.get(name)
        if known is not None and known.mark is not None:  # without a standing it is built anew
            moves.append(moved(known, name, known.mode, known.mark, None, keys[name], suite))
    if source.kept_id and found.kept is not None:
        moves.append(moved(read.kept, read.kept_id, read.choice.mode, source.until, None, "", ""))
    return moves


def moved(
    known: RuleProgress | None,
    rule_id: str,
    mode: Mode,
    mark: Mark,
    standing: Standing | None,
    rule_key: str,
    suite: str,
) -> Move:
    """A move from where the rule stands; its generation of the index stays what it was."""
    return Move(
        rule_id=rule_id,
        mode=mode,
        mark=mark,
        standing=standing,
        generation=known.generation if known else 0,
        rule_key=rule_key,
        suite=suite,
        previous=known.batch_seq if known else 0,
    )


def _imbalance(weighed: Weighed, standing: Standing) -> str:
    """What is wrong with the numbers of a rule, or ''.

    Bad rows are counted twice, by a sum over rows and by the sum of their keys' weights.
    """
    keys, bad = standing.keys, standing.elements or standing.bad
    if min(keys.hits, keys.occurrences, keys.excess, standing.scope, standing.bad) < 0:
        return "a count below zero"
    if weighed.kind is WeighKind.ROW and bad != keys.excess:
        return f"{bad} bad rows and {keys.excess} in its key index"
    return ""
