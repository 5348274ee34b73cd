"""A check's parameters: declared once, read strictly, listed in the generated documentation."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lakeproof.errors import CheckDefinitionError


@dataclass(frozen=True, slots=True)
class Parameter:
    """One entry of `params`. `types` are the Python types that it may have."""

    name: str
    types: tuple[type, ...]
    meaning: str
    required: bool = False
    default: object = None


def read_arguments(
    check: str, parameters: Sequence[Parameter], params: Mapping[str, object]
) -> dict[str, object]:
    """Every parameter with its value or default; an unknown, missing or mistyped one is refused.

    Text is brought to Unicode form NFC here, before it is either hashed or run, so that the
    logic that is identified is the logic that runs.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in params:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(sorted(known)) or "none"
            raise CheckDefinitionError(
                f"unknown parameter {name!r} of check {check!r}.{hint} Known: {listed}."
            )
    return {name: _argument(check, known[name], params) for name in known}


def _argument(check: str, parameter: Parameter, params: Mapping[str, object]) -> object:
    value = params.get(parameter.name)
    if value is None:
        if parameter.required:
            raise CheckDefinitionError(
                f"check {check!r} needs parameter {parameter.name!r}: {parameter.meaning}"
            )
        return parameter.default
    fits = isinstance(value, parameter.types)
    if isinstance(value, bool) and bool not in parameter.types:
        fits = False  # True is an int to Python, but not a row count to anyone
    if not fits:
        expected = " or ".join(kind.__name__ for kind in parameter.types)
        raise CheckDefinitionError(
            f"parameter {parameter.name!r} of check {check!r} must be {expected}, got {value!r}"
        )
    return normalise_text(value)


def normalise_text(value: object) -> object:
    """Strings in NFC, also inside lists and mappings; everything else as it is."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, Mapping):
        return {normalise_text(key): normalise_text(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return frozenset(normalise_text(item) for item in value)
    if isinstance(value, (list, tuple)) and set(map(type, value)) == {str}:
        return tuple(unicodedata.normalize("NFC", text) for text in value)
    if isinstance(value, (list, tuple)):
        return tuple(normalise_text(item) for item in value)
    return value
