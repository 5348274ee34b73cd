"""Random pipelines over random datasets, honest or with one fault; a seed makes one of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from generated_datasets import NUMBER_TEXTS, TEXTS, Dataset, DatasetMaker

from oracle.conditions import (
    COMPARISONS,
    Condition,
    both,
    compare,
    either,
    is_null,
    is_true,
    negation,
)
from oracle.ledger_books import (
    Demand,
    Explode,
    Fate,
    Filter,
    Forge,
    Group,
    Keep,
    Lose,
    Repeat,
    Row,
    Step,
    Validate,
    fates_of,
)

FOREIGN = "never seen"
IN_THE_PIPELINE = ("lose", "repeat", "forge", "forget")
ON_STORAGE = ("drop", "double", "foreign", "replace", "move", "swap", "copy")
FAULTS = (*IN_THE_PIPELINE, *ON_STORAGE)
TYPES = ("OUTPUT", "FILTERED", "ERROR", "AGGREGATED")
NAMES = ("check", "filter_0", "filter_1", "apart", "tagged", "sums", "rest")
"""What overlaps may name: with types, a record in two filters is none, with their names it is."""


@dataclass(frozen=True)
class Pipeline:
    """What is run and how; `fault` names what is done to it, "" for nothing."""

    seed: int
    dataset: Dataset
    steps: tuple[Step, ...]
    level: str
    lineage: str
    key_uniqueness: str
    fault: str = ""
    overlap_max: int | None = None
    overlap_names: tuple[str, ...] = ()

    @property
    def fates(self) -> list[Fate]:
        return fates_of(self.dataset.rows, self.steps)

    def __str__(self) -> str:
        names = ", ".join(type(step).__name__ for step in self.steps)
        return (
            f"seed {self.seed}: {self.dataset.format} of {len(self.dataset.rows)} by "
            f"{'+'.join(self.dataset.key)} {self.key_uniqueness}, {self.level} {self.lineage}, "
            f"{names}; fault: {self.fault or 'none'}"
        )


def pipeline_of(seed: int) -> Pipeline:
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    has_copies = chance.random() < 0.3
    dataset = DatasetMaker(chance, has_copies=has_copies).dataset()
    # In turn, so that forty pipelines in a row have them all, and as many have none.
    fault = FAULTS[seed // 2 % len(FAULTS)] if seed % 2 else ""
    steps = _steps(chance, dataset)
    if fault in IN_THE_PIPELINE:
        steps = with_fault(chance, fault, steps, dataset.rows)
    choices = ["allow", "assume", "require"] if has_copies else ["require", "require", "allow"]
    return Pipeline(
        seed=seed,
        dataset=dataset,
        steps=tuple(steps),
        level=chance.choice(["COMMIT", "COMMIT", "COMMIT", "COUNT"]),
        lineage=chance.choice(["FULL", "KEY_DERIVABLE", "NONE"]),
        key_uniqueness=chance.choice(choices),
        fault=fault,
        overlap_max=chance.choice([None, 1, 2, 5]) if fault == "copy" else None,
        overlap_names=chance.choice([TYPES, NAMES]),
    )


def _steps(chance: random.Random, dataset: Dataset) -> list[Step]:
    columns = set(dataset.kinds)
    steps: list[Step] = []
    if chance.random() < 0.7:
        steps.append(Validate("check", _demands(chance)))
    steps += [Filter(f"filter_{at}", _condition(chance)) for at in range(chance.randint(0, 2))]
    if "tags" in columns and chance.random() < 0.4:
        steps.insert(chance.randint(0, len(steps)), Explode("apart", "tags"))
        steps.append(Filter("tagged", compare("tags", "=", "a")))
    if chance.random() < 0.6:
        grouped = chance.sample(["n", "text", "flag"], k=chance.randint(0, 2))
        steps.append(Group("sums", tuple(grouped)))
    else:
        steps.append(Keep("rest"))
    return steps


def with_fault(
    chance: random.Random, fault: str, steps: Sequence[Step], rows: Sequence[Row]
) -> list[Step]:
    """The steps with a silent one among them, or with a filter that captures nothing."""
    changed = list(steps)
    if fault == "forget":
        changed.insert(0, Filter("forgotten", _condition(chance), is_captured=False))
        return changed
    position, live = chance.randint(0, len(steps) - 1), list(rows)
    for step in steps[:position]:
        live, _ = step.take(live)
    if live:
        key = chance.choice(live).key
        made = {"lose": Lose(key), "repeat": Repeat(key), "forge": Forge(key, FOREIGN)}
        changed.insert(position, made[fault])
    return changed


# ------------------------------------------------------------------------------------ conditions


def _condition(chance: random.Random, depth: int = 2) -> Condition:
    kind = chance.choice(["leaf", "leaf", "not", "and", "or"]) if depth else "leaf"
    if kind == "leaf":
        return _leaf(chance)
    one = _condition(chance, depth - 1)
    if kind == "not":
        return negation(one)
    join = both if kind == "and" else either
    return join(one, _condition(chance, depth - 1))


def _leaf(chance: random.Random) -> Condition:
    leaves = (
        compare("n", chance.choice(COMPARISONS), chance.randint(-1, 6)),
        compare("text", chance.choice(COMPARISONS), chance.choice(TEXTS)),
        is_null("n"),
        is_true("flag"),
    )
    return chance.choice(leaves)


IS_NUMBER = Condition("try_cast(text AS INT) IS NOT NULL", lambda row: row["text"] in NUMBER_TEXTS)
DIVIDES = Condition("10 / (n + 7) > 1", lambda row: 10 / (row["n"] + 7) > 1)  # type: ignore[operator]


def _demands(chance: random.Random) -> tuple[Demand, ...]:
    known = (
        (Demand("number", IS_NUMBER, "type_cast", "NOT_A_NUMBER"),),
        (Demand("flag_known", negation(is_null("flag")), "null", "FLAG_MISSING"),),
        (Demand("rule", _condition(chance), "validation", "RULE"),),
        # The second raises where n is -7, unless rows that the first refuses are left alone.
        # No filter asks for that very value: Spark would put it into the division itself.
        (
            Demand("divisor", compare("n", "<>", -7), "validation", "NO_DIVISOR"),
            Demand("divides", DIVIDES, "refinement", "TOO_LARGE"),
        ),
    )
    return tuple(one for some in chance.sample(known, k=chance.randint(0, 2)) for one in some)
