"""Each rule's status in the last kept run that had it."""

from __future__ import annotations

from collections.abc import Iterable

from lakeproof.state.reading import Among, Question, StateReader


def last_statuses(reader: StateReader, rule_keys: Iterable[str]) -> dict[str, str]:
    """Status by rule_key; a rule that no run has had is not in it.

    Run by run from the newest, so that a long history never reaches the driver: most rules are
    in the last run, and each further question is about the rest only.
    """
    found: dict[str, str] = {}
    sought = sorted(set(rule_keys))
    while sought:
        among = Among(("rule_key",), tuple(sought))
        newest = reader.ask(Question("results", (among,), ("-executed_at", "-run_id"), 1)).rows
        if not newest:
            break
        run = Among(("run_id",), (str(newest[0]["run_id"]),))
        rows = reader.ask(Question("results", (among, run))).rows
        found |= {str(row["rule_key"]): str(row["status"]) for row in rows}
        sought = [key for key in sought if key not in found]
    return found
