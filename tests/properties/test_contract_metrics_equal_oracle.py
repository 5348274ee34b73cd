"""Every metric of ODCS with every operator, unit and reading says what a plain oracle says."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import asdict
from fractions import Fraction

import pytest
from generated_contracts import TEXT, Asked, ContractMaker
from generated_tables import CASE, CLOCK, POOLS, SEEDS, TABLE, arrange_rows
from hypothesis import HealthCheck, Phase, given, settings
from test_checks_equal_oracle import code_generation, write_table

import lakeproof
from lakeproof.api import RunOutcome
from lakeproof.config import CONTRACT_CHOICES, Config, ContractSettings
from oracle.odcs import Switches, Table, expect
from spark_settings import under

CASES = 3
RUNS = 1
TEXTS = ["a", "A", "a ", "N/A", "n/a", "ab", ""]
# The first as it comes, the second with everything the other way, the third with the third number.
READINGS = [
    Switches(),
    Switches("rows", "open", "listed", "full", "pass"),
    Switches("surplus", "closed", "listed", "full", "skip"),
]


def test_the_readings_hold_every_choice():
    for name, words in CONTRACT_CHOICES.items():
        assert {getattr(switches, name) for switches in READINGS} == set(words)


@pytest.mark.parametrize(
    ("duplicates", "count", "percent"),
    [("values", 2, "100/3"), ("rows", 5, "250/3"), ("surplus", 3, "50")],
)
def test_the_oracle_has_the_three_numbers_that_tools_were_seen_to_give(duplicates, count, percent):
    table = Table({"n": "int"}, [{"n": value} for value in (1, 1, 1, 2, 2, None)])
    rule = {"metric": "duplicateValues", "mustBe": count}
    switches = Switches(duplicates=duplicates)
    assert expect(rule, "n", table, switches).status == "passed"
    share = expect({**rule, "unit": "percent"}, "n", table, switches)
    assert share.number == Fraction(percent)


@pytest.mark.parametrize("switches", READINGS, ids=lambda one: f"duplicates-{one.duplicates}")
@settings(
    max_examples=RUNS,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start hundreds of runs
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(pools=POOLS, seed=SEEDS.filter(bool))  # with 0 comes the dullest of all examples
def test_every_metric_operator_and_unit_equals_the_oracle(spark, switches, pools, seed):
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    pools = {**pools, TEXT: [*pools[TEXT][:3], *chance.sample(TEXTS, 4)]}
    rows = arrange_rows(pools, chance, CASES)
    cases = [[row for row in rows if row[CASE] == case] for case in range(CASES)]
    maker = ContractMaker(pools, [*cases, []], switches, chance)
    asked = maker.ask()
    write_table(spark, rows)
    everything = spark.table(f"iceberg.lakehouse.{TABLE}")
    frames = {f"t{case}": everything.where(f"{CASE} = {case}") for case in range(CASES + 1)}
    contract = maker.contract()
    given_as = contract if switches.empty_percent == "skip" else json.dumps(contract)
    with under(spark, code_generation(compiled=False)):
        outcome = lakeproof.run(
            spark,
            lakeproof.load_contract(given_as),
            tables=frames,
            config=Config(contracts=ContractSettings(**asdict(switches))),
            clock=lambda: CLOCK,
        )
        found = [*answers_that_differ(outcome, asked), *rows_that_differ(outcome, asked)]
    assert len(asked) > 1000
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:12])


def answers_that_differ(outcome: RunOutcome, asked: list[Asked]) -> list[str]:
    """Each rule's status, number, failing rows, recorded choices; one result for each rule."""
    results = {
        result.declared["id"]: result
        for result in outcome.results
        if result.declared["origin"] == "quality"
    }
    assert list(results) == [one.raw["id"] for one in in_file_order(asked)]
    found = []
    for one in asked:
        result, expected = results[str(one.raw["id"])], one.expected
        got = {
            "status": result.status.value,
            "number": result.measure,
            "failing": result.failing_rows,
            "choices": {name: result.declared.get(name) for name in CONTRACT_CHOICES},
        }
        wanted = {
            "status": expected.status,
            "number": None if expected.number is None else float(expected.number),
            "failing": expected.failing_rows,
            "choices": {name: expected.choices.get(name) for name in CONTRACT_CHOICES},
        }
        if got != wanted or not expected.numbers.items() <= result.measures.items():
            found.append(f"{one}\n  oracle {wanted}\n  run    {got}\n  {result.details}")
        elif expected.about not in result.details:
            found.append(f"{one}\n  reason {result.details!r} is not about {expected.about!r}")
    return found


def rows_that_differ(outcome: RunOutcome, asked: list[Asked]) -> list[str]:
    """The rows that are shown are those the oracle counts, for the rules that bound them above."""
    values: dict[str, int] = defaultdict(int)
    occurrences: dict[str, int] = defaultdict(int)
    for hit in outcome.violations().collect():
        for name in hit.rules:
            values[name] += 1
            occurrences[name] += hit.occurrences
    found = []
    for one in asked:
        name, expected = f"generated/{one.raw['id']}", one.expected
        is_key = bool(expected.numbers)  # of a key each value is listed once
        listed = values[name] if is_key else occurrences[name]
        if (listed, occurrences[name]) != (expected.listed, expected.occurrences):
            found.append(f"{one}\n  shown {listed} for {occurrences[name]} rows")
    return found


def in_file_order(asked: list[Asked]) -> list[Asked]:
    """An object's own rules come before those of its properties."""
    by_place: dict[tuple[str, str], list[Asked]] = defaultdict(list)
    for one in asked:
        by_place[one.owner, one.column].append(one)
    places = sorted(by_place, key=lambda place: (place[0], int(place[1][1:] or -1)))
    return [one for place in places for one in by_place[place]]
