"""No more violations are stored than were asked for; all are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakeproof.model.names import TableName, quote
from lakeproof.model.violation import ViolationStatus
from lakeproof.state import literals


@dataclass(frozen=True, slots=True)
class Cap:
    """Rules with more violations than may be stored, and how many of each may still be added."""

    rooms: Mapping[str, int] = field(default_factory=dict)

    def within(self, view: str, columns: Sequence[str], addition: str) -> str:
        """The rows of a view without the additions that there is no room for.

        `addition` is the condition of a row that adds a violation. Those with the smallest hit_id
        come first, so that a repeat takes the same ones.
        """
        if not self.rooms:
            return quote(view)
        names = ", ".join(columns)
        is_bounded = f"(rule_id IN ({literals.texts(self.rooms)}) AND {addition})"
        room = "".join(
            f" WHEN {literals.text(rule_id)} THEN {room}" for rule_id, room in self.rooms.items()
        )
        return f"""(
  SELECT {names} FROM {quote(view)} WHERE NOT {is_bounded}
  UNION ALL
  SELECT {names} FROM (
    SELECT *, row_number() OVER (PARTITION BY rule_id ORDER BY hit_id) AS place
    FROM {quote(view)} WHERE {is_bounded}
  ) WHERE place <= {max(self.rooms.values())} AND place <= CASE rule_id{room} END
)"""


def stored_sql(violations: TableName, rule_ids: Sequence[str], closing: str) -> str:
    """How many violations of these rules stay stored and open, by rule_id.

    `closing` is a query of the hit_ids that are about to be resolved.
    """
    return (
        f"SELECT rule_id, count(*) AS stored FROM {violations.sql} v "
        f"LEFT ANTI JOIN ({closing}) c ON c.hit_id = v.hit_id "
        f"WHERE rule_id IN ({literals.texts(rule_ids)}) "
        f"AND status <> '{ViolationStatus.RESOLVED.value}' GROUP BY rule_id"
    )
