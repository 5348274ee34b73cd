"""A rule: one requirement on one table, with the identity of its logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lakeproof.model.canonical import canonical_payload, rule_id_of
from lakeproof.model.comparison import Comparison
from lakeproof.model.names import TableName
from lakeproof.model.threshold import Threshold


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Logic:
    """What decides a rule's answer, in canonical form; nothing that only names or grades it.

    `filter` and SQL arguments arrive normalised (`checks.user_sql`), arguments typed and
    complete (`checks.kinds`): equal logic gives equal text here, different logic different text.
    """

    table: TableName
    check: str
    check_version: int
    columns: tuple[str, ...]
    arguments: Mapping[str, object]
    filter: str | None = None

    @property
    def payload(self) -> str:
        """The text that is hashed; kept with the plan so that an id can be audited."""
        return canonical_payload(
            {
                "table": list(self.table.folded),
                "check": self.check,
                "version": self.check_version,
                "columns": [column.lower() for column in self.columns],
                "arguments": self.arguments,
                "filter": self.filter,
            }
        )

    @property
    def rule_id(self) -> str:
        return rule_id_of(self.payload)


@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement, validated and ready to plan. `key` is what people call it.

    `comparison` is what a contract asks of the rule's number, in place of a tolerance. `declared`
    is what the contract says beside: its id, method, schedule, engine, the choices made for it.
    """

    key: str
    rule_id: str
    logic: Logic
    table: TableName
    table_label: str
    columns: tuple[str, ...]
    arguments: Mapping[str, object]
    filter: str | None = None
    threshold: Threshold = field(default_factory=Threshold)
    severity: Severity = Severity.ERROR
    dimension: str = ""
    tags: tuple[str, ...] = ()
    description: str = ""
    timeout_seconds: float | None = None
    source: str = ""
    comparison: Comparison | None = None
    declared: Mapping[str, str] = field(default_factory=dict)

    @property
    def limit(self) -> str:
        """What the rule is held against, as results and the console show it."""
        return str(self.threshold if self.comparison is None else self.comparison)

    @property
    def lists_rows(self) -> bool:
        """Whether the rows it counts are bad ones; those of a lower bound or a range are not."""
        return self.comparison is None or self.comparison.bounds_above

    @property
    def check(self) -> str:
        return self.logic.check

    @property
    def column_label(self) -> str:
        """'' for a table-level rule, 'a,b' for a composite one, as the results table has it.

        A query takes no columns; in a contract it may stand on one all the same.
        """
        return ",".join(self.columns) or self.declared.get("column", "")


@dataclass(frozen=True, slots=True)
class RejectedRule:
    """A rule that does not run, with the reason: it becomes one result, never silence.

    An `error`, or `skipped` where nothing is wrong and still nothing can be run.
    """

    key: str
    check: str
    table_label: str
    table: TableName | None
    column_label: str
    reason: str
    severity: Severity = Severity.ERROR
    rule_id: str = ""
    dimension: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    is_skipped: bool = False
    declared: Mapping[str, str] = field(default_factory=dict)
