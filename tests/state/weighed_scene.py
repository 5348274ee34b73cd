"""A checked table whose rules stand on weights, beside a plain count of what must come out."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from lakeproof.config import StoreSettings
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import KeyTotals, Standing
from lakeproof.model.weighing import WeighKind
from lakeproof.state import open_store
from lakeproof.state.store import Move, TableWork, Weighed

IN_DELTA_SLOWLY = pytest.mark.parametrize(
    "settings", ["iceberg", pytest.param("delta", marks=pytest.mark.slow)], indirect=True
)
"""For what the killed runs or the races hold on Delta too."""

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
_numbers = itertools.count(1)
_prepared = set()


def settings_of(format_name):
    """The namespace that the other tests of this folder have, too."""
    catalog = {"iceberg": "iceberg", "delta": "spark_catalog"}[format_name]
    return StoreSettings(format=format_name, catalog=catalog, namespace=f"state_{format_name}")


def hash_of(key):
    return sha256(key.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Weight:
    """What changes about one key of one rule; `rule` is row, unique or reference."""

    rule: str
    key: str
    weight: int
    side: str = ""
    present: int = 0


@dataclass
class WeighedScene:
    """`truth` has the committed weight of each (rule, side, key), `problems` what the last batch
    was told."""

    spark: object
    settings: object
    truth: Counter = field(default_factory=Counter)
    problems: dict = field(default_factory=dict)

    def __post_init__(self):
        self.number = next(_numbers)
        self.table = TableName(("iceberg", "shop", f"weighed_{self.number}"))
        self.rules = {
            kind.value: f"{kind.value}-{self.number}" for kind in WeighKind if kind != "count"
        }

    def store(self):
        """A driver of its own; the tables are made once."""
        store = open_store(self.spark, self.settings)
        if self.settings.namespace not in _prepared:
            store.prepare()
            _prepared.add(self.settings.namespace)
        return store

    def work(self, position):
        ids = tuple(sorted(self.rules.values()))
        return TableWork(
            self.table, f"uuid of {self.table}", "weights", ids, Position("iceberg", position)
        )

    def view(self, weights):
        """As the engine gives them: keys with a NULL part are those of a rule that forbids it."""
        if not weights:
            return []
        rows = ", ".join(
            f"('{self.rules[one.rule]}', '{one.side}', '{one.key}', "
            f"{sum(one.key.encode())}L, {one.weight}L, {one.present}L, {'null' in one.key})"
            for one in weights
        )
        name = f"weights_{self.number}"
        self.spark.sql(
            f"SELECT * FROM VALUES {rows} AS w"
            "(rule_id, side, violation_key, near, weight, present, has_null)"
        ).createOrReplaceTempView(name)
        return [name]

    def batch(self, run_id, weights, day, *, is_rebuilt=False, until="commit", rules=None):
        """One run as far as `until`: index, violations or commit; gives (new hits, totals).

        `rows` are those that came, by kind, where they are counted.
        """
        store = self.store()
        now = START + timedelta(days=day)
        (batch,) = store.begin(run_id, [self.work(day)], now)
        known = store.progress(list(self.rules.values()))
        weighed = [
            Weighed(
                rule_id,
                WeighKind(kind),
                (known[rule_id].generation if rule_id in known else 0) + is_rebuilt,
                is_rebuilt,
            )
            for kind, rule_id in self.rules.items()
            if kind in (rules or self.rules)
        ]
        touched = store.add_weights(batch, run_id, weighed, self.view(weights))
        self.problems = dict(touched.problems)
        if until == "index":
            return {}, touched.totals
        news = store.assign_touched(batch, run_id, weighed, touched, now)
        if until == "violations":
            touched.release()
            store.release(run_id, now)
            return news, touched.totals
        moves = [
            Move(
                rule_id=one.rule_id,
                mode=Mode.CDF,
                mark=Mark(batch.work.table_id, batch.position),
                standing=self._standing(known.get(one.rule_id), one, touched),
                generation=touched.generations[one.rule_id],
                rule_key=f"key {one.rule_id}",
                suite="checks",
                previous=known[one.rule_id].batch_seq if one.rule_id in known else 0,
            )
            for one in weighed
        ]
        store.commit([batch], run_id, moves, now)
        touched.release()
        if is_rebuilt:
            gone = [name for name in self.truth if name[0] in (rules or self.rules)]
            for name in gone:
                del self.truth[name]
        self.truth.update({(one.rule, one.side, one.key): 0 for one in weights})
        for one in weights:
            self.truth[one.rule, one.side, one.key] += one.weight
        return news, touched.totals

    @staticmethod
    def _standing(known, one, touched):
        old = KeyTotals() if one.is_rebuilt or known is None else known.standing.keys
        return Standing(keys=old + touched.totals.get(one.rule_id, KeyTotals()))

    def expected_open(self):
        """By rule: the keys in violation with their rows, counted from the truth."""
        found = {kind: {} for kind in self.rules}
        for (kind, side, key), count in self.truth.items():
            if side == "parent":
                continue
            is_open = {
                "row": count > 0,
                "unique": count > 1 or ("null" in key and count > 0),
                "reference": count > 0 and self.truth["reference", "parent", key] <= 0,
            }[kind]
            if is_open:
                found[kind][key] = count
        return found

    def violations(self, **wanted):
        frame = self.store().violations_frame(table=str(self.table))
        rows = [row.asDict() for row in frame.collect()]
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def violation(self, kind, key):
        (row,) = self.violations(rule_id=self.rules[kind], violation_key=key)
        return row

    def by_rule(self, **numbers):
        return {self.rules[kind]: number for kind, number in numbers.items()}

    def resolutions(self):
        by_id = {rule_id: kind for kind, rule_id in self.rules.items()}
        return {
            (by_id[row["rule_id"]], row["violation_key"]): row["resolution"]
            for row in self.violations(status="resolved")
        }

    def assert_equals_full_scan(self):
        """Violations row by row, the index count by count, and the standing are as they must be."""
        by_id = {rule_id: kind for kind, rule_id in self.rules.items()}
        found = {kind: {} for kind in self.rules}
        for row in self.violations(status="open"):
            found[by_id[row["rule_id"]]][row["violation_key"]] = row["occurrences"]
        assert found == self.expected_open()
        store = self.store()
        progress = store.progress(list(self.rules.values()))
        sums = "\nUNION ALL\n".join(store.index_sums(rule_id) for rule_id in progress)
        rows = self.spark.sql(sums).collect()
        assert {
            (by_id[row["rule_id"]], row["side"], row["key_hash"]): row["weight"] for row in rows
        } == {
            (kind, side, hash_of(key)): count
            for (kind, side, key), count in self.truth.items()
            if count
        }
        for kind, rule_id in self.rules.items():
            keys = progress[rule_id].standing.keys
            expected = self.expected_open()[kind]
            assert (keys.hits, keys.occurrences) == (len(expected), sum(expected.values()))
            excess = sum(
                count - (kind == "unique" and "null" not in key) for key, count in expected.items()
            )
            assert keys.excess == excess
        assert store.strays(list(self.rules.values())) == frozenset()
