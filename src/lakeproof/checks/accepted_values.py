from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from lakeproof.checks.kinds import Arguments, RowCheck, column_expression
from lakeproof.checks.literals import is_none_of
from lakeproof.checks.parameters import Parameter, normalise_text
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import canonical_payload
from lakeproof.model.column import Column

_SHOWN_MAX = 5
_VALUE = (str, bool, int, float, Decimal, date, datetime)


class AcceptedValues(RowCheck):
    """Values belong to a list. NULL never violates; text compares exactly, case included."""

    name = "accepted_values"
    dimension = "validity"
    parameters = (
        Parameter(
            "accepted",
            (list, tuple, set, frozenset, str),
            "the allowed values; a JSON array as text is read as a list",
            required=True,
        ),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        values = arguments["accepted"]
        if isinstance(values, str):
            values = _read_json_list(values)
        kept = tuple(value for value in values if value is not None)  # type: ignore[attr-defined]
        for value in kept:
            if not isinstance(value, _VALUE) or _is_signalling(value):
                raise CheckDefinitionError(
                    f"parameter 'accepted' of check 'accepted_values' holds {value!r}, which is "
                    "no text, number, boolean, date or timestamp"
                )
        if not kept:
            raise CheckDefinitionError("parameter 'accepted' of check 'accepted_values' is empty")
        return {"accepted": kept}

    def identity(self, arguments: Arguments) -> Arguments:
        # Not a set: to Python 1 equals True, to a column it does not.
        unique = {canonical_payload(value): value for value in _values(arguments)}
        return {"accepted": [unique[text] for text in sorted(unique)]}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        value = column_expression(column)
        return is_none_of(value, _values(arguments), column, "accepted value")

    def complaint(self, column: str, arguments: Arguments) -> str:
        values = _values(arguments)
        shown = ", ".join(str(value) for value in values[:_SHOWN_MAX])
        more = f" and {len(values) - _SHOWN_MAX} more" if len(values) > _SHOWN_MAX else ""
        return f"have {column} outside the accepted values ({shown}{more})"


def _values(arguments: Arguments) -> tuple[object, ...]:
    return arguments["accepted"]  # type: ignore[return-value]


def _is_signalling(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_snan()


def _read_json_list(text: str) -> tuple[object, ...]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, list):
        raise CheckDefinitionError(
            f"parameter 'accepted' of check 'accepted_values' must be a list, got the text {text!r}"
        )
    return tuple(normalise_text(value) for value in values)
