from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import (
    Arguments,
    Lookup,
    RelatedCheck,
    Verdict,
    column_expression,
    rows_verdict,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily


class IsIncreasing(RelatedCheck):
    """Along a declared order no value is smaller than the one before it.

    Bad is the row whose value is smaller than that of the row just before it (with `strict`,
    smaller or equal). `within` names columns inside whose groups the order runs; without it
    the whole table is one sequence, which one task of Spark must sort. Rows with a NULL in the
    value or in the order are left out. Rows that stand at the same place in the order are taken
    by rising value.
    """

    name = "is_increasing"
    dimension = "consistency"
    is_windowed = True
    parameters = (
        Parameter("order_by", (str, list, tuple), "the columns that give the order", required=True),
        Parameter(
            "within", (str, list, tuple), "the columns whose groups are sequences", default=()
        ),
        Parameter("strict", (bool,), "whether equal values violate", default=False),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        for name in ("order_by", "within"):
            given = arguments[name]
            names = (given,) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]
            if not all(isinstance(one, str) and one for one in names):
                raise CheckDefinitionError(
                    f"parameter {name!r} of check 'is_increasing' must name columns, got {given!r}"
                )
            arguments[name] = names
        if not arguments["order_by"]:
            raise CheckDefinitionError("check 'is_increasing' needs order_by: at least one column")
        return arguments

    def row_violates(self, columns: Sequence[Column], arguments: Arguments, lookup: Lookup) -> str:
        column = columns[0]
        if column.family is TypeFamily.OTHER:
            raise CheckDefinitionError(
                f"check 'is_increasing' needs a column whose values have an order; "
                f"{column.name!r} is {column.type_text.upper()}"
            )
        value = column_expression(column).sql("spark")
        order = [lookup.column(name) for name in _names(arguments, "order_by")]
        groups = [lookup.column(name) for name in _names(arguments, "within")]
        # Rows that do not take part stand in a group of their own, where nobody asks.
        takes_part = " AND ".join(f"{one} IS NOT NULL" for one in [value, *order])
        takes_part = f"({lookup.scope}) AND {takes_part}"
        window = (
            f"PARTITION BY {', '.join([f'coalesce({takes_part}, false)', *groups])} "
            f"ORDER BY {', '.join([*order, value, lookup.key])}"
        )
        sign = "<=" if arguments["strict"] else "<"
        return f"{takes_part} AND {value} {sign} lag({value}) OVER ({window})"

    def judge(
        self, failing: int, total: int, keys: int, column: str, arguments: Arguments
    ) -> Verdict:
        word = "not above" if arguments["strict"] else "below"
        order = ", ".join(_names(arguments, "order_by"))
        return rows_verdict(failing, total, f"have {column} {word} the row before, by {order}")


def _names(arguments: Arguments, name: str) -> tuple[str, ...]:
    return arguments[name]  # type: ignore[return-value]
