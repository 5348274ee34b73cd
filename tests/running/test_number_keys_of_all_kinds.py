"""Whole numbers of every kind of unique rule, in one table: kept by changes, and as built anew."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lakeproof import QualityCheck, run_checks
from lakeproof.config import Config, TableSettings
from lakeproof.state import open_store
from oracle.kept_state import KeptState, store_in
from oracle.live_tables import CATALOGS, PROPERTIES
from spark_settings import for_few_records

RULES = ("filtered", "tiny", "inside", "apart")


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@dataclass
class Kinds:
    """A table of numbers, checked with what was kept and with nothing."""

    spark: object
    format: str

    def __post_init__(self):
        space = f"{CATALOGS[self.format]}.kinds"
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {space}")
        self.table = f"{space}.numbers"
        properties = ", ".join(f"'{k}' = '{v}'" for k, v in PROPERTIES[self.format].items())
        columns = 'id INT, n BIGINT, tiny TINYINT, `it\'s` STRUCT<`"n"`: INT>, flag BOOLEAN'
        self.spark.sql(
            f"CREATE TABLE {self.table} ({columns}, apart BIGINT) USING {self.format} "
            f"TBLPROPERTIES ({properties})"
        )
        self.checks = [
            QualityCheck("filtered", "uniqueness", self.table, "n", filter="flag"),
            QualityCheck("tiny", "uniqueness", self.table, "tiny"),
            QualityCheck("inside", "uniqueness", self.table, '`it\'s`.`"n"`'),
            QualityCheck("apart", "uniqueness", self.table, "apart"),
        ]
        self.kept = KeptState(self.spark, store_in(self.format, f"kinds_{self.format}"))
        self.stores = 0

    def insert(self, rows):
        """Rows by id and number."""
        values = ", ".join(
            f"({i}, {n}, CAST({n % 100} AS TINYINT), named_struct('n', {n}), {n % 2 == 0}, {n}000)"
            for i, n in rows
        )
        self.spark.sql(f"INSERT INTO {self.table} VALUES {values}")

    def say(self, statement):
        self.spark.sql(statement.format(self.table))

    def run(self, *, rebuild=()):
        """Bad keys by rule."""
        self.told = self._run(self.kept, rebuild)
        return {result.rule_key: result.failing_rows for result in self.told}

    def assert_as_built_anew(self):
        """What the last run said and left is what a run says and leaves that begins just now."""
        self.stores += 1
        anew = KeptState(self.spark, store_in(self.format, f"kinds_{self.format}_{self.stores}"))
        wanted = self._run(anew)
        said, due = ([(r.failing_rows, r.total_rows) for r in of] for of in (self.told, wanted))
        assert said == due
        assert self._open(self.kept) == self._open(anew)
        weights = self._weights(anew, wanted)
        assert all(weights.values())
        assert self._weights(self.kept, self.told) == weights

    def _run(self, kept, rebuild=()):
        settings = Config(tables={self.table: TableSettings(key=("id",), mode="cdf")})
        outcome = run_checks(
            self.spark, self.checks, store=kept.settings, config=settings, rebuild=rebuild
        )
        return outcome.results

    def _open(self, kept):
        found = kept.hits().items()
        return {key: hit.occurrences for key, hit in found if hit.status == "open"}

    def _weights(self, kept, results):
        store = open_store(self.spark, kept.settings)
        return {
            result.rule_key: {
                (row["key_hash"], row["weight"])
                for row in self.spark.sql(store.index_sums(result.rule_id)).collect()
            }
            for result in results
        }

    def tiled(self):
        names = {row["rule_id"]: row["rule_key"] for row in self.kept.rows("progress")}
        found = self.kept.rows("key_index")
        return {names[row["rule_id"]] for row in found if row["tile"] is not None}

    def generations(self):
        return {row["generation"] for row in self.kept.rows("key_index")}


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_every_kind_of_number_is_counted_by_changes_as_from_the_whole_table(spark, table_format):
    kinds = Kinds(spark, table_format)
    kinds.insert([(i, i) for i in range(-40, 40)] + [(100, 7), (101, 8), (102, 8)])
    assert kinds.run() == {"filtered": 1, "tiny": 2, "inside": 2, "apart": 2}
    assert kinds.tiled() == {"filtered", "tiny", "inside"}, "each beside one that lies apart"

    kinds.say("UPDATE {} SET flag = NOT flag WHERE n IN (7, 8, 9)")  # into the filter and out of it
    kinds.say("DELETE FROM {} WHERE id IN (101, -40, 0)")
    kinds.insert([(200, -40), (201, 0), (202, 0), (203, 64)])
    assert kinds.run()["filtered"] == 2
    kinds.assert_as_built_anew()

    for ids in ("1, 2, 202", "3", "4"):
        kinds.say(f"DELETE FROM {{}} WHERE id IN ({ids})")
        kinds.run(rebuild=RULES if ids == "3" else ())
    assert kinds.generations() == {1, 2}
    open_store(spark, kinds.kept.settings).prune(kinds.kept.rows("progress")[0]["updated_at"])
    assert kinds.generations() == {2}
    kinds.insert([(300, 1), (301, 2), (302, 2), (303, -40)])
    kinds.say("DELETE FROM {} WHERE n = 7")
    kinds.run()
    kinds.assert_as_built_anew()
