"""Expectations about each row: the values of a column, or several columns of one row.

`mostly` is the share of values that must be good, NULLs left out of the count; only an
expectation about NULL counts all rows. Of no values at all, any share is good. It is exact: 9 of
10 fulfil `mostly: 0.9`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from lakeproof.checks.literals import text_literal
from lakeproof.contracts.column_sql import column_sql
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.expected_bounds import (
    BOUNDS,
    is_strict,
    limits,
    there,
    whole_limits,
)
from lakeproof.contracts.engines.given import Given, all_of
from lakeproof.contracts.engines.type_names import spark_types
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.value_path import has_elements

Build = Callable[[Given], list[Draft]]


def _mostly(given: Given, draft: Draft, *counted: str) -> list[Draft]:
    """The draft with what `mostly` allows, as a share of the rows that the conditions leave."""
    mostly = given.number("mostly")
    share = Fraction(1) if mostly is None else Fraction(str(mostly))
    if not 0 <= share <= 1:
        raise given.refusal("mostly", "a share from 0 to 1", mostly)
    if share == 1:
        return [draft]
    allowed = Comparison(
        (Term(Operator.LESS_OR_EQUAL, 100 * (1 - share)),),
        unit=Unit.PERCENT,
        duplicates="rows",
        empty_passes=True,
    )
    return [replace(draft, comparison=allowed, filter=all_of(draft.filter, *counted))]


def _values(given: Given, check: str, path: str, params: Mapping[str, object]) -> list[Draft]:
    """A check of one column's values, of which NULL is none."""
    draft = Draft(check, (path,), params)
    if not has_elements(path):
        return _mostly(given, draft, f"{column_sql(path)} IS NOT NULL")
    found = _mostly(given, draft)
    if found == [draft]:
        return found
    note = f"mostly counts rows here, for {path} has several values in each"
    return [replace(one, notes=(note,)) for one in found]


def _texts(given: Given, path: str, condition: str) -> list[Draft]:
    """A condition over one column that no single check has."""
    draft = Draft("row_expression", params={"expression": condition})
    return _mostly(given, draft, f"{column_sql(path)} IS NOT NULL")


def not_null(given: Given) -> list[Draft]:
    return _mostly(given, Draft("not_null", (given.column(),)))


def null(given: Given) -> list[Draft]:
    condition = f"{column_sql(given.column())} IS NULL"
    return _mostly(given, Draft("row_expression", params={"expression": condition}))


def unique(given: Given) -> list[Draft]:
    """Every row that shares its value counts, not only those beyond the first."""
    path = given.column()
    return _mostly(given, _key("uniqueness", (path,)), f"{column_sql(path)} IS NOT NULL")


def _key(check: str, paths: Sequence[str], params: Mapping[str, object] | None = None) -> Draft:
    none = Comparison((Term(Operator.MUST_BE, 0),), unit=Unit.ROWS, duplicates="rows")
    return Draft(check, tuple(paths), params or {}, None, none, choices={"duplicates": "rows"})


def in_set(given: Given) -> list[Draft]:
    path = given.column()
    listed = {"accepted": given.values("value_set", path)}
    return _values(given, "accepted_values", path, listed)


def not_in_set(given: Given) -> list[Draft]:
    path = given.column()
    listed = {"invalid_values": given.values("value_set", path)}
    return _values(given, "invalid_values", path, listed)


def between(given: Given) -> list[Draft]:
    bounds = there(BOUNDS, limits(given))
    strict = {
        "min_value": is_strict(given, "strict_min"),
        "max_value": is_strict(given, "strict_max"),
    }
    ends = {name.replace("value", "exclusive"): True for name in bounds if strict[name]}
    return _values(given, "range", given.column(), {**bounds, **ends})


def pattern(check: str) -> Build:
    def build(given: Given) -> list[Draft]:
        pattern = given.needed_text("regex")
        return _values(given, check, given.column(), {"pattern": pattern})

    return build


def patterns(sign: str, listed: str, *, wanted: bool) -> Build:
    """One or more patterns, of which any, all or none must match."""

    def build(given: Given) -> list[Draft]:
        path = given.column()
        patterns = given.texts(listed) if listed.endswith("list") else [given.needed_text(listed)]
        match_on = given.text("match_on", "any", ("any", "all")) if wanted else "any"
        value = column_sql(path)
        each = [f"{value} {sign} {text_literal(one).sql('spark')}" for one in patterns]
        joined = (" OR " if match_on == "any" else " AND ").join(each)
        return _texts(given, path, joined if wanted else f"NOT ({joined})")

    return build


def lengths(given: Given) -> list[Draft]:
    low, high = whole_limits(given)
    bounds = there(("min_length", "max_length"), (low, high))
    return _values(given, "length_range", given.column(), bounds)


def length(given: Given) -> list[Draft]:
    given.need("value")
    length = given.whole("value")
    bounds = {"min_length": length, "max_length": length}
    return _values(given, "length_range", given.column(), bounds)


def of_type(*names: str) -> Build:
    def build(given: Given) -> list[Draft]:
        for name in names:
            listed = given.take(name)
            if listed is not None:
                texts = [listed] if isinstance(listed, str) else given.texts(name)
                return [_type_draft(given, texts)]
        raise CheckDefinitionError(f"{given.test} needs {names[0]!r}")

    return build


def _type_draft(given: Given, names: Sequence[str]) -> Draft:
    given.take("mostly")  # a column has one type for all its values
    path = given.column()
    return Draft("column_type", params={"column": path, **spark_types(names)})


# ------------------------------------------------------------------------- several columns of a row


def pair(operator: str) -> Build:
    def build(given: Given) -> list[Draft]:
        paths = (given.column("column_a"), given.column("column_b"))
        left, right = map(column_sql, paths)
        ignored = given.text(
            "ignore_row_if",
            "both_values_are_missing",
            ("both_values_are_missing", "either_value_is_missing", "neither", "never"),
        )
        counted = {
            "both_values_are_missing": f"{left} IS NOT NULL OR {right} IS NOT NULL",
            "either_value_is_missing": f"{left} IS NOT NULL AND {right} IS NOT NULL",
        }.get(ignored, "")
        sign = f"{operator}=" if operator == ">" and given.flag("or_equal") else operator
        if operator != "=" or ignored == "either_value_is_missing":
            return _mostly(given, Draft("column_pair", paths, {"operator": sign}), counted)
        # A value beside a missing one is not equal to it.
        equal = Draft("row_expression", params={"expression": f"{left} <=> {right}"})
        return _mostly(given, equal, counted)

    return build


def compound_key(given: Given) -> list[Draft]:
    paths = given.columns("column_list")
    ignored = given.text(
        "ignore_row_if",
        "all_values_are_missing",
        ("all_values_are_missing", "any_value_is_missing", "never"),
    )
    there = [f"{column_sql(path)} IS NOT NULL" for path in paths]
    if ignored == "any_value_is_missing":
        return _mostly(given, _key("uniqueness", paths), " AND ".join(there))
    key = _key("unique_key", paths, {"nulls": "equal"})
    if ignored == "all_values_are_missing":
        key = replace(key, filter=" OR ".join(there))
    return _mostly(given, key)
