from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, RowCheck, user_sql
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.user_sql import canonical_sql, parse_predicate
from lakeproof.model.column import Column

_SHOWN_MAX = 80


class RowExpression(RowCheck):
    """Every row fulfils a SQL condition, written over the table's columns in Spark's SQL.

    A row violates where the condition is false. Where it is NULL, because a value is missing, the
    row passes, as with a CHECK constraint; write `AND x IS NOT NULL` to have it otherwise.
    """

    name = "row_expression"
    dimension = "conformity"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("expression", (str,), "the condition that good rows fulfil", required=True),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        return {"expression": parse_predicate(str(arguments["expression"])).text}

    def identity(self, arguments: Arguments) -> Arguments:
        return {"expression": canonical_sql(self.condition(arguments))}

    def condition(self, arguments: Arguments) -> str:
        return str(arguments["expression"])

    def row_violates(
        self, columns: Sequence[Column], arguments: Arguments, now: datetime
    ) -> exp.Expr:
        return exp.Not(this=user_sql(self.condition(arguments)))

    def complaint(self, column: str, arguments: Arguments) -> str:
        text = " ".join(self.condition(arguments).split())
        return f"break {text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + '...'}"
