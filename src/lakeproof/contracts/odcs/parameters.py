"""`parameters` of the RFC's first option: a list of {parameter, value}, or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from lakeproof.contracts.odcs.operators import is_operator_like, read_number
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Operator, Unit, shown

_PERCENT = 100


def read_parameters(given: object) -> dict[str, object]:
    """The parameters by name; a malformed or repeated one is refused."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise CheckDefinitionError(f"parameters must be a list or a mapping, got {given!r}")
    found: dict[str, object] = {}
    for one in given:
        name = one.get("parameter") if isinstance(one, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            raise CheckDefinitionError(
                f"each of parameters is written `parameter: name` with `value: ...`, got {one!r}"
            )
        if name in found:
            raise CheckDefinitionError(f"parameter {name!r} is given twice")
        found[name] = one.get("value")
    return found


def with_tolerance(given: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """The parameters with `tolerance` as the operator that it stands for, and what to say of it.

    The RFC says "less than 2%": a share of exactly the tolerance fails. Nothing is less than
    0 %, so a tolerance of 0 tolerates nothing.
    """
    rest = {name: value for name, value in given.items() if name != "tolerance"}
    tolerance = given.get("tolerance")
    if tolerance is None:
        return rest, ()
    operators = [name for name in rest if is_operator_like(name)]
    if operators:
        raise CheckDefinitionError(
            f"tolerance beside an operator: {', '.join(operators)}. Each says how much may be bad; "
            "keep one"
        )
    percent = read_share(tolerance) * _PERCENT
    if percent == 0:
        return {**rest, Operator.MUST_BE.value: 0}, ("tolerance 0: no row may be bad",)
    note = f"tolerance {shown(percent)} % is strict: exactly {shown(percent)} % of rows fails"
    return {**rest, Operator.LESS.value: percent, "unit": Unit.PERCENT.value}, (note,)


def read_share(tolerance: object) -> Fraction:
    """`2%`, `0.02` and the text of it are two hundredths."""
    text = str(tolerance).strip()
    if text.endswith("%"):
        return Fraction(str(read_number("tolerance", text, Unit.PERCENT))) / _PERCENT
    share = Fraction(str(read_number("tolerance", tolerance, Unit.NONE)))
    if not 0 <= share <= 1:
        raise CheckDefinitionError(
            f"tolerance is {tolerance!r}; write a share such as 2% or 0.02, from 0 to 100 %"
        )
    return share
