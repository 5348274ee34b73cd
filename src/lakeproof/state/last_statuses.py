"""Each rule's status in the last kept run that had it."""

from __future__ import annotations

from collections.abc import Iterable

from lakeproof.planning.selection import AnyRule, status_key
from lakeproof.state.reading import Among, Question, StateReader


def last_statuses(reader: StateReader, rules: Iterable[AnyRule]) -> dict[tuple[str, str], str]:
    """Status by a rule's key and table; a rule that no run has had is not in it."""
    by_table: dict[str, set[str]] = {}
    for key, table in map(status_key, rules):
        by_table.setdefault(table, set()).add(key)
    return {
        (key, table): status
        for table, keys in by_table.items()
        for key, status in _of_table(reader, table, keys).items()
    }


def _of_table(reader: StateReader, table: str, keys: set[str]) -> dict[str, str]:
    """Run by run from the newest, so that a long history never reaches the driver.

    Most rules are in the last run, and each further question is about the rest only.
    """
    found: dict[str, str] = {}
    sought = sorted(keys)
    while sought:
        among = (Among(("table_fqn",), (table,)), Among(("rule_key",), tuple(sought)))
        newest = reader.ask(Question("results", among, ("-executed_at", "-run_id"), 1)).rows
        if not newest:
            break
        run = Among(("run_id",), (str(newest[0]["run_id"]),))
        rows = reader.ask(Question("results", (*among, run))).rows
        found |= {str(row["rule_key"]): str(row["status"]) for row in rows}
        sought = [key for key in sought if key not in found]
    return found
