"""Checks that look at other rows say what the oracle says; so do `split` and quarantine."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lakeproof import QualityCheck, run_checks, split
from lakeproof.config import Config, TableSettings
from oracle.related_checks import Found, bad_keys, orphans, out_of_order

TABLE = "iceberg.related.rows"
OTHERS = "spark_catalog.related.others"
SCHEMA = (
    "case_id int, k bigint, i int, t string, d decimal(10,2), f double, `we ird` string, n bigint"
)
OTHER_SCHEMA = "i int, t string, d decimal(10,2), f double"
KEY = ("k",)
CONFIG = Config(tables={TABLE: TableSettings(key=KEY)})
POOLS = {
    "i": [None, -1, 0, 1, 2, 2**31 - 1],
    "t": [None, "", "a", "A", "é", "e\u0301", "O'B", "a\nb", "x" * 300],
    "d": [None, Decimal("0.10"), Decimal("-1.00"), Decimal("99999999.99")],
    "f": [None, 0.0, -0.0, float("nan"), 1.5, float("inf")],
    "we ird": [None, "u", "v"],
    "n": [None, 1, 2, 3],
}


def drawn_rows(seed: int, count: int, case: int, first: int) -> list[dict[str, object]]:
    chance = random.Random(seed)  # noqa: S311 - no secret
    return [
        {
            "case_id": case,
            "k": first + number,
            **{name: chance.choice(pool) for name, pool in POOLS.items()},
        }
        for number in range(count)
    ]


def asked(case: int, rows: list[dict[str, object]], others: list[dict[str, object]]):
    """Each check with what the oracle says of it."""
    where = f"case_id = {case}"

    def check(name: str, kind: str, column, params) -> QualityCheck:
        return QualityCheck(f"{name}_{case}", kind, TABLE, column, params, filter=where)

    for names in (["i"], ["t"], ["d"], ["f"], ["i", "t"]):
        params = {"references": OTHERS}
        yield (
            check(f"fk_{'_'.join(names)}", "foreign_key", names, params),
            orphans(rows, names, others, names, names),
        )
    renamed = {"references": OTHERS, "referenced_columns": "t"}
    yield (
        check("fk_renamed", "foreign_key", "we ird", renamed),
        orphans(rows, ["we ird"], others, ["t"], ["we ird"]),
    )
    yield (
        check("listed", "accepted_values", "t", {"accepted_table": OTHERS}),
        orphans(rows, ["t"], others, ["t"], KEY),
    )
    long = [f"v{number}" for number in range(1200)] + ["a", "é", ""]
    yield (
        check("long", "accepted_values", "t", {"accepted": long}),
        orphans(rows, ["t"], [{"t": value} for value in [*long, "e\u0301"]], ["t"], KEY),
    )
    numbers = [*range(1500), Decimal("0.1"), Decimal("1E+30")]
    yield (
        check("long_d", "accepted_values", "d", {"accepted": numbers}),
        orphans(rows, ["d"], [{"d": Decimal(value)} for value in numbers], ["d"], KEY),
    )
    for name in ("i", "f", "t", "d"):
        for strict in (False, True):
            params = {"order_by": "n", "within": ["we ird"], "strict": strict}
            yield (
                check(f"rising_{name}_{strict}", "is_increasing", name, params),
                out_of_order(rows, name, "n", ["we ird"], strict=strict, key=KEY),
            )
    yield (
        check("rising", "is_increasing", "i", {"order_by": ["k"]}),
        out_of_order(rows, "i", "k", [], strict=False, key=KEY),
    )
    for nulls in ("distinct", "equal", "forbid"):
        for names in (["i"], ["t"], ["f"], ["i", "t"], ["i", "n", "d", "we ird"]):
            yield (
                check(f"key_{nulls}_{'_'.join(names)}", "unique_key", names, {"nulls": nulls}),
                bad_keys(rows, names, nulls),
            )


@pytest.fixture(scope="module", autouse=True)
def namespaces(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.related")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.related")


def write(spark, rows, others) -> None:
    names = [part.rsplit(" ", 1)[0].strip("` ") for part in SCHEMA.split(", ")]
    frame = spark.createDataFrame([tuple(row[name] for name in names) for row in rows], SCHEMA)
    frame.repartition(3).writeTo(TABLE).using("iceberg").createOrReplace()
    values = [tuple(other[name] for name in ("i", "t", "d", "f")) for other in others]
    spark.createDataFrame(values, OTHER_SCHEMA).writeTo(OTHERS).using("delta").createOrReplace()


def row_counts(frame) -> Counter[str]:
    """Rows as texts, since NaN is not equal to itself."""
    return Counter(repr(tuple(row)) for row in frame.collect())


@pytest.mark.slow
@settings(
    max_examples=1,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=2, unique=True))
def test_checks_over_other_rows_equal_the_oracle(spark, seeds):
    others = drawn_rows(seeds[0] + 7, 4, 0, 0)
    cases = [drawn_rows(seed, 25, case, case * 1000) for case, seed in enumerate(seeds)]
    cases.append([])  # a scope without rows
    rows = [row for case in cases for row in case]
    write(spark, rows, others)
    questions: dict[str, tuple[QualityCheck, Found]] = {}
    for case, of_case in enumerate(cases):
        for check, found in asked(case, of_case, others):
            questions[check.name] = (check, found)
    checks = [check for check, _ in questions.values()]

    outcome = run_checks(spark, checks, config=CONFIG)
    listed: dict[str, Counter[str]] = {name: Counter() for name in questions}
    for hit in outcome.violations().collect():
        for name in hit["rules"]:
            listed[name][hit["violation_key"]] = hit["occurrences"]
    for result in outcome.results:
        found = questions[result.check_name][1]
        assert result.status == ("failed" if found.failing else "passed"), result
        assert (result.failing_rows, listed[result.check_name]) == (found.failing, found.keys), (
            result
        )

    frame = spark.table(TABLE)
    halves = split(frame, checks, config=CONFIG)
    good, bad = halves
    assert row_counts(good) + row_counts(bad.select(*frame.columns)) == row_counts(frame)
    assert halves.not_judged == ()
    marked: dict[str, set[int]] = {name: set() for name in questions}
    for row in bad.select("k", "_lakeproof_rules").collect():
        for name in row["_lakeproof_rules"]:
            marked[name].add(row["k"])
    for name, (_, found) in questions.items():
        assert marked[name] == {row["k"] for row in found.rows}, name
