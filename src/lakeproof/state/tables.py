"""The state tables' columns, written once; the DDL of each format is generated from here.

`intents`, `progress` and `key_index` are logs: a run only ever adds rows, and the newest row of an
intent or a rule is its present. An append costs a third of a MERGE on both formats and does not
conflict with another append; only progress is compared and set, by a MERGE that inserts. A log
keeps what a crash did for whoever has to look; what no run looks at again is taken out by
`store prune`. The orders that decide what is newest are numbers (`epoch`, `batch_seq`), never
clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeproof.model.names import TableName

SCHEMA_VERSION = 6
"""Version 2 keeps with each result what its reports show, version 3 what its contract declares,
version 4 what a run needs to read only what changed, and how a result came about, version 5 keys
that are whole numbers 64 to a row, version 6 of such keys no hash; tables of older versions are
brought up."""
VERSION_PROPERTY = "lakeproof.schema_version"
KIND_PROPERTY = "lakeproof.table"

TEXT = "STRING"
TEXTS = "ARRAY<STRING>"
COUNT = "BIGINT"
SMALL = "INT"
NUMBER = "DOUBLE"
NUMBERS = "MAP<STRING,DOUBLE>"
WORDS = "MAP<STRING,STRING>"
FLAG = "BOOLEAN"
MOMENT = "TIMESTAMP_NTZ"
"""Without zone, in UTC, to the microsecond: reads the same in every session and engine."""


@dataclass(frozen=True, slots=True)
class StateColumn:
    """`meaning` becomes the column's comment, so it holds no quotes."""

    name: str
    type_text: str
    meaning: str

    @property
    def ddl(self) -> str:
        return f"`{self.name}` {self.type_text} COMMENT '{self.meaning}'"


@dataclass(frozen=True, slots=True)
class StateTable:
    """`looked_up_by` are the columns by which files are left out; None: any of them."""

    kind: str
    meaning: str
    columns: tuple[StateColumn, ...]
    looked_up_by: tuple[str, ...] | None = None

    @property
    def names_sql(self) -> str:
        """To be said in every insert: a table that was brought up has its columns in its order."""
        return ", ".join(f"`{column.name}`" for column in self.columns)

    def ddl(self, table: TableName, format_name: str, properties: Mapping[str, str]) -> str:
        """CREATE TABLE IF NOT EXISTS, with the schema version among the properties."""
        columns = ",\n".join(f"  {column.ddl}" for column in self.columns)
        marks = {VERSION_PROPERTY: str(SCHEMA_VERSION), KIND_PROPERTY: self.kind, **properties}
        settings = ", ".join(f"'{key}' = '{value}'" for key, value in marks.items())
        return (
            f"CREATE TABLE IF NOT EXISTS {table.sql} (\n{columns}\n)\nUSING {format_name}\n"
            f"COMMENT '{self.meaning}'\nTBLPROPERTIES ({settings})"
        )


RESULTS = StateTable(
    "results",
    "One row per rule and run",
    (
        StateColumn("check_name", TEXT, "what people call the check"),
        StateColumn("check_type", TEXT, "the kind of check"),
        StateColumn("table_name", TEXT, "the checked table, short name"),
        StateColumn("column_name", TEXT, "empty for a table-level check, a,b for a composite one"),
        StateColumn("status", TEXT, "passed, failed, warned, error or skipped"),
        StateColumn("failing_rows", COUNT, "what the check counts as failing"),
        StateColumn("total_rows", COUNT, "rows in the scope of the filter"),
        StateColumn("details", TEXT, "the outcome in words, at most 1,000 characters"),
        StateColumn("dag_run_id", TEXT, "the Airflow run, empty outside it"),
        StateColumn("executed_at", MOMENT, "UTC"),
        StateColumn("run_id", TEXT, "one execution of the checks"),
        StateColumn("rule_id", TEXT, "hash of the logic of the rule"),
        StateColumn("rule_key", TEXT, "unique with run_id"),
        StateColumn("table_fqn", TEXT, "the checked table, full name"),
        StateColumn("severity", TEXT, "error, warning or info"),
        StateColumn("dimension", TEXT, "quality dimension"),
        StateColumn("tags", TEXTS, "as given with the rule"),
        StateColumn("measure", NUMBER, "the number held against the threshold"),
        StateColumn("threshold", TEXT, "how much failing is still fine"),
        StateColumn("position", TEXT, "where in the history of the table it was read, as JSON"),
        StateColumn("duration", NUMBER, "seconds"),
        StateColumn("suite", TEXT, "where the rule was written"),
        StateColumn("try", SMALL, "number of the attempt, from 1"),
        StateColumn("table_rows", COUNT, "all rows of the table"),
        StateColumn("mode", TEXT, "how the table was read"),
        StateColumn("mode_reason", TEXT, "why it was read that way"),
        StateColumn("new_violations", COUNT, "bad rows that the run before did not have"),
        StateColumn("sample_keys", TEXTS, "canonical keys of a few bad rows"),
        StateColumn("sample_values", TEXTS, "what the checked columns held there"),
        StateColumn("measures", NUMBERS, "every number that the check took, by name"),
        StateColumn("source", TEXT, "where the rule was written, as file:line"),
        StateColumn(
            "declared", WORDS, "what the contract says beside, and the partition asked for, by name"
        ),
        StateColumn("suppressed_rows", COUNT, "failing rows that somebody has answered for"),
        StateColumn(
            "coverage",
            TEXT,
            "append-only where updates and deletes are not seen; whether violations are capped",
        ),
        StateColumn("method", TEXT, "statistics, mixed or scan; empty where changes were read"),
        StateColumn("files_read", COUNT, "data files read, where their statistics were asked"),
    ),
)

VIOLATIONS = StateTable(
    "violations",
    "One row per offending key and rule, open or resolved",
    (
        StateColumn("hit_id", TEXT, "sha256 of rule_id, a bar, violation_key"),
        StateColumn("rule_id", TEXT, "hash of the logic of the rule"),
        StateColumn("table_fqn", TEXT, "the checked table, full name"),
        StateColumn("violation_key", TEXT, "canonical key of the row, or its typed hash"),
        StateColumn("status", TEXT, "open, resolved or unknown"),
        StateColumn("occurrences", COUNT, "rows behind this key when last seen"),
        StateColumn("first_seen", MOMENT, "UTC"),
        StateColumn("last_seen", MOMENT, "UTC"),
        StateColumn("resolved_at", MOMENT, "UTC, NULL while open"),
        StateColumn("reopen_count", SMALL, "times it came back after being resolved"),
        StateColumn("first_run_id", TEXT, "the run that found it first"),
        StateColumn("last_run_id", TEXT, "the run that read it last; others found it unchanged"),
        StateColumn("reopened_run_id", TEXT, "the run that reopened it last, NULL if none did"),
        StateColumn("first_position", TEXT, "position of the table when first seen, as JSON"),
        StateColumn("last_position", TEXT, "position of the table when last seen, as JSON"),
        StateColumn("batch_seq", COUNT, "the batch that wrote this row; lower ones may not"),
        StateColumn("resolution", TEXT, "why it is resolved, NULL while it is not"),
        StateColumn("suppressed_until", MOMENT, "UTC, NULL if it is not suppressed"),
        StateColumn("suppressed_by", TEXT, "who answers for it until then"),
        StateColumn("suppressed_why", TEXT, "the reason given"),
    ),
)

PROGRESS = StateTable(
    "progress",
    "A log of how far each rule has come; the highest batch_seq of a rule is its present",
    (
        StateColumn("table_name", TEXT, "the checked table, full name"),
        StateColumn("rule_id", TEXT, "hash of the logic of the rule"),
        StateColumn("mode", TEXT, "how the table was read"),
        StateColumn("watermark_col", TEXT, "the column of a watermark, NULL in other modes"),
        StateColumn("last_version", COUNT, "Delta version or Iceberg snapshot, for people"),
        StateColumn("last_value", TEXT, "the watermark, for people"),
        StateColumn("processed_at", MOMENT, "UTC"),
        StateColumn("table_id", TEXT, "the own uuid of the checked table"),
        StateColumn("table_fqn", TEXT, "the checked table, full name"),
        StateColumn("group_id", TEXT, "the set of rules that move together"),
        StateColumn("position", TEXT, "how far the rule has come, typed, as JSON"),
        StateColumn("batch_seq", COUNT, "grows per table"),
        StateColumn("run_id", TEXT, "the run that moved it here"),
        StateColumn("updated_at", MOMENT, "UTC"),
        StateColumn("generation", COUNT, "of its key index; each rebuild begins a new one"),
        StateColumn("epoch", COUNT, "of the lease under which it was moved"),
        StateColumn(
            "attempts",
            TEXTS,
            "whose weights make up its key index: batch.token.rows, .tiled if there are tiles",
        ),
        StateColumn("parent_position", TEXT, "how far it has come in the table it refers to"),
        StateColumn("standing", TEXT, "the numbers that its verdict is made of, as JSON"),
        StateColumn("rule_key", TEXT, "what people call the rule"),
        StateColumn("suite", TEXT, "who asks for the rule"),
        StateColumn("shape", TEXT, "hash of how its keys are made"),
    ),
    looked_up_by=(),
)

KEY_INDEX = StateTable(
    "key_index",
    "A log of weights: what each batch adds to the number of rows behind a key. Rows count if the "
    "newest progress of their rule names their batch and token",
    (
        StateColumn("table_name", TEXT, "the checked table, full name"),
        StateColumn("rule_id", TEXT, "hash of the logic of the rule"),
        StateColumn(
            "key_hash", TEXT, "128 bits of the sha256 of the canonical key, as hex; NULL of numbers"
        ),
        StateColumn("key_json", TEXT, "the canonical key, only of keys in violation"),
        StateColumn("count", COUNT, "rows that came less rows that went; of a tile, its keys"),
        StateColumn("first_seen", MOMENT, "UTC"),
        StateColumn("last_seen", MOMENT, "UTC"),
        StateColumn("side", TEXT, "parent for rows of the table referred to, else empty"),
        StateColumn("generation", COUNT, "each rebuild begins a new one"),
        StateColumn("batch_seq", COUNT, "the batch that wrote this row"),
        StateColumn("epoch", COUNT, "of the lease under which it was written"),
        StateColumn("token", TEXT, "of the write that this row came with, made anew for each try"),
        StateColumn("near", COUNT, "a number by which neighbouring keys lie together"),
        StateColumn("has_null", FLAG, "whether a part of the key is NULL and must not be"),
        StateColumn(
            "key_high", COUNT, "the first half of key_hash as a number to look it up by, or NULL"
        ),
        StateColumn("key_low", COUNT, "the second half of it"),
        StateColumn(
            "tile",
            COUNT,
            "which of the keys near to near + 63 are there once, a bit each; else NULL",
        ),
        StateColumn(
            "tile_key", TEXT, "the canonical key of a number, or of those of a tile, up to it"
        ),
    ),
    looked_up_by=("rule_id", "token", "near", "tile"),
)

INTENTS = StateTable(
    "intents",
    "A log of leases and pinned ranges; the highest epoch of an intent is its present, and there "
    "a closing status outweighs open",
    (
        StateColumn("table_id", TEXT, "the own uuid of the checked table"),
        StateColumn("table_fqn", TEXT, "the checked table, full name"),
        StateColumn("group_id", TEXT, "the set of rules that move together"),
        StateColumn("batch_seq", COUNT, "grows per table, over all groups"),
        StateColumn("run_id", TEXT, "who reads this range"),
        StateColumn("from_position", TEXT, "NULL: each rule begins where its progress stands"),
        StateColumn("to_position", TEXT, "inclusive end as JSON, NULL for a table without history"),
        StateColumn("rule_ids", TEXTS, "the rules of the batch"),
        StateColumn("epoch", COUNT, "grows each time the lease changes hands"),
        StateColumn("owner", TEXT, "host:pid:start of the driver"),
        StateColumn("lease_until", MOMENT, "UTC; after it anyone may take over"),
        StateColumn("status", TEXT, "open, committed, abandoned or withdrawn"),
        StateColumn("created_at", MOMENT, "UTC, when the lease was taken"),
        StateColumn("updated_at", MOMENT, "UTC, when this row was written"),
    ),
    looked_up_by=(),
)

TABLES: Mapping[str, StateTable] = {
    table.kind: table for table in (RESULTS, VIOLATIONS, PROGRESS, INTENTS, KEY_INDEX)
}
