"""Which parts of a log are merged, decided on numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof.config import StoreSettings
from lakeproof.model.names import TableName
from lakeproof.state import access, key_index
from lakeproof.state.attempts import ATTEMPTS_MAX, Attempt, is_named, to_merge


def parts(*rows):
    return [Attempt(number, f"t{number}", of_part) for number, of_part in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([1000, *[1] * (ATTEMPTS_MAX - 2)], 0),
        ([1000, *[1] * (ATTEMPTS_MAX - 1)], ATTEMPTS_MAX - 1),
        ([20, *[1] * (ATTEMPTS_MAX - 1)], ATTEMPTS_MAX),
        ([1000, 100, *[1] * (ATTEMPTS_MAX - 2)], ATTEMPTS_MAX - 2),
        ([0] * ATTEMPTS_MAX, ATTEMPTS_MAX),
        ([*[1] * (ATTEMPTS_MAX - 1), 1000], ATTEMPTS_MAX),
    ],
    ids=["short", "a large first", "a small first", "two large", "nothing", "a large last"],
)
def test_what_is_larger_than_all_that_follows_is_not_written_again(rows, merged):
    log = parts(*rows)
    assert to_merge(log) == tuple(log[len(log) - merged :])


def test_tiles_are_not_written_again_though_all_that_follows_is_larger():
    tiles = Attempt(1, "tiles", 1, is_tiled=True)
    singles = parts(*[10] * (ATTEMPTS_MAX - 1))
    assert to_merge([tiles, *singles]) == tuple(singles)


def test_a_thousand_equal_batches_write_each_row_a_few_times():
    log, written = parts(100_000), 0
    for number in range(2, 1002):
        old = to_merge(log)
        own = Attempt(number, f"t{number}", 100 + sum(one.rows for one in old))
        written += own.rows
        log = [*log[: len(log) - len(old)], own]
        assert len(log) <= ATTEMPTS_MAX
    assert sum(one.rows for one in log) == 200_000
    assert written < 10 * 100_000


def test_an_attempt_survives_as_text_and_names_its_rows():
    attempt = Attempt(7, "0123abcd", 5)
    again = Attempt.from_text(attempt.to_text())
    assert (again, again.rows, again.is_tiled) == (attempt, 5, False)
    tiled = replace(attempt, is_tiled=True)
    assert Attempt.from_text(tiled.to_text()).is_tiled
    assert is_named([attempt]).startswith("token IN ('0123abcd', ")
    assert is_named([]) == "false"


@pytest.mark.parametrize("count", [1, 2, 10, 11, ATTEMPTS_MAX])
def test_spark_takes_any_number_of_attempts_for_a_set(spark, count):
    """What is in a set is not in the Java that Spark makes of a statement."""
    plan = (
        spark.range(3)
        .selectExpr("if(id = 1, 't1', concat('other', id)) AS token")
        .where(is_named(parts(*[1] * count)))
    )
    words = plan._jdf.queryExecution().optimizedPlan().toString()
    assert "INSET" in words
    assert [row["token"] for row in plan.collect()] == ["t1"]


def test_rules_that_have_the_same_attempts_are_asked_for_together():
    logs = {
        "a": [Attempt(1, "t1", 10), Attempt(2, "t2", 1)],
        "b": [Attempt(1, "t1", 7), Attempt(2, "t2", 0)],
        "c": [Attempt(2, "t2", 3)],
    }
    sql = key_index.visible_sql(TableName(("i",)), logs)
    assert sql.count("rule_id IN") == 2
    assert "rule_id IN ('a', 'b') AND token IN ('t1', 't2', " in sql


@pytest.mark.parametrize("failures", [0, 1, access.TRIES_MAX - 1, access.TRIES_MAX])
def test_every_try_of_an_append_has_a_token_of_its_own(monkeypatch, failures):
    class Unsure(access.StateAccess):
        """Rows come through, and who wrote them is told that they may not have."""

        def refresh(self, *kinds):
            pass

        def write(self, sql, fence=None):
            landed.append(sql)
            if len(landed) <= failures:
                raise OSError("CommitStateUnknownException")

    landed = []
    monkeypatch.setattr(access, "WAIT_SECONDS", 0)
    store = Unsure(None, StoreSettings(format="iceberg", catalog="c", namespace="n"))
    if failures == access.TRIES_MAX:
        with pytest.raises(OSError, match="CommitStateUnknown"):
            store.append_anew(7, lambda own: own.token)
    else:
        own = store.append_anew(7, lambda own: own.token)
        assert own == Attempt(7, landed[-1])
    assert len(set(landed)) == len(landed) == min(failures + 1, access.TRIES_MAX)
