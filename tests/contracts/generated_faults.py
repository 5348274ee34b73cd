"""For each option of a schema: which values break it, and one that does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any

from generated_values import moment, stored
from pyspark.sql import types as T  # noqa: N812 (its usual name)

from lakeproof.contracts.contract import Property

UNBREAKABLE = object()
"""In place of a bad value, where the column's type has none."""

_LARGEST_FLOAT = 3.5e38
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d")


@dataclass(frozen=True)
class Fault:
    """One way to break a rule: what tells such a value from others, and one of them."""

    what: str
    breaks: Callable[[Any], bool]
    bad: object


@dataclass(frozen=True)
class Asked:
    """One option of a property whose values are like `clean`."""

    key: str
    given: Any
    part: Property
    kind: T.DataType
    clean: Any

    def fault(self, breaks: Callable[[Any], bool], bad: object) -> Fault:
        return Fault(self.key, breaks, bad)


def faults_of(
    part: Property, kind: T.DataType, clean: object, options: Mapping[str, object]
) -> Iterator[Fault]:
    """Each way to break the options. NULL breaks none of them but `null`."""
    for key, given in options.items():
        if key not in _FAULTS:
            continue
        found = _FAULTS[key](Asked(key, given, part, kind, clean))
        for one in found if isinstance(found, list) else [found]:
            yield one if key == "null" else replace(one, breaks=_present_and(one.breaks))


def _present_and(breaks: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is not None and breaks(value)


_BEYOND = {
    "minimum": (-1, lt),
    "maximum": (1, gt),
    "exclusiveMinimum": (-1, le),
    "exclusiveMaximum": (1, ge),
}


def _bound(asked: Asked) -> Fault:
    sign, beyond = _BEYOND[asked.key]
    kind, given = asked.kind, asked.given
    if isinstance(kind, T.StringType):  # what is no time of day is within no bounds of one
        return asked.fault(lambda value: not _TIME.fullmatch(value) or beyond(value, given), "noon")
    if isinstance(kind, (T.DateType, T.TimestampType)):
        bound = date.fromisoformat(given) if isinstance(kind, T.DateType) else moment(given)
        far = bound + sign * timedelta(days=400)  # where no time zone matters
        return asked.fault(lambda value: beyond(value, bound), far)
    limit = Decimal(str(given))
    bad = limit if asked.key.startswith("exclusive") else limit + sign
    return asked.fault(lambda value: beyond(Decimal(str(value)), limit), stored(kind, bad))


def _listed(asked: Asked) -> Fault:
    is_text = isinstance(asked.kind, T.StringType)
    bad = "not listed" if is_text else stored(asked.kind, Decimal(98765))
    return Fault("enum", lambda value: value not in asked.given, bad)


def _multiple(asked: Asked) -> Fault:
    step = Decimal(str(asked.given))
    bad: object = stored(asked.kind, Decimal(str(asked.clean)) + step / 2)
    if isinstance(asked.kind, T.DecimalType) and asked.kind.scale == 0 and step < 1:
        bad = UNBREAKABLE
    return asked.fault(lambda value: Decimal(str(value)) % step != 0, bad)


def _at_most_items(asked: Asked) -> Fault:
    bad = [asked.clean[0]] * (asked.given + 1)
    return asked.fault(lambda value: len(value) > asked.given, bad)


def _at_least_items(asked: Asked) -> Fault:
    bad = asked.clean[: asked.given - 1] if asked.given else UNBREAKABLE
    return asked.fault(lambda value: len(value) < asked.given, bad)


def _required(asked: Asked) -> list[Fault]:
    physical = {one.name: one.physical_name for one in asked.part.properties}
    named = {name: physical.get(name, name) for name in asked.given}
    return [
        Fault(
            f"required[{name}]",
            lambda value, inner=inner: value[inner] is None,
            {**asked.clean, inner: None},
        )
        for name, inner in named.items()
    ]


def _fields(asked: Asked) -> Fault:
    full = dict.fromkeys(asked.clean, "v")
    return asked.fault(
        lambda value: sum(one is not None for one in value.values()) > asked.given, full
    )


def _format(asked: Asked) -> list[Fault]:
    if asked.given == "f32":
        return [asked.fault(lambda value: abs(value) > _LARGEST_FLOAT, 1e39)]
    if asked.given == "HH:mm:ss":
        return [asked.fault(lambda value: _TIME.fullmatch(value) is None, "noon")]
    if asked.given == "i64":
        return [asked.fault(lambda value: abs(value) >= 2**63, UNBREAKABLE)]
    return []  # how a date is shown


_FAULTS: Mapping[str, Callable[[Asked], Fault | list[Fault]]] = {
    **dict.fromkeys(_BEYOND, _bound),
    "null": lambda asked: asked.fault(lambda value: value is None, None),
    "validValues": _listed,
    "minLength": lambda asked: asked.fault(
        lambda value: len(value) < asked.given, asked.clean[: asked.given - 1]
    ),
    "maxLength": lambda asked: asked.fault(
        lambda value: len(value) > asked.given, asked.clean.ljust(asked.given + 1, "x")
    ),
    "length": lambda asked: asked.fault(
        lambda value: len(value) != asked.given, "x" * (asked.given + 1)
    ),
    "pattern": lambda asked: asked.fault(
        lambda value: re.search(asked.given, value) is None, "?" * len(asked.clean)
    ),
    "multipleOf": _multiple,
    "minItems": _at_least_items,
    "maxItems": _at_most_items,
    "uniqueItems": lambda asked: asked.fault(
        lambda value: len(set(value)) < len(value), [asked.clean[0]] * 2
    ),
    "required": _required,
    "maxProperties": _fields,
    "format": _format,
}
