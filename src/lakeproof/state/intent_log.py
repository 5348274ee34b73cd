"""The table of intents: every state of every lease, each a row that is only ever added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from lakeproof.state import literals
from lakeproof.state.access import StateAccess
from lakeproof.state.leases import Intent, IntentStatus
from lakeproof.state.store import TableWork


@dataclass(frozen=True, slots=True)
class IntentLog:
    access: StateAccess

    def present(self, run_id: str, works: Sequence[TableWork]) -> list[Intent]:
        """The present of every intent that can matter.

        Those that are open, those of this run and of any that has claimed a number of its, and
        those of the highest number.
        """
        self.access.refresh("intents")
        names = literals.texts(str(work.table) for work in works)
        ids = literals.texts(work.table_id for work in works if work.table_id)
        is_open = f"status = '{IntentStatus.OPEN.value}'"
        is_own = f"run_id = {literals.text(run_id)}"
        # The wider window is the inner one: then both need a single shuffle.
        rows = self.access.read(f"""
SELECT * EXCEPT (age, highest, own) FROM (
  SELECT *, row_number() OVER (PARTITION BY table_id, table_fqn, group_id, run_id, batch_seq
                               ORDER BY epoch DESC, {is_open}) AS age
  FROM (
    SELECT *, max(batch_seq) OVER (PARTITION BY table_id, table_fqn) AS highest,
           collect_set(if({is_own}, batch_seq, NULL)) OVER (PARTITION BY table_id, table_fqn) AS own
    FROM {self.access.tables["intents"].sql}
    WHERE table_fqn IN ({names}) OR table_id IN ({ids})
  )
) WHERE age = 1 AND ({is_open} OR array_contains(own, batch_seq) OR batch_seq = highest)""")
        return [
            Intent(**{**row.asDict(), "rule_ids": tuple(row["rule_ids"] or ())}) for row in rows
        ]

    def append(self, intents: Sequence[Intent]) -> None:
        self.access.append("intents", [asdict(intent) for intent in intents])
