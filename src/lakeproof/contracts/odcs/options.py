"""`logicalTypeOptions`: what each key asks of a property's values, as a check of ours.

NULL never breaks an option. `distanceMetric` and the `embeddingModel` keys of a vector ask nothing
of its values, nor do `uniqueItems`, `normalized` and `exclusive*` that are false: they are no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeproof.checks.literals import as_datetime
from lakeproof.checks.moment_text import spark_pattern
from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Property
from lakeproof.contracts.draft import Draft, error, skipped
from lakeproof.contracts.odcs.ecma import java_pattern
from lakeproof.contracts.odcs.known_keys import OPTIONS
from lakeproof.contracts.odcs.physical_types import physical_types
from lakeproof.contracts.odcs.scalars import whole_number_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest

MOMENTS = ("date", "timestamp", "time")
_NUMBERS = ("integer", "number")
_TEXT_FORMATS = {
    **{kind: kind for kind in ("email", "uuid", "uri", "hostname", "ipv4", "ipv6", "date")},
    "byte": "base64",
    "date-time": "timestamp",
    "json": "json",
}
_FORMATS_OF_ANYTHING = {
    "password": "it says how the text is shown, not what it holds",
    "binary": "every value is a sequence of bytes",
}
_FLOAT_LIMITS = {"f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
_WIDTHS = (8, 16, 32, 64, 128)
_RANGES: Mapping[str, tuple[int | float, int | float]] = {
    **{f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in _WIDTHS},
    **{f"u{bits}": (0, 2**bits - 1) for bits in _WIDTHS},
    **{name: (-limit, limit) for name, limit in _FLOAT_LIMITS.items()},
}
"""The smallest and the largest value of each numeric format; NaN and infinity are outside."""

_ELEMENT_TYPES = {
    **dict.fromkeys(("float16", "bfloat16", "float32", "float"), ("float",)),
    **dict.fromkeys(("float64", "double"), ("double",)),
    "int8": ("tinyint",),
    "int16": ("smallint",),
    "int32": ("int",),
    "int64": ("bigint",),
    "uint8": ("smallint",),
    "uint16": ("int",),
}
_ISO_TIME = "HH:mm[:ss[.SSSSSSSSS]]"
_NO_RULES = frozenset({"distanceMetric", "embeddingModel", "embeddingModelVersion"})


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a property's options, with what its reading may depend on."""

    part: Property
    key: str
    value: object
    settings: ContractSettings

    def draft(self, check: str, **params: object) -> Draft:
        return Draft(check=check, columns=(self.part.path,), params=params)

    def size(self) -> int:
        """The value as a number of things."""
        found = whole_number_of(self.value)
        if found is None or found < 0:
            raise CheckDefinitionError(
                f"{self.key} must be a whole number of at least 0, got {self.value!r}"
            )
        return found

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise CheckDefinitionError(f"{self.key} must be true or false, got {self.value!r}")
        return self.value


def option_drafts(part: Property, settings: ContractSettings) -> Iterator[tuple[str, Draft]]:
    """Each option with its drafts, in the file's order."""
    for key, value in part.options.items():
        given = Option(part, key, value, settings)
        try:
            drafts = list(_drafts(given))
        except CheckDefinitionError as problem:
            drafts = [error(str(problem))]
        yield from ((key, draft) for draft in drafts)


def _drafts(given: Option) -> Sequence[Draft]:
    kind = given.part.logical_type
    known = OPTIONS.get(kind) if kind else tuple(_READERS)
    if given.key in _NO_RULES:
        return []
    if known is not None and given.key not in known and given.key in _READERS:
        return [skipped(f"{given.key} is no option of the logicalType {kind}")]
    if given.key not in _READERS:
        near = nearest(given.key, _READERS, count_max=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return [skipped(f"{given.key} is no option that the standard knows.{hint}")]
    return _READERS[given.key](given)


def _length(parameter: str) -> Callable[[Option], list[Draft]]:
    return lambda given: [given.draft("length_range", **{parameter: given.size()})]


def _fields(parameter: str) -> Callable[[Option], list[Draft]]:
    return lambda given: [given.draft("field_count", **{parameter: given.size()})]


def _pattern(given: Option) -> list[Draft]:
    if not isinstance(given.value, str):
        raise CheckDefinitionError(f"pattern must be a text, got {given.value!r}")
    reading = given.settings.regex
    draft = given.draft(
        "matches_pattern", pattern=java_pattern(given.value), full=reading == "full"
    )
    return [replace(draft, choices={"regex": reading})]


def _format(given: Option) -> list[Draft]:
    if not isinstance(given.value, str) or not given.value:
        raise CheckDefinitionError(f"format must be a text, got {given.value!r}")
    kind, name = given.part.logical_type, given.value
    if kind in MOMENTS:
        return [_moment_format(given)]
    if name in _RANGES and kind in {"", *_NUMBERS}:
        low, high = _RANGES[name]
        return [given.draft("range", min_value=low, max_value=high)]
    if name in _TEXT_FORMATS and kind in {"", "string"}:
        return [given.draft("format", kind=_TEXT_FORMATS[name])]
    why = _FORMATS_OF_ANYTHING.get(name)
    if why and kind in {"", "string"}:
        return [skipped(f"the format {name!r} cannot be checked: {why}")]
    known = (*_TEXT_FORMATS, *_FORMATS_OF_ANYTHING) if kind in {"", "string"} else tuple(_RANGES)
    near = ", ".join(nearest(name, known) or known)
    return [skipped(f"no check is known for the format {name!r}. Nearest known: {near}")]


def _moment_format(given: Option) -> Draft:
    kinds = stored_kinds(given.part)
    if kinds and "string" not in kinds:
        return skipped(
            f"the column is stored as {' or '.join(kinds)}, without a format: "
            f"{given.value!r} says how it is shown"
        )
    try:
        pattern = spark_pattern("date_format", str(given.value))
    except CheckDefinitionError as problem:
        return skipped(str(problem))
    return given.draft("date_format", pattern=pattern)


def stored_kinds(part: Property) -> tuple[str, ...]:
    """The Spark types that the physicalType allows, whatever the server; () if it says nothing."""
    if not part.physical_type:
        return ()
    return physical_types(part.physical_type, "", part.logical_type).types


def _bound(given: Option) -> list[Draft]:
    is_low = given.key.lower().endswith("minimum")
    side = "min" if is_low else "max"
    plain = "minimum" if is_low else "maximum"
    flag = given.part.options.get("exclusiveMinimum" if is_low else "exclusiveMaximum")
    if isinstance(given.value, bool):
        if given.value and plain not in given.part.options:
            raise CheckDefinitionError(f"{given.key}: true needs a {plain} beside it")
        return []  # said by the draft of minimum or maximum
    is_open = given.key != plain or flag is True
    params: dict[str, object] = {f"{side}_value": _bound_value(given)}
    if is_open:
        params[f"{side}_exclusive"] = True
    pattern = _text_pattern(given.part)
    if pattern:
        params["pattern"] = pattern
    draft = given.draft("range", **params)
    notes = ("exclusive, as the truth value beside it says",) if flag is True else ()
    return [replace(draft, notes=notes)]


def _bound_value(given: Option) -> object:
    value, kind = given.value, given.part.logical_type
    if isinstance(value, (int, float, Decimal)) and kind not in MOMENTS:
        return value
    if isinstance(value, str) and kind in _NUMBERS:
        try:
            return Decimal(value.strip())
        except InvalidOperation:
            raise CheckDefinitionError(f"{given.key} must be a number, got {value!r}") from None
    if isinstance(value, str) and kind in {"", *MOMENTS} and _is_moment(value, kind):
        return value
    wanted = {
        "time": "a time such as 08:30:00",
        "date": "a date such as 2024-01-31",
        "timestamp": "a moment such as 2024-01-31T08:30:00Z",
    }.get(kind, "a number, or a date or time in ISO form")
    raise CheckDefinitionError(f"{given.key} must be {wanted}, got {value!r}")


def _is_moment(text: str, kind: str) -> bool:
    if kind != "time":
        return as_datetime(text) is not None
    try:
        time.fromisoformat(text)
    except ValueError:
        return False
    return True


def _text_pattern(part: Property) -> str:
    """By which pattern the column's texts are read, if it holds texts; '' if none is known."""
    if part.logical_type not in MOMENTS:
        return ""
    given = part.options.get("format")
    if isinstance(given, str):
        try:
            return spark_pattern("range", given)
        except CheckDefinitionError:
            return ""  # said by the draft of the format
    return _ISO_TIME if part.logical_type == "time" else ""


def _multiple_of(given: Option) -> list[Draft]:
    value = _bound_value(given)
    if isinstance(value, str):
        raise CheckDefinitionError(f"multipleOf must be a number, got {value!r}")
    return [given.draft("multiple_of", factor=value)]


def _required_fields(given: Option) -> list[Draft]:
    if not isinstance(given.value, Sequence) or isinstance(given.value, str):
        raise CheckDefinitionError(f"required must be a list of names, got {given.value!r}")
    inner = {one.name: one.path for one in given.part.properties}
    return [
        Draft(
            check="not_null",
            columns=(inner.get(str(name), f"{given.part.path}.{name}"),),
            params={"parent_optional": True},
            label=str(name),
        )
        for name in given.value
    ]


def _unique_items(given: Option) -> list[Draft]:
    return [given.draft("unique_items")] if given.truth() else []


def _normalized(given: Option) -> list[Draft]:
    return [given.draft("is_normalized")] if given.truth() else []


def _dimensions(given: Option) -> list[Draft]:
    return [given.draft("length_range", min_length=given.size(), max_length=given.size())]


def _element_type(given: Option) -> list[Draft]:
    types = _ELEMENT_TYPES.get(str(given.value).lower())
    if types is None:
        known = ", ".join(_ELEMENT_TYPES)
        return [skipped(f"the elementType {given.value!r} has no type in Spark. Known: {known}")]
    return [Draft(check="column_type", params={"column": f"{given.part.path}[]", "types": types})]


def _timezone(given: Option) -> list[Draft]:
    has_zone = given.truth()
    kinds = stored_kinds(given.part)
    if given.part.logical_type == "time" or kinds == ("string",):
        return [skipped("timezone is about how a text is written: its format says that")]
    wanted = ["timestamp" if has_zone else "timestamp_ntz"]
    if "format" in given.part.options:
        wanted.append("string")
    params = {"column": given.part.path, "types": tuple(wanted)}
    return [Draft(check="column_type", params=params)]


def _default_timezone(given: Option) -> list[Draft]:
    try:
        ZoneInfo(str(given.value))
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise CheckDefinitionError(
            f"defaultTimezone is not an IANA zone: {given.value!r}"
        ) from problem
    return [skipped("it says which zone is meant where none is written: nothing to compare with")]


_READERS: Mapping[str, Callable[[Option], Sequence[Draft]]] = {
    "minLength": _length("min_length"),
    "maxLength": _length("max_length"),
    "pattern": _pattern,
    "format": _format,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound),
    "multipleOf": _multiple_of,
    "timezone": _timezone,
    "defaultTimezone": _default_timezone,
    "minProperties": _fields("min_fields"),
    "maxProperties": _fields("max_fields"),
    "required": _required_fields,
    "minItems": _length("min_length"),
    "maxItems": _length("max_length"),
    "uniqueItems": _unique_items,
    "dimensions": _dimensions,
    "elementType": _element_type,
    "normalized": _normalized,
}
