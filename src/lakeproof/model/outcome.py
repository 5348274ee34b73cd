"""What a run says about each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

DETAILS_CHARACTERS_MAX = 1000

PARTITION = "partition"
"""What `declared` says of a rule that a run has narrowed to one partition: `column=value`."""


class CheckStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One rule's outcome in one run; the first nine fields are the seed's, in its order.

    `failing_rows` is what the check counts as failing (for `uniqueness` the duplicated values),
    `total_rows` the rows in the filter's scope, `table_rows` all rows. `measure` is the number
    that was held against `threshold`; `measures` names every number the check took.
    `sample_values` says what the checked columns held, one text for each of `sample_keys`;
    `source` is where the rule was written, as `file:line`; `declared` what its contract says
    beside: id, method, schedule, engine, the choices made where the standard leaves one; and the
    partition that the run has narrowed the rule to.
    `suppressed_rows` are those of the failing that somebody has answered for: `status` leaves them
    out. `coverage` is `append-only` where changes were read by a watermark, which shows no row
    that was updated or deleted; it also says where not every violation is stored. `method` is
    `statistics` where those of the files decided, `mixed` where some files were read beside, else
    `scan`; it is empty where changes were read. `files_read` is known where statistics were asked.
    """

    check_name: str
    check_type: str
    table_name: str
    column_name: str
    status: CheckStatus
    failing_rows: int
    total_rows: int
    details: str
    executed_at: str
    run_id: str = ""
    rule_id: str = ""
    rule_key: str = ""
    table_fqn: str = ""
    severity: str = "error"
    dimension: str = ""
    tags: tuple[str, ...] = ()
    measure: float | None = None
    threshold: str = ""
    position: str = ""
    duration: float = 0.0
    suite: str = ""
    try_number: int = 1
    table_rows: int | None = None
    mode: str = "snapshot"
    mode_reason: str = ""
    dag_run_id: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    new_violations: int | None = None
    sample_keys: tuple[str, ...] = ()
    sample_values: tuple[str, ...] = ()
    source: str = ""
    declared: Mapping[str, str] = field(default_factory=dict)
    suppressed_rows: int = 0
    coverage: str = ""
    method: str = ""
    files_read: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Plain values: the seed's fields first and in its order, then ours."""
        plain: dict[str, object] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, CheckStatus):
                value = value.value
            elif isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            plain[item.name] = value
        return plain
