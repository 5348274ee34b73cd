"""Open violations, asked for by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from lakeproof.model.canonical import encode_value
from lakeproof.model.standing import KeyTotals
from lakeproof.state import literals
from lakeproof.state.access import StateAccess
from lakeproof.state.violations import OPEN

SAMPLE_KEYS_MAX = 3

# Where the value must not be shown, a NULL is hidden like any other.
_HIDDEN_NULL = f'["h","{sha256(encode_value(None).encode()).hexdigest()}"]'
_HAS_NULL = (
    "coalesce(exists(map_values(from_json(violation_key, 'map<string,string>')), "
    f"part -> part IS NULL OR part = {literals.text(_HIDDEN_NULL)}), false)"
)
_IS_SUPPRESSED = "suppressed_until > clock.moment"
"""NULL for a violation that never was."""


@dataclass(frozen=True, slots=True)
class OpenViolations:
    access: StateAccess

    def suppressed(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, KeyTotals]:
        """Of a key that holds a NULL every row is too many, of another all but one."""
        rows = self.access.read(
            "SELECT rule_id, count(*) AS hits, CAST(sum(occurrences) AS BIGINT) AS occurrences, "
            f"CAST(sum(occurrences - if({_HAS_NULL}, 0, 1)) AS BIGINT) AS excess "
            f"{self._from(rule_ids, now)} AND {_IS_SUPPRESSED} GROUP BY rule_id"
        )
        return {
            row["rule_id"]: KeyTotals(row["hits"], row["occurrences"], row["excess"])
            for row in rows
        }

    def suppressed_hits(self, rule_ids: Sequence[str], now: datetime) -> str:
        return f"SELECT hit_id {self._from(rule_ids, now)} AND {_IS_SUPPRESSED}"

    def sample_keys(self, rule_ids: Sequence[str], now: datetime) -> Mapping[str, tuple[str, ...]]:
        rows = self.access.read(
            "SELECT * FROM (SELECT *, row_number() OVER "
            "(PARTITION BY rule_id ORDER BY is_suppressed, violation_key) AS place "
            f"FROM (SELECT rule_id, violation_key, coalesce({_IS_SUPPRESSED}, false) "
            f"AS is_suppressed {self._from(rule_ids, now)})) "
            f"WHERE place <= {SAMPLE_KEYS_MAX} ORDER BY rule_id, place"
        )
        counting = {row["rule_id"] for row in rows if not row["is_suppressed"]}
        keys: dict[str, tuple[str, ...]] = {}
        for row in rows:
            name = row["rule_id"]
            if not (row["is_suppressed"] and name in counting):
                keys[name] = (*keys.get(name, ()), row["violation_key"])
        return keys

    def _from(self, rule_ids: Sequence[str], now: datetime) -> str:
        self.access.refresh("violations")
        return (
            f"FROM {self.access.tables['violations'].sql} "
            f"CROSS JOIN {literals.numbers('clock', moment=literals.moment(now))} "
            f"WHERE rule_id IN ({literals.texts(rule_ids)}) AND status = {OPEN}"
        )
