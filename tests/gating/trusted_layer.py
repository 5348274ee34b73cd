"""A table, the runs that check it, and the place where its trusted rows are read."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lakeproof import CheckResult, CheckStatus, QualityCheck, promote, rollback, run_checks
from lakeproof.engines.spark.pinning import read_head
from lakeproof.model.names import TableName
from lakeproof.state import open_store
from lakeproof.state.store import TableWork
from oracle.kept_state import CATALOGS, store_in

NAMESPACE = "promoted"
STORE = store_in("iceberg", "promoted_state")
_numbers = itertools.count(1)


@dataclass
class Layer:
    """`options` are those of promote and rollback beside the table and the store."""

    spark: object
    format: str
    options: dict = field(default_factory=dict)
    table: str = ""
    short: str = ""

    def __post_init__(self):
        self.short = f"sales_{next(_numbers)}"
        self.table = f"{CATALOGS[self.format]}.{NAMESPACE}.{self.short}"
        space = f"{CATALOGS[self.format]}.{NAMESPACE}"
        self.sql(f"CREATE NAMESPACE IF NOT EXISTS {space}")
        self.make()

    def make(self):
        self.sql(f"DROP TABLE IF EXISTS {self.table}")
        self.sql(f"CREATE TABLE {self.table} (id INT) USING {self.format}")
        self.write(1)

    def sql(self, statement):
        return self.spark.sql(statement).collect()

    def write(self, *ids, branch=""):
        place = f"{self.table}.branch_{branch}" if branch else self.table
        self.sql(f"INSERT INTO {place} VALUES {', '.join(f'({one})' for one in ids)}")

    @property
    def target(self):
        suffix = ".branch_trusted" if self.format == "iceberg" else "_trusted"
        return f"{self.table}{suffix}"

    def trusted(self):
        """The ids that readers of the trusted layer see; None if it is not there."""
        if self.format == "iceberg":
            self.sql(f"REFRESH TABLE {self.table}")  # another session may have moved it
            names = self.sql(f"SELECT name FROM {self.table}.refs")
            if "trusted" not in {row["name"] for row in names}:
                return None
        elif not self.spark.catalog.tableExists(self.target):
            return None
        return sorted(row["id"] for row in self.sql(f"SELECT id FROM {self.target}"))

    def head(self, of=""):
        return read_head(self.spark, TableName.parse(of or self.table)).position

    def run(self, run_id, of="", **options):
        """The real checks: fails for an id that is not above 0."""
        checks = [
            QualityCheck("id_positive", "positive", of or self.table, "id"),
            QualityCheck("id_present", "not_null", of or self.table, "id"),
        ]
        return run_checks(
            self.spark, checks, store=STORE, run_id=f"{self.short}-{run_id}", **options
        )

    def keep(self, run, *statuses, position="head", of="", **fields):
        """Results as a run would have kept them, at the table's head, without the run."""
        store = open_store(self.spark, STORE)
        store.prepare()
        at = self.head(of) if position == "head" else position
        results = [
            CheckResult(
                check_name=f"rule_{number}",
                check_type="positive",
                table_name=self.short,
                column_name="id",
                status=status,
                failing_rows=0,
                total_rows=1,
                details="as kept",
                executed_at=f"2026-01-01 00:00:{number:02}.000000",
                run_id=f"{self.short}-{run}",
                rule_id=f"{self.short}-rule-{number}",
                rule_key=f"rule_{number}",
                table_fqn=of or self.table,
                position=at.to_json() if at else "",
            )
            for number, status in enumerate(statuses or (CheckStatus.PASSED,))
        ]
        results = [replace(one, **fields) for one in results]
        store.record_results(results)
        if at and at.kind == "delta":
            self._lease(store, results, at)

    def _lease(self, store, results, position):
        """The log of leases says which table the run has read; versions alone do not."""
        now, run_id = datetime.now(UTC), results[0].run_id
        table = TableName.parse(self.table)
        rules = tuple(one.rule_id for one in results)
        work = TableWork(table, read_head(self.spark, table).table_id, run_id, rules, position)
        store.commit(store.begin(run_id, [work], now), run_id, [], now)

    def promote(self, run_id, **options):
        given = {"tables": self.table, "store": STORE, **self.options, **options}
        return promote(self.spark, f"{self.short}-{run_id}", **given)

    def rollback(self, run_id="", **options):
        run = f"{self.short}-{run_id}" if run_id else ""
        given = {"tables": self.table, "store": STORE, **self.options, **options}
        return rollback(self.spark, run, **given)

    def records(self):
        """What is recorded of its promotions: run, act, before and after, in their order."""
        results = f"{STORE.catalog}.{STORE.namespace}._quality_results"
        self.sql(f"REFRESH TABLE {results}")
        rows = self.sql(
            f"SELECT run_id, declared FROM {results} WHERE check_type = 'promotion' "
            f"AND declared['act'] <> 'intended' AND table_fqn = '{self.table}' "
            "ORDER BY CAST(declared['order'] AS INT)"
        )
        return [
            (row["run_id"].removeprefix(f"{self.short}-"), row["declared"]["act"]) for row in rows
        ]


def only(outcome):
    (one,) = outcome.tables
    return one
