"""A state namespace per format; each test works on a checked table and rules of its own."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from weighed_scene import settings_of

from lakeproof.config import StoreSettings
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.state import open_store
from lakeproof.state.store import Move, TableWork

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
_numbers = itertools.count(1)


@dataclass
class Scene:
    """One checked table with its rules, seen by the store of one format."""

    spark: object
    settings: StoreSettings
    table: TableName = field(init=False)
    rule: str = field(init=False)

    def __post_init__(self):
        number = next(_numbers)
        self.table = TableName(("iceberg", "shop", f"table_{number}"))
        self.rule = f"rule-{number}"

    def store(self):
        store = open_store(self.spark, self.settings)
        store.prepare()
        return store

    def work(self, position=1):
        return TableWork(
            self.table,
            f"uuid of {self.table}",
            "suite",
            (self.rule,),
            Position("iceberg", position),
        )

    def hits(self, keys):
        """A view with one hit per key, None without any; `keys` maps a key to its occurrences."""
        if not keys:
            return None
        name = f"hits_of_{self.table.short}"
        rows = ", ".join(
            f"('{self.rule}', '{self.rule}|{key}', '{key}', {count}L)"
            for key, count in keys.items()
        )
        self.spark.sql(
            f"SELECT * FROM VALUES {rows} AS hits(rule_id, hit_id, violation_key, occurrences)"
        ).createOrReplaceTempView(name)
        return name

    def run(self, run_id, keys, day=0, store=None):
        """A whole run that sees these hits; gives the number of new ones."""
        store = store or self.store()
        now = START + timedelta(days=day)
        batches = store.begin(run_id, [self.work(position=day)], now)
        new = store.apply_hits(batches[0], run_id, [self.rule], self.hits(keys), now)
        store.commit(batches, run_id, self.moves(batches[0], store), now)
        return new[self.rule]

    def moves(self, batch, store=None, **changes):
        """The rule of the scene comes to stand where the batch is pinned."""
        known = (store or self.store()).progress([self.rule])
        fields = {
            "rule_id": self.rule,
            "mode": Mode.SNAPSHOT,
            "mark": Mark(batch.work.table_id, batch.position),
            "standing": Standing(rows=1),
            "rule_key": f"key of {self.rule}",
            "suite": "checks",
            "previous": known[self.rule].batch_seq if known else 0,
        }
        return [Move(**{**fields, **changes})]

    def violations(self):
        rows = self.store().violations_frame(rule_id=self.rule).collect()
        return {row["violation_key"]: row.asDict() for row in rows}

    def progress(self):
        name = TableName((self.settings.catalog, self.settings.namespace, "_quality_progress"))
        rows = self.spark.sql(f"SELECT * FROM {name.sql} WHERE rule_id = '{self.rule}'").collect()
        return sorted((row["batch_seq"], row["run_id"]) for row in rows)

    def intents(self):
        """(run_id, batch_seq, epoch, status) of every entry in the log, oldest first."""
        name = TableName((self.settings.catalog, self.settings.namespace, "_quality_intents"))
        rows = self.spark.sql(f"SELECT * FROM {name.sql}").collect()
        return sorted(
            (row["batch_seq"], row["epoch"], row["status"] != "open", row["run_id"], row["status"])
            for row in rows
            if row["table_fqn"] == str(self.table)
        )

    def version(self, kind="violations"):
        """What changes with every commit to a state table."""
        name = TableName(
            (self.settings.catalog, self.settings.namespace, self.settings.tables[kind])
        )
        query = (
            f"SELECT count(*) FROM {name.sql}.snapshots"
            if self.settings.format == "iceberg"
            else f"DESCRIBE HISTORY {name.sql} LIMIT 1"
        )
        return self.spark.sql(query).collect()[0][0]


@pytest.fixture(params=["iceberg", "delta"], scope="session")
def settings(request):
    return settings_of(request.param)


@pytest.fixture
def scene(spark, settings):
    return Scene(spark, settings)


@pytest.fixture
def dead_owner():
    """Written by a process that has ended since."""
    code = "from lakeproof.state.owner import this_owner; print(this_owner())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def make_result():
    def make(**changes):
        fields = {
            "check_name": "sales_id_not_null",
            "check_type": "not_null",
            "table_name": "sales",
            "column_name": "id",
            "status": CheckStatus.FAILED,
            "failing_rows": 2,
            "total_rows": 10,
            "details": "2 rows",
            "executed_at": "2026-03-01T12:00:00.123456+00:00",
            "rule_key": "sales_id_not_null",
        }
        return CheckResult(**{**fields, **changes})

    return make
