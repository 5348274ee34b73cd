"""Changes as weights: what changed rows do to the keys of a rule.

A row that came weighs +1, a row that went -1; an update is both. A rule's key has the sum of the
weights of its rows, so order, repetition of a range's parts and rewritten rows do not matter.
"""

from __future__ import annotations

from enum import StrEnum

WEIGHT = "_lakeproof_weight"
"""The column that stands beside the columns of a changed row."""
KEY_HASH = "substr(sha2(violation_key, 256), 1, 32)"
"""SQL of the short name of a key: 128 bits, in hexadecimal."""
KEY_NUMBERS = {
    "key_high": "CAST(conv(substr(key_hash, 1, 16), 16, -10) AS BIGINT)",
    "key_low": "CAST(conv(substr(key_hash, 17), 16, -10) AS BIGINT)",
}
"""SQL of the same bits as two numbers, which cost a tenth of the text to read and compare."""
BROADCAST_KEYS_MAX = 1_000_000
"""Up to this many keys are sent to the rows that may have them; more, and both are shuffled."""


class WeighKind(StrEnum):
    """How weights become violations.

    `ROW`: bad rows by the key of the row; open where there is any. `UNIQUE`: rows by the rule's
    key; open where there are more than one. `REFERENCE`: rows by the key that they refer to, and
    on side `parent` those that have it; open where there are children and no parent. `COUNT`:
    numbers only, no keys.
    """

    ROW = "row"
    UNIQUE = "unique"
    REFERENCE = "reference"
    COUNT = "count"


class Side(StrEnum):
    """Whose rows a weight counts: those of the checked table, or of the one referred to."""

    OWN = ""
    PARENT = "parent"


class Resolution(StrEnum):
    """Why a violation is no longer open.

    `GONE`: a run over the whole table does not tell fixed from deleted.
    """

    FIXED = "fixed"
    DELETED = "deleted"
    GONE = "gone"
    RULE_CHANGED = "rule_changed"
    RULE_REMOVED = "rule_removed"
    TABLE_REPLACED = "table_replaced"
