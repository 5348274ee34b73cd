"""Whether two columns can be compared without a cast that fails or loses digits."""

from __future__ import annotations

import re

from lakeproof.model.column import Column, TypeFamily

_INTEGER_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}

_DIGITS_MAX = 38


def comparison_problem(left: Column, right: Column) -> str:
    """Why a comparison would fail or would not be exact; '' if it is fine."""
    families = {left.family, right.family}
    if TypeFamily.OTHER in families:
        return "not every engine has an order for such types"
    if left.family.is_number and right.family.is_number:
        return _number_problem(left, right)
    if len(families) > 1:
        return "the types are not alike"
    if (left.is_collated or right.is_collated) and left.type_text != right.type_text:
        return "their collations differ"
    return ""


def _number_problem(left: Column, right: Column) -> str:
    families = {left.family, right.family}
    if families == {TypeFamily.FLOAT}:
        return ""
    if families == {TypeFamily.FLOAT, TypeFamily.DECIMAL}:
        return "most decimal fractions have no exact floating-point form"
    if TypeFamily.FLOAT in families:
        wide = "bigint" in {left.type_text, right.type_text}
        return "a floating-point number holds integers exactly only up to 2**53" if wide else ""
    if _common_digits(left, right) > _DIGITS_MAX:
        return f"together they need more than {_DIGITS_MAX} digits, and Spark would round"
    return ""


def _common_digits(left: Column, right: Column) -> int:
    (left_whole, left_scale), (right_whole, right_scale) = _digits(left), _digits(right)
    return max(left_whole, right_whole) + max(left_scale, right_scale)


def _digits(column: Column) -> tuple[int, int]:
    """Digits before and after the point."""
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", column.type_text)
    if found:
        return int(found[1]) - int(found[2]), int(found[2])
    return _INTEGER_DIGITS[column.type_text], 0
