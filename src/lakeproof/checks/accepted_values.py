from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from sqlglot import exp

from lakeproof.checks.accepted_lookup import AcceptedLookup
from lakeproof.checks.kinds import Arguments, Check, ColumnCheck, column_expression
from lakeproof.checks.literals import is_none_of
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.value_lists import LIST, read_values, sorted_values, values_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName

LITERALS_MAX = 1_000
"""More values than this are joined; so many literals would cost more to parse than to join."""


class AcceptedValues(ColumnCheck):
    """Values belong to a list. NULL never violates; text compares exactly, case included.

    The list stands in `accepted`, or is a column of a table: `accepted_table`. A table, or a list
    of more than 1,000 values, is joined: an action of its own, for whole columns only.
    """

    name = "accepted_values"
    dimension = "validity"
    table_parameters = ("accepted_table",)
    parameters = (
        Parameter(
            "accepted",
            LIST,
            "the allowed values; a JSON array as text is read as a list",
        ),
        Parameter("accepted_table", (str,), "the table that has the allowed values"),
        Parameter("accepted_column", (str,), "its column; by default of the same name"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        values, table = arguments["accepted"], arguments["accepted_table"]
        if (values is None) == (table is None):
            raise CheckDefinitionError(
                "check 'accepted_values' needs one of the parameters 'accepted', 'accepted_table'"
            )
        if table is not None:
            TableName.parse(str(table))
            return arguments
        if arguments["accepted_column"] is not None:
            raise CheckDefinitionError(
                "parameter 'accepted_column' of check 'accepted_values' needs 'accepted_table'"
            )
        return {**arguments, "accepted": read_values(self.name, "accepted", values)}

    def identity(self, arguments: Arguments) -> Arguments:
        if arguments["accepted"] is None:
            named = ("accepted_table", "accepted_column")
            return {name: arguments[name] for name in named}
        values = _values(arguments)
        if len(values) > LITERALS_MAX and set(map(type, values)) == {str}:
            # Each value by itself would take longer than the check.
            texts = json.dumps(sorted(str(value) for value in values))
            return {"accepted_texts": sha256(texts.encode()).hexdigest()}
        return {"accepted": sorted_values(values)}

    def for_arguments(self, arguments: Arguments) -> Check:
        is_short = arguments["accepted"] is not None and len(_values(arguments)) <= LITERALS_MAX
        return self if is_short else AcceptedLookup()

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        value = column_expression(column)
        return is_none_of(value, _values(arguments), column, "accepted value")

    def complaint(self, column: str, arguments: Arguments) -> str:
        shown = values_text(_values(arguments))
        return f"have {column} outside the accepted values ({shown})"


def _values(arguments: Arguments) -> tuple[object, ...]:
    return arguments["accepted"]  # type: ignore[return-value]
