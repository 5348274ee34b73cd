"""What a run must leave in the state tables, compared with what it left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakeproof.config import StoreSettings
from lakeproof.model.canonical import hit_id
from lakeproof.model.outcome import CheckResult
from oracle.shop import Truth, Weights, key_hash

CATALOGS = {"iceberg": "iceberg", "delta": "spark_catalog"}


def store_in(store_format: str, namespace: str) -> StoreSettings:
    return StoreSettings(format=store_format, catalog=CATALOGS[store_format], namespace=namespace)


@dataclass(frozen=True)
class Hit:
    """A violation as it is kept, but for its times. No first run is whichever it was."""

    status: str
    occurrences: int
    reopen_count: int
    first_run_id: str


@dataclass
class Lives:
    """The life of each violation over the runs of a store, by (rule_id, violation_key).

    Of a resolved one nobody says how many rows it had, so they do not count.
    """

    hits: dict[tuple[str, str], Hit] = field(default_factory=dict)

    def see(self, run_id: str, rule_id: str, truth: Truth) -> None:
        """A run found these violations of the rule, and no others."""
        for (rule, key), hit in self.hits.items():
            if rule == rule_id and key not in truth.violations:
                self.hits[rule, key] = Hit("resolved", 0, hit.reopen_count, hit.first_run_id)
        for key, count in truth.violations.items():
            before = self.hits.get((rule_id, key), Hit("open", count, 0, run_id))
            reopened = before.reopen_count + (before.status == "resolved")
            self.hits[rule_id, key] = Hit("open", count, reopened, before.first_run_id)


@dataclass(frozen=True)
class KeptState:
    """Everything that is kept of some rules, read table by table in the plainest way."""

    spark: object
    settings: StoreSettings

    def rows(self, kind: str, columns: str = "*") -> list:
        name = f"{self.settings.catalog}.{self.settings.namespace}.{self.settings.tables[kind]}"
        self.spark.sql(f"REFRESH TABLE {name}")  # other processes have committed
        return self.spark.sql(f"SELECT {columns} FROM {name}").collect()

    def hits(self) -> dict[tuple[str, str], Hit]:
        found: dict[tuple[str, str], Hit] = {}
        for row in self.rows("violations"):
            where = row["rule_id"], row["violation_key"]
            assert where not in found, f"kept twice: {where}"
            assert row["hit_id"] == hit_id(*where)
            count = row["occurrences"] if row["status"] != "resolved" else 0
            found[where] = Hit(row["status"], count, row["reopen_count"], row["first_run_id"])
        return found

    def weights(self) -> dict[str, Weights]:
        """By rule: the sum over what the attempts have added that its present progress names."""
        heads: dict[str, object] = {}
        for row in self.rows("progress"):
            before = heads.get(row["rule_id"])
            if before is None or _age(row) > _age(before):
                heads[row["rule_id"]] = row
        counted = {
            (rule, *attempt.split(".")[:2])
            for rule, head in heads.items()
            for attempt in head["attempts"] or ()
        }
        sums: dict[str, Weights] = defaultdict(lambda: defaultdict(int))
        for row in self.rows("key_index"):
            if (row["rule_id"], str(row["batch_seq"]), row["token"]) in counted:
                for key, weight in _weights_of(row):
                    sums[row["rule_id"]][row["side"] or "", key] += weight
        return {
            rule: {key: weight for key, weight in weights.items() if weight}
            for rule, weights in sums.items()
        }


def _weights_of(row) -> list[tuple[str, int]]:
    """One key, or those of a tile: each bit from the lowest on is a number that is there once."""
    if row["key_hash"] is not None:
        return [(row["key_hash"], row["count"])]
    if row["tile"] is None:
        return [(key_hash(f'{row["tile_key"]}{row["near"]}"]}}'), row["count"])]
    numbers = [row["near"] + place for place in range(64) if row["tile"] >> place & 1]
    assert row["count"] == len(numbers)
    return [(key_hash(f'{row["tile_key"]}{number}"]}}'), 1) for number in numbers]


def _age(row) -> tuple[int, int]:
    return row["batch_seq"], row["epoch"] or 0


def differences(
    results: Mapping[str, CheckResult],
    truths: Mapping[str, Truth],
    kept: KeptState,
    lives: Lives,
) -> list[str]:
    """Every way in which results, violations and key index differ from the truth, one line each."""
    found: list[str] = []
    weights = kept.weights()
    for name, truth in truths.items():
        result = results[name]
        said = (str(result.status), result.failing_rows, result.total_rows, result.table_rows)
        true = (truth.status, truth.failing_rows, truth.total_rows, truth.table_rows)
        if said != true:
            found.append(f"{name} says {said}, true is {true} ({result.mode}; {result.details})")
        index = weights.get(result.rule_id, {})
        is_indexed = truth.weights is not None and result.mode != "snapshot"
        wanted = truth.weights or {} if is_indexed else {}
        if index != wanted:
            found.append(f"{name} has index {_only(index, wanted)}, true is {_only(wanted, index)}")
    named = {result.rule_id: name for name, result in results.items()}
    hits = {key: hit for key, hit in kept.hits().items() if key[0] in named}
    for rule_id, key in sorted(set(hits) | set(lives.hits)):
        said, true = hits.get((rule_id, key)), lives.hits.get((rule_id, key))
        if said and true and not true.first_run_id:
            said = replace(said, first_run_id="")
        if said != true:
            found.append(f"{named.get(rule_id, rule_id)} {key} is kept as {said}, true is {true}")
    return found


def _only(these: Weights, others: Weights) -> dict[object, object]:
    return {key: weight for key, weight in these.items() if others.get(key) != weight}
