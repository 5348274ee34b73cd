"""Suppression: until a moment, a violation is not held against its rule.

It stands in columns of its own, which no batch writes, so it outlives runs; a violation that is
resolved and comes back before the moment is still suppressed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from lakeproof.config import StoreSettings
from lakeproof.errors import ConfigError
from lakeproof.state import literals
from lakeproof.state.access import StateAccess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX_MIN = 8
_HIT = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Suppression:
    """Until when, by whom and why."""

    until: datetime
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A stored violation, as much of it as names it to people."""

    hit_id: str
    rule_id: str
    table: str
    violation_key: str
    status: str


class Suppressor:
    """Finds violations by their id and suppresses them, or lifts that."""

    def __init__(self, spark: SparkSession, settings: StoreSettings) -> None:
        self._access = StateAccess(spark, settings)
        self._table = self._access.tables["violations"].sql

    def find(self, given: Sequence[str]) -> list[Hit]:
        """The violation of each id, or of its beginning; ConfigError if none or several have it."""
        for one in given:
            if not _HIT.fullmatch(one):
                raise ConfigError(
                    f"{one!r} is no id of a violation: {PREFIX_MIN} to 64 digits 0-9a-f. "
                    "lakeproof show violations lists them"
                )
        self._access.refresh("violations")
        return [self._found(one) for one in given]

    def set(self, hits: Sequence[Hit], given: Suppression | None) -> None:
        """Suppress these violations; None lifts that."""
        until = "NULL" if given is None else literals.moment(given.until)
        by, why = (None, None) if given is None else (given.by, given.why)
        sql = (
            f"UPDATE {self._table} SET suppressed_until = {until}, "
            f"suppressed_by = {literals.text(by)}, suppressed_why = {literals.text(why)} "
            f"WHERE hit_id IN ({literals.texts(hit.hit_id for hit in hits)})"
        )
        # A run may be writing the same rows; each of us leaves the columns of the other alone.
        self._access.retrying(lambda: self._access.write(sql))

    def _found(self, given: str) -> Hit:
        rows = self._access.read(
            "SELECT hit_id, rule_id, table_fqn, violation_key, status "
            f"FROM {self._table} WHERE startswith(hit_id, {literals.text(given)}) "
            "ORDER BY hit_id LIMIT 2"
        )
        if not rows:
            raise ConfigError(
                f"no violation {given} is kept ({self._access.description}). "
                "lakeproof show violations lists them"
            )
        if len(rows) > 1:
            raise ConfigError(
                f"{given} is the beginning of several violations, such as {rows[0]['hit_id']} and "
                f"{rows[1]['hit_id']}. Write more of it"
            )
        return Hit(*(str(value) for value in rows[0]))
