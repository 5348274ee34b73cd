"""`accepted_values` where the list is a table, or too long to stand in a statement."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.checks.kinds import Arguments, Lookup, RelatedCheck, Verdict, rows_verdict
from lakeproof.checks.literals import texts_for
from lakeproof.checks.matching import column_of, not_among
from lakeproof.model.column import Column


class AcceptedLookup(RelatedCheck):
    """Values belong to a list that is joined."""

    name = "accepted_values"

    def row_violates(self, columns: Sequence[Column], arguments: Arguments, lookup: Lookup) -> str:
        column = columns[0]
        table = arguments["accepted_table"]
        if table is not None:
            relation, found = lookup.table(str(table))
            name = str(arguments["accepted_column"] or column.name)
            return not_among(columns, relation, [column_of(found, name, str(table))])
        values: tuple[object, ...] = arguments["accepted"]  # type: ignore[assignment]
        relation = lookup.values(texts_for(values, column, "accepted value"), column.type_text)
        return not_among(columns, relation, [Column("value", column.type_text)])

    def judge(
        self, failing: int, total: int, keys: int, column: str, arguments: Arguments
    ) -> Verdict:
        table = arguments["accepted_table"]
        if table is not None:
            listed = f"{table}.{arguments['accepted_column'] or column}"
        else:
            listed = f"the {len(arguments['accepted']):,} accepted values"  # type: ignore[arg-type]
        return rows_verdict(failing, total, f"have {column} outside {listed}")
