"""The two that bench/index_layout.py compares: a log of weights, and a table merged in place."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from lakeproof.model.names import TableName, quote
from lakeproof.model.reading import Mode
from lakeproof.model.standing import KeyTotals
from lakeproof.model.weighing import WeighKind
from lakeproof.state import index_log, index_writing, key_index
from lakeproof.state.access import StateAccess
from lakeproof.state.batch_rules import BatchRules
from lakeproof.state.known_keys import sums_sql
from lakeproof.state.progress import Head
from lakeproof.state.store import Batch, RuleProgress, TableWork, Weighed
from lakeproof.state.table_format import Fence
from lakeproof.state.tables import KEY_INDEX

RULE, ORDERS = "id_unique", TableName(("spark_catalog", "bench", "orders"))
RULES = BatchRules({RULE: WeighKind.UNIQUE}, {})
MOMENT = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
VECTORS = {
    "delta": {"delta.enableDeletionVectors": "true"},
    "iceberg": {"format-version": "3", "write.merge.mode": "merge-on-read"},
}
"""So that a MERGE writes no row again that it does not change."""


@dataclass(slots=True)
class Log:
    """What runs do. `head` is what the newest progress of the rule would name."""

    access: StateAccess
    head: Head | None = None

    @property
    def table(self) -> TableName:
        return self.access.tables["key_index"]

    def add(self, batch_seq: int, view: str) -> KeyTotals:
        work = TableWork(ORDERS, "uuid", "group", (RULE,), None)
        weighed = Weighed(RULE, WeighKind.UNIQUE, 1, is_rebuilt=self.head is None)
        heads = {RULE: self.head} if self.head else {}
        batch = Batch(work, batch_seq, None, adopted=False)
        log = index_log.IndexLog(self.access)
        touched = log.add(batch, [weighed], [view], heads, MOMENT)
        touched.release()
        assert not touched.problems, touched.problems
        self.head = Head(_progress(batch_seq), touched.attempts[RULE])
        return touched.totals[RULE]

    @property
    def sums(self) -> str:
        assert self.head is not None, "nothing was added"
        return sums_sql(index_log.IndexLog(self.access).visible({RULE: self.head}), "")


def _progress(batch_seq: int) -> RuleProgress:
    """Only its batch matters: the log looks from there for violations that nobody committed."""
    return RuleProgress(
        rule_id=RULE,
        mode=Mode.CDF,
        mark=None,
        standing=None,
        generation=1,
        parent=None,
        rule_key=RULE,
        suite="bench",
        shape="",
        table=str(ORDERS),
        batch_seq=batch_seq,
        epoch=1,
        run_id="bench",
        processed_at=MOMENT,
    )


@dataclass(frozen=True, slots=True)
class InPlace:
    """One row for each key, in a table of the same columns."""

    access: StateAccess
    table: TableName

    def begin(self, rows: TableName) -> None:
        """With these rows, which are one for each key."""
        made = self.access.format
        properties = {**made.properties, **VECTORS[made.name]}
        self.access.write(KEY_INDEX.ddl(self.table, made.name, properties))
        self.access.write(
            f"INSERT INTO {self.table.sql} ({KEY_INDEX.names_sql}) "
            f"SELECT {KEY_INDEX.names_sql} FROM {rows.sql} ORDER BY near, key_low"
        )

    def add(self, batch_seq: int, view: str) -> KeyTotals:
        access = self.access
        access.refresh("violations", "progress")
        if access.format.caches_metadata:
            access.frame(f"REFRESH TABLE {self.table.sql}")
        tables, columns = access.tables, index_log.columns_of(access, [view])
        bases = {RULE: batch_seq - 1}
        strays = key_index.strays_sql(tables["violations"], tables["progress"], bases)
        keys_sql = key_index.keys_sql(key_index.incoming_sql(columns, bases), strays, RULES)
        touched = index_log.SparkTouched()
        with ExitStack() as held:
            keys = index_log.hold(access, access.frame(keys_sql), held)
            (ends,) = access.read(key_index.ranges_sql(keys, RULES))
            within = f"rule_id = '{RULE}' AND near BETWEEN {ends['low']} AND {ends['high']}"
            rows = key_index.Candidates(
                "SELECT /*+ BROADCAST(k) */ i.* FROM "
                f"(SELECT * FROM {self.table.sql} WHERE {within}) i LEFT SEMI JOIN "
                f"(SELECT key_low FROM {quote(keys)}) k ON k.key_low = i.key_low"
            )
            frame = access.frame(key_index.touched_sql(keys, rows, RULES))
            settled = index_log.settled(frame)
            touched.view = index_log.name_view(access, settled, touched.held)
            totals = key_index.totals_sql(keys, touched.view, RULES)
            index_log.sum_up(touched, access.read(totals))
            assert not touched.problems, touched.problems
            weights = index_writing.with_texts(keys, touched.view, RULES, are_few=True)
            access.write(self._merge(batch_seq, weights, within), Fence("bench", batch_seq))
        touched.release()
        return touched.totals[RULE]

    def _merge(self, batch_seq: int, weights: str, within: str) -> str:
        now = f"TIMESTAMP_NTZ'{MOMENT}'"
        written = {"table_name": f"'{ORDERS}'", "generation": "1L", "epoch": "1L"}
        written |= {"batch_seq": f"{batch_seq}L", "token": "''", "side": "''"}
        written |= {"key_json": "if(s.is_open, s.violation_key, NULL)", "count": "s.own_weight"}
        written |= {"first_seen": now, "last_seen": now, "tile": "NULL", "tile_key": "NULL"}
        names = [column.name for column in KEY_INDEX.columns]
        values = ", ".join(written.get(name, f"s.`{name}`") for name in names)
        updated = ("count", "key_json", "last_seen", "has_null", "batch_seq")
        values_now = {name: written.get(name, f"s.{name}") for name in updated}
        values_now["count"] = "t.`count` + s.own_weight"
        changes = ", ".join(f"t.`{name}` = {value}" for name, value in values_now.items())
        return (
            f"MERGE INTO {self.table.sql} t USING (SELECT /*+ BROADCAST(k) */ * "
            f"FROM ({weights}) k WHERE own_weight <> 0) s\n"
            "ON t.key_low = s.key_low AND t.key_high = s.key_high AND t.rule_id = s.rule_id "
            f"AND t.{within.replace('near', 't.near')}\n"
            f"WHEN MATCHED AND t.batch_seq < {batch_seq} THEN UPDATE SET {changes}\n"
            f"WHEN NOT MATCHED THEN INSERT ({KEY_INDEX.names_sql}) VALUES ({values})"
        )

    @property
    def sums(self) -> str:
        return sums_sql(f"SELECT * FROM {self.table.sql}", "")
