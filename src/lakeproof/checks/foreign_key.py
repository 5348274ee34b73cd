from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lakeproof.checks.kinds import (
    Arguments,
    Lookup,
    RelatedCheck,
    Verdict,
    rows_verdict,
)
from lakeproof.checks.matching import column_of, not_among
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.printable import counted


class ForeignKey(RelatedCheck):
    """Each value, or combination of several columns, occurs in another table.

    As in SQL, a row with a NULL in the key refers to nothing and does not violate. The other
    table may have another format or stand in another catalog; it is read at the position that
    the run has pinned. A violation is known by its orphan key, with the rows that have it.
    """

    name = "foreign_key"
    dimension = "consistency"
    keyed_by_columns = True
    table_parameters = ("references",)
    columns_max = 32
    parameters = (
        Parameter("references", (str,), "the table that must have the key", required=True),
        Parameter(
            "referenced_columns",
            (str, list, tuple),
            "its columns, in the order of column_name; by default of the same names",
        ),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        TableName.parse(str(arguments["references"]))
        named = arguments["referenced_columns"]
        names = (named,) if isinstance(named, str) else tuple(named or columns)  # type: ignore[arg-type]
        if len(names) != len(columns) or not all(isinstance(name, str) for name in names):
            raise CheckDefinitionError(
                f"check 'foreign_key' has {len(columns)} columns and {len(names)} "
                "referenced_columns; there must be one for each"
            )
        return {"references": arguments["references"], "referenced_columns": names}

    def row_violates(self, columns: Sequence[Column], arguments: Arguments, lookup: Lookup) -> str:
        table = str(arguments["references"])
        relation, found = lookup.table(table)
        theirs = [column_of(found, str(name), table) for name in _referenced(arguments)]
        return not_among(columns, relation, theirs)

    def refers_to(self, arguments: Arguments) -> tuple[str, tuple[str, ...]]:
        return str(arguments["references"]), tuple(map(str, _referenced(arguments)))

    def judge(
        self, failing: int, total: int, keys: int, column: str, arguments: Arguments
    ) -> Verdict:
        theirs = ",".join(str(name) for name in _referenced(arguments))
        complaint = f"have {column} that is not in {arguments['references']}.{theirs}"
        verdict = rows_verdict(failing, total, complaint)
        told = f", {counted(keys, 'orphan key')}" if keys else ""
        return replace(verdict, details=verdict.details + told, measures={"orphan_keys": keys})


def _referenced(arguments: Arguments) -> tuple[object, ...]:
    return arguments["referenced_columns"]  # type: ignore[return-value]
