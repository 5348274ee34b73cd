"""Each test of dbt and dbt_utils as a check of ours; those of dbt_expectations are expectations.

As in dbt, NULL passes unless a test is about NULL, and a combination of columns repeats with its
NULLs taken as equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from lakeproof.checks.bounds import NUMBER
from lakeproof.contracts.column_sql import column_sql
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.expectations import EXPECTATIONS, expectation_drafts
from lakeproof.contracts.engines.given import Given, as_number
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

Build = Callable[[Given], list[Draft]]

_CALL = re.compile(r"(ref|source)\s*\(\s*(.*?)\s*\)", re.DOTALL)
_QUOTED = re.compile(r"""(['"])(.*?)\1""")
_AGES = {
    "second": "s",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
    "month": "mo",
    "quarter": "mo",
    "year": "y",
}


def _not_null(given: Given) -> list[Draft]:
    return [Draft("not_null", (given.column(),))]


def _unique(given: Given) -> list[Draft]:
    return [Draft("uniqueness", (given.column(),))]


def _accepted_values(check: str, parameter: str) -> Build:
    def build(given: Given) -> list[Draft]:
        path = given.column()
        listed = given.values("values", path)
        if not given.flag("quote", default=True):
            listed = [as_number(one) if isinstance(one, str) else one for one in listed]
        return [Draft(check, (path,), {parameter: listed})]

    return build


def _relationships(given: Given) -> list[Draft]:
    source, table = _referred(given.needed_text("to"))
    is_known = given.setting.contract.object_named(table) is not None
    params = {
        "references": given.table(table if is_known or not source else f"{source}.{table}"),
        "referenced_columns": [given.column_of(table, given.needed_text("field"))],
    }
    return [Draft("foreign_key", (given.column(),), params)]


def _referred(text: str) -> tuple[str, str]:
    """The source, if any, and the table: `ref('orders')`, `source('shop', 'orders')`, `orders`."""
    bare = text.strip().removeprefix("{{").removesuffix("}}").strip()
    call = _CALL.fullmatch(bare)
    if call is None:
        return "", bare
    names = [str(found[2]) for found in _QUOTED.finditer(call[2])]
    if not names:
        raise CheckDefinitionError(f"'to' of relationships names no table: {text!r}")
    return (names[0] if call[1] == "source" and len(names) > 1 else ""), names[-1]


def _unique_combination(given: Given) -> list[Draft]:
    given.take("quote_columns")
    paths = given.columns("combination_of_columns")
    return [Draft("unique_key", paths, {"nulls": "equal"})]


def _expression_is_true(given: Given) -> list[Draft]:
    """On a column, the expression is what stands behind it: `>= 0`."""
    expression = given.needed_text("expression")
    at_column = given.setting.column or given.take("column_name") is not None
    whole = f"{column_sql(given.column())} {expression}" if at_column else expression
    return [Draft("row_expression", params={"expression": whole})]


def _accepted_range(given: Given) -> list[Draft]:
    """Numbers are bounds; anything else is SQL, as dbt takes it: `other_column`, `'2024-01-01'`."""
    path = given.column()
    bounds = {name: given.bound(name) for name in ("min_value", "max_value")}
    there = {name: bound for name, bound in bounds.items() if bound is not None}
    if not there:
        raise CheckDefinitionError(f"{given.test} needs min_value, max_value or both")
    inclusive = given.flag("inclusive", default=True)
    if all(isinstance(bound, NUMBER) for bound in there.values()):
        ends = {} if inclusive else {name.replace("value", "exclusive"): True for name in there}
        return [Draft("range", (path,), {**there, **ends})]
    signs = {"min_value": ">", "max_value": "<"}
    condition = " AND ".join(
        f"{column_sql(path)} {signs[name]}{'=' if inclusive else ''} ({bound})"
        for name, bound in there.items()
    )
    return [Draft("row_expression", params={"expression": condition})]


def _not_null_proportion(given: Given) -> list[Draft]:
    _refuse_groups(given)
    given.need("at_least")
    least, most = given.number("at_least"), given.number("at_most")
    terms = [Term(Operator.LESS_OR_EQUAL, _percent_left(least))]
    if most is not None and most < 1:
        terms.append(Term(Operator.GREATER_OR_EQUAL, _percent_left(most)))
    share = Comparison(tuple(terms), unit=Unit.PERCENT, empty_passes=True)
    return [Draft("not_null", (given.column(),), comparison=share)]


def _percent_left(share: float | Decimal | None) -> Fraction:
    """What a share of values leaves for NULL, in percent."""
    return 100 * (1 - Fraction(str(share)))


def _recency(given: Given) -> list[Draft]:
    _refuse_groups(given)
    part = given.needed_text("datepart").lower().removesuffix("s")
    given.need("interval")
    count = given.whole("interval") or 0
    if part not in _AGES:
        raise given.refusal("datepart", f"one of {', '.join(_AGES)}", part)
    by_day = given.flag("ignore_time_component")
    if by_day and part in {"second", "minute", "hour"}:
        raise CheckDefinitionError(
            f"{given.test} ignores the time of day, so its datepart must be a day or longer"
        )
    age = f"{count * (3 if part == 'quarter' else 1)}{_AGES[part]}"
    limit = {"max_age": age, **({"by_day": True} if by_day else {})}
    note = "a table without any value fails here; dbt lets it pass"
    return [Draft("freshness", (given.column("field", "column_name"),), limit, notes=(note,))]


def _refuse_groups(given: Given) -> None:
    for name in ("group_by_columns", "group_by"):
        if given.take(name):
            raise CheckDefinitionError(
                f"{given.test} with {name} is not run: a rule judges its table as a whole"
            )


def _expectation(name: str) -> Build:
    """The twin of an expectation, whose arguments are named a little differently."""

    def build(given: Given) -> list[Draft]:
        _refuse_groups(given)
        expected = _as_expected(given)
        found = expectation_drafts(expected, name)
        return [replace(draft, notes=(*draft.notes, *expected.unread())) for draft in found]

    return build


def _as_expected(given: Given) -> Given:
    for name in ("quote_values", "quote_columns", "is_raw", "transform", "output"):
        given.take(name)
    flags = given.text("flags")
    known = {name: given.take(name) for name in given.untaken()}
    # Where a value is missing, dbt's comparison is NULL, which is no failure.
    known.setdefault("ignore_row_if", "either_value_is_missing" if "column_a" in known else None)
    if known.get("row_condition") is not None:
        known["condition_parser"] = "spark"
    if flags and isinstance(known.get("regex"), str):
        known["regex"] = f"(?{flags}){known['regex']}"
    return Given(given.test, known, given.setting)


DBT_TESTS: Mapping[str, Build] = {
    "not_null": _not_null,
    "unique": _unique,
    "accepted_values": _accepted_values("accepted_values", "accepted"),
    "relationships": _relationships,
    "dbt_utils.unique_combination_of_columns": _unique_combination,
    "dbt_utils.expression_is_true": _expression_is_true,
    "dbt_utils.accepted_range": _accepted_range,
    "dbt_utils.not_accepted_values": _accepted_values("invalid_values", "invalid_values"),
    "dbt_utils.not_null_proportion": _not_null_proportion,
    "dbt_utils.recency": _recency,
    **{f"dbt_expectations.{name}": _expectation(name) for name in EXPECTATIONS},
}
"""Every test that runs, by the name under which dbt finds it."""
