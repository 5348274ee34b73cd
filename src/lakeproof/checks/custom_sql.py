from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import Arguments, QueryCheck, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.user_sql import canonical_sql, parse_query


class CustomSql(QueryCheck):
    """A read-only query that returns the bad rows: none returned means passed.

    Every table in it is read at the run's pinned position. A `filter` narrows the checked table
    inside the query. The share is that of returned rows to the checked table's rows.
    """

    name = "custom_sql"
    dimension = "conformity"
    parameters = (Parameter("sql", (str,), "one SELECT that returns the bad rows", required=True),)

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        parse_query(str(arguments["sql"]))
        return arguments

    def identity(self, arguments: Arguments) -> Arguments:
        return {"sql": canonical_sql(self.query(arguments))}

    def query(self, arguments: Arguments) -> str:
        return str(arguments["sql"])

    def judge(self, failing: int, total: int) -> Verdict:
        share = failing / total if total else float("inf") if failing else 0.0
        return Verdict(
            failing=failing,
            total=total,
            excess=failing,
            share=share,
            measure=float(failing),
            details=f"the query returned {failing or 'no'} {'row' if failing == 1 else 'rows'}",
        )
