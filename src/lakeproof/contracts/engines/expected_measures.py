"""Expectations about a column or a table as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lakeproof.checks.bounds import NUMBER
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.expected_bounds import (
    BOUNDS,
    is_strict,
    limits,
    there,
    whole_limits,
)
from lakeproof.contracts.engines.given import Given
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term

Build = Callable[[Given], list[Draft]]


def aggregate(function: str) -> Build:
    return lambda given: [_measure(given, {"function": function}, *limits(given))]


def _measure(given: Given, params: Mapping[str, object], low: object, high: object) -> Draft:
    """An aggregate within bounds; one that excludes an end is compared as a number."""
    path = given.column()
    ends = (is_strict(given, "strict_min"), is_strict(given, "strict_max"))
    if not any(ends):
        return Draft("aggregate", (path,), {**params, **there(BOUNDS, (low, high))})
    signs = (
        Operator.GREATER if ends[0] else Operator.GREATER_OR_EQUAL,
        Operator.LESS if ends[1] else Operator.LESS_OR_EQUAL,
    )
    terms = []
    for name, sign, bound in zip(BOUNDS, signs, (low, high), strict=True):
        if isinstance(bound, str):
            raise CheckDefinitionError(
                f"{given.test} has {name} {bound!r}: only a number can be excluded by strict_min "
                "or strict_max. Use the next date or timestamp without it"
            )
        if isinstance(bound, NUMBER):
            terms.append(Term(sign, bound))
    return Draft("aggregate", (path,), params, comparison=Comparison(tuple(terms)))


def quantiles(given: Given) -> list[Draft]:
    """One draft per quantile; between two values a quantile is linear."""
    given.take("allow_relative_error")  # ours are exact
    if given.take("quantile") is not None:
        low, high = limits(given)
        return [_measure(given, _quantile(given.number("quantile")), low, high)]
    ranges = given.need("quantile_ranges")
    quantiles = ranges.get("quantiles") if isinstance(ranges, Mapping) else None
    bounds = ranges.get("value_ranges") if isinstance(ranges, Mapping) else None
    if (
        not (isinstance(quantiles, Sequence) and isinstance(bounds, Sequence))
        or len(quantiles) != len(bounds)
        or not quantiles
    ):
        raise given.refusal("quantile_ranges", "quantiles and as many value_ranges", ranges)
    return [
        replace(
            _measure(given, _quantile(quantile), *_ends(given, limits)),
            label=f"quantile {quantile}",
        )
        for quantile, limits in zip(quantiles, bounds, strict=True)
    ]


def _quantile(share: object) -> dict[str, object]:
    return {"function": "percentile", "percentile": share}


def _ends(given: Given, limits: object) -> tuple[object, object]:
    if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) != 2:  # noqa: PLR2004
        raise given.refusal("value_ranges", "lists of a least and a greatest value", limits)
    return limits[0], limits[1]


def value_set(mode: str) -> Build:
    def build(given: Given) -> list[Draft]:
        path = given.column()
        listed = given.values("value_set", path)
        return [Draft("value_set", (path,), {"values": listed, "mode": mode})]

    return build


# ------------------------------------------------------------------------------ the table as whole


def row_count(given: Given) -> list[Draft]:
    low, high = whole_limits(given)
    return [Draft("row_count_range", params=there(("min_count", "max_count"), (low, high)))]


def exact_count(check: str) -> Build:
    def build(given: Given) -> list[Draft]:
        given.need("value")
        count = given.whole("value")
        return [Draft(check, params={"min_count": count, "max_count": count})]

    return build


def column_count(given: Given) -> list[Draft]:
    low, high = whole_limits(given)
    return [Draft("column_count_range", params=there(("min_count", "max_count"), (low, high)))]


def column_exists(given: Given) -> list[Draft]:
    if given.take("column_index") is not None:
        raise CheckDefinitionError(
            f"{given.test} with a column_index is not run. Use "
            "expect_table_columns_to_match_ordered_list, which says where each column stands"
        )
    if isinstance(given.take("column"), str):
        return [Draft("schema", params={"columns": given.names("column")})]
    part = given.setting.part
    name = given.column() if part is None else part.physical_name
    return [Draft("schema", params={"columns": [name]})]


def columns_match_set(given: Given) -> list[Draft]:
    name = "column_set" if given.take("column_set") is not None else "column_list"
    exact = given.flag("exact_match", default=True)
    return [Draft("schema", params={"columns": given.names(name), "extra": not exact})]


def columns_contain_set(given: Given) -> list[Draft]:
    return [Draft("schema", params={"columns": given.names("column_list")})]


def columns_match_list(given: Given) -> list[Draft]:
    columns = given.names("column_list")
    return [Draft("schema", params={"columns": columns, "order": True, "extra": False})]
