"""Every measuring check says over generated tables what a plain-Python oracle says."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from generated_tables import (
    CASE,
    CLOCK,
    MOMENTS,
    NUMERIC,
    POOLS,
    SEEDS,
    TABLE,
    TYPES,
    VALUES,
    ZONES,
    SuiteMaker,
    arrange_rows,
)
from hypothesis import HealthCheck, Phase, given, settings
from test_checks_equal_oracle import code_generation, write_table

from lakeproof import QualityCheck, run_checks
from oracle import measure_checks as oracle
from oracle.conditions import Condition, compare
from oracle.measure_checks import Answer
from oracle.spark_values import order
from spark_settings import under

RUNS = 3
CASES = 12
OWN_ACTIONS = 5
WIDE = Context(prec=60)
SCANNED = ("min", "max", "sum", "avg", "stddev", "variance", "null_share", "correlation")
ALONE = ("percentile", "median", "distinct_count", "approx_distinct_count")
LISTED = ("order", "decimal 38", "m", "x", "FLOAT", "ünï😀", "flag", "day`s", "ts", 'n"tz')


@dataclass(frozen=True)
class Asked:
    check: QualityCheck
    answer: Answer


@dataclass
class MeasureMaker:
    """Asks each case of a generated table the measuring checks, with bounds that hurt."""

    pools: dict[str, list[object]]
    rows: list[dict[str, object]]
    chance: random.Random

    def suite(self, cases: int) -> list[Asked]:
        asked = []
        for case in range(cases):
            asked += [self._aggregate(case, place, SCANNED) for place in range(4)]
            asked += [self._ratio(case), self._freshness(case), self._change(case)]
        asked += [self._aggregate(case, 9, ALONE) for case in range(OWN_ACTIONS)]
        asked += [self._value_set(case) for case in range(OWN_ACTIONS)]
        return asked

    def _scope(self, case: int) -> tuple[Condition, list[dict[str, object]]]:
        scope = compare(CASE, "=", case)
        return scope, [row for row in self.rows if scope.holds(row)]

    def _aggregate(self, case: int, place: int, functions: tuple[str, ...]) -> Asked:
        function = self.chance.choice(functions)
        columns = [self._column(function)]
        if function == "correlation":
            columns = self.chance.sample(NUMERIC, 2)
        params: dict[str, object] = {"function": function}
        if function == "percentile":
            params["percentile"] = self.chance.choice([0, 0.25, 0.5, 0.9, 1])
        scope, rows = self._scope(case)
        params |= self._bounds(function, params, columns, rows)
        answer = oracle.aggregate(params, columns, TYPES, rows)
        # With a tolerance, the rounding of doubles would decide.
        is_exact = answer.slack == 0
        return self._asked(f"{place}", "aggregate", columns, params, scope, answer, graded=is_exact)

    def _column(self, function: str) -> str:
        if function in {"min", "max"}:
            return self.chance.choice((*NUMERIC, *MOMENTS))
        if function in {"null_share", "distinct_count", "approx_distinct_count"}:
            return self.chance.choice(sorted(VALUES))
        return self.chance.choice(NUMERIC)

    def _bounds(
        self,
        function: str,
        params: dict[str, object],
        columns: list[str],
        rows: list[dict[str, object]],
    ) -> dict[str, object]:
        usual = {
            "null_share": [0, 0.25, Decimal(1) / 3, 0.5, 1],
            "distinct_count": [0, 1, 3, 7],
            "approx_distinct_count": [0, 1, 3, 7],
            "correlation": [-1, -0.5, 0, 0.5, 1],
        }.get(function, self.pools[columns[0]])
        candidates = [value for value in usual if not _is_odd(value)] or [Decimal("0.5")]
        found = oracle._aggregated(function, params, columns, TYPES, rows)
        if found.number is not None and not isinstance(candidates[0], date):
            # The value itself: a bound that is just met.
            exact = WIDE.divide(Decimal(found.number.numerator), Decimal(found.number.denominator))
            candidates += [exact] if Fraction(exact) == found.number else []
        low, high = sorted(self.chance.choices(candidates, k=2), key=_written)
        bounds = {"min_value": low, "max_value": high}
        if self.chance.random() < 0.4:
            bounds[self.chance.choice(list(bounds))] = None
        return bounds

    def _ratio(self, case: int) -> Asked:
        scope, rows = self._scope(case)
        condition = SuiteMaker(self.pools, self.chance)._condition()
        low, high = sorted(self.chance.choices([0, 0.2, 0.5, Decimal(1) / 3, 0.9, 1], k=2))
        params = {"condition": condition.sql, "min_share": low, "max_share": high}
        return self._asked("", "ratio", [], params, scope, oracle.ratio(params, condition, rows))

    def _freshness(self, case: int) -> Asked:
        scope, rows = self._scope(case)
        column = self.chance.choice(MOMENTS)
        ages = [0, 1, 3600, 86_400, 172_800, 5 * 10**9, 10**11]
        params = {"max_age": self.chance.choice(ages), "timezone": self.chance.choice(ZONES)}
        answer = oracle.freshness(params, column, TYPES[column], rows, CLOCK)
        return self._asked("", "freshness", [column], params, scope, answer)

    def _change(self, case: int) -> Asked:
        scope, rows = self._scope(case)
        pick = self.chance.choice
        params = {"expected": pick([0, 1, 2, 5, 10]), "max_decrease": pick([None, 0, 0.1, 0.5])}
        params["max_increase"] = pick([0, 0.4, 2])
        return self._asked(
            "", "row_count_change", [], params, scope, oracle.row_count_change(params, rows)
        )

    def _value_set(self, case: int) -> Asked:
        scope, rows = self._scope(case)
        column = self.chance.choice(LISTED)
        occurring = [row[column] for row in rows if row[column] is not None]
        listed = self.chance.choices(self.pools[column], k=self.chance.choice([1, 3]))
        listed += self.chance.choice([[], occurring])
        mode = self.chance.choice(["equals", "contains", "within"])
        params = {"values": listed, "mode": mode}
        answer = oracle.value_set(params, column, TYPES[column], rows)
        return self._asked("", "value_set", [column], params, scope, answer)

    def _asked(self, label, kind, columns, params, scope, answer, *, graded=True) -> Asked:
        pick = self.chance.choice
        grade = {"tolerance": pick([None, None, 0.1, 1]), "absolute_tolerance": pick([None, 0, 2])}
        check = QualityCheck(
            f"{kind}_{label}_{scope.sql}",
            kind,
            TABLE,
            columns[0] if len(columns) == 1 else columns or None,
            params,
            filter=scope.sql,
            **(grade if graded else {}),
        )
        return Asked(check, answer)


def _written(value: object) -> object:
    """The order of bounds as they are written: a float is its shortest decimal."""
    return order(Decimal(repr(value)) if isinstance(value, float) else value)


def _is_odd(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def tamed(pools):
    """The floats brought below a million: what overflows depends on the order of adding."""
    changed = {
        name: [math.fmod(value, 1e6) if math.isfinite(value) else value for value in pools[name]]
        for name in ("x", "FLOAT")
    }
    return {**pools, **changed}


def status_of(asked: Asked) -> str:
    answer, check = asked.answer, asked.check
    if answer.kind != "judged":
        return answer.kind
    tolerated = answer.excess == 0
    if check.tolerance is not None:
        tolerated |= _float(answer.share) <= check.tolerance
    if check.absolute_tolerance is not None:
        tolerated |= answer.excess <= check.absolute_tolerance
    return "passed" if tolerated else "failed"


def _float(number: float | Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def difference(asked: Asked, result) -> str:
    """How the run and the oracle disagree; '' if they do not."""
    answer = asked.answer
    if answer.kind == "unsure":
        return ""
    wanted: list[object] = [status_of(asked)]
    got: list[object] = [result.status.value]
    if answer.kind == "judged":
        measures = (
            {
                name: pytest.approx(value, rel=0, abs=answer.slack)
                for name, value in answer.measures.items()
            }
            if answer.slack
            else answer.measures
        )
        wanted += [answer.failing, measures]
        got += [result.failing_rows, result.measures]
    if answer.unsure:  # a bound within what rounding may do
        wanted, got = wanted[2:], got[2:]
    if wanted == got:
        return ""
    return f"{asked.check}\n  oracle {wanted}\n  run    {got}\n  {result.details}"


@settings(
    max_examples=RUNS,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start hundreds of runs
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(pools=POOLS, seed=SEEDS)
def test_every_measuring_check_equals_the_oracle(spark, pools, seed):
    chance = random.Random(seed)  # noqa: S311 - arranges test data
    pools = tamed(pools)
    rows = arrange_rows(pools, chance, CASES)
    write_table(spark, rows)
    suite = MeasureMaker(pools, rows, chance).suite(CASES)
    zone = chance.choice(["UTC", "America/St_Johns"])
    with under(spark, {**code_generation(compiled=False), "spark.sql.session.timeZone": zone}):
        outcome = run_checks(spark, [asked.check for asked in suite], clock=lambda: CLOCK)
    found = [
        told
        for asked, result in zip(suite, outcome.results, strict=True)
        if (told := difference(asked, result))
    ]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:8])
