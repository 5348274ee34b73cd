"""Promises of service as checks: what a table can answer runs, what it cannot says why not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lakeproof.checks.available_by import time_of
from lakeproof.checks.literals import as_datetime
from lakeproof.contracts.contract import Contract, Object, Property, SlaEntry, custom_properties
from lakeproof.contracts.draft import Draft, PlacedDraft, Setting, error, skipped
from lakeproof.contracts.odcs.durations import read_duration
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.nearest import nearest
from lakeproof.model.printable import printable

_SYNONYMS = {
    "av": "availability",
    "th": "throughput",
    "er": "errorRate",
    "ga": "generalAvailability",
    "es": "endOfSupport",
    "el": "endOfLife",
    "re": "retention",
    "fy": "frequency",
    "ly": "latency",
    "td": "timeToDetect",
    "tn": "timeToNotify",
    "tr": "timeToRepair",
}
_NOT_IN_A_TABLE = {
    "availability": "how much of the time a service answers is not in its tables",
    "throughput": "how fast data is delivered is not in its tables",
    "errorRate": "how many requests fail is not in its tables",
    "timeToDetect": "when a problem was found is not in its tables",
    "timeToNotify": "when people were told of a problem is not in its tables",
    "timeToRepair": "when a problem was mended is not in its tables",
}
_KEYS = (
    "id",
    "property",
    "value",
    "valueExt",
    "unit",
    "element",
    "column",
    "driver",
    "description",
    "scheduler",
    "schedule",
    "customProperties",
    "authoritativeDefinitions",
)
_DECLARED = ("id", "driver", "schedule", "scheduler", "timezone")
_ZONED = re.compile(r"(\S+)\s+([A-Za-z]+(?:/[A-Za-z0-9_+-]+)+)")
_DELAY_ELEMENTS = 2
_NO_OBJECT = "the contract has no object that a result could be about"


class _NothingToAskError(LakeproofError):
    """A promise that is right, in a contract without anything that could answer it."""


@dataclass(frozen=True, slots=True)
class _Element:
    """What an entry is about: a property, or an object alone."""

    owner: Object
    part: Property | None
    label: str


@dataclass(frozen=True, slots=True)
class _Promise:
    """An entry with its canonical name."""

    contract: Contract
    entry: SlaEntry
    name: str

    @property
    def value(self) -> object:
        return self.entry.raw.get("value")

    @property
    def value_text(self) -> str:
        return "" if self.value is None else str(self.value).strip()

    def placed(self, draft: Draft, about: _Element | None = None) -> PlacedDraft:
        owner = about.owner if about else next(iter(self.contract.objects), None)
        part = about.part if about else None
        return PlacedDraft(draft, self.name, self.entry.pointer, owner, part)

    def duration(self) -> str:
        """The value with its unit, as our checks take it."""
        return str(read_duration(self.value, self.entry.raw.get("unit")))


def sla_drafts(setting: Setting) -> list[PlacedDraft]:
    """One draft or more for each entry of `slaProperties`, in the file's order.

    The second entry of one name is called `name[2]`. What an entry declares beside goes with the
    choices into the result, as its schedule says when it is due.
    """
    found: list[PlacedDraft] = []
    times: Counter[str] = Counter()
    for entry in setting.contract.sla:
        drafted = _of_entry(setting.contract, entry)
        name = drafted[0].what
        times[name] += 1
        what = name if times[name] == 1 else f"{name}[{times[name]}]"
        found += [replace(one, what=what, draft=_told(one.draft, entry)) for one in drafted]
    return found


def _told(draft: Draft, entry: SlaEntry) -> Draft:
    """The draft with what else its entry says."""
    given = {**entry.raw, **custom_properties(entry.raw.get("customProperties"))}
    declared = {key: str(given[key]) for key in _DECLARED if given.get(key) is not None}
    notes = (*draft.notes, *_notes(entry))
    return replace(draft, notes=notes, choices={**declared, **draft.choices})


def _of_entry(contract: Contract, entry: SlaEntry) -> list[PlacedDraft]:
    given = entry.raw.get("property")
    if not isinstance(given, str) or not given.strip():
        unnamed = _Promise(contract, entry, "sla")
        known = ", ".join(sorted(set(_NAMES.values())))
        reason = f"the service level has no property. Known: {known}"
        return [unnamed.placed(error(reason))]
    name = _canonical(given.strip())
    promise = _Promise(contract, entry, name)
    if name in _NOT_IN_A_TABLE:
        return [promise.placed(skipped(f"{name}: {_NOT_IN_A_TABLE[name]}"))]
    if name not in _MAKERS:
        return [promise.placed(skipped(_unknown(name)))]
    try:
        return list(_MAKERS[name](promise))
    except _NothingToAskError as problem:
        return [promise.placed(skipped(f"{name}: {problem}"))]
    except CheckDefinitionError as problem:
        return [promise.placed(error(f"{name}: {problem}"))]


def _canonical(given: str) -> str:
    """The property's own spelling, by name or synonym; letter case does not matter."""
    return _NAMES.get(given.casefold(), given)


def _unknown(name: str) -> str:
    near = nearest(name, set(_NAMES.values()))
    told = f"Nearest: {', '.join(near)}" if near else f"Known: {', '.join(sorted(_MAKERS))}"
    return f"the service level {printable(name)!r} has no meaning that can be checked. {told}"


def _notes(entry: SlaEntry) -> Iterator[str]:
    for key in entry.raw:
        if key not in _KEYS:
            near = nearest(str(key), _KEYS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{printable(key)!r} is no key of a service level; it is kept, not read{hint}"
    extended = entry.raw.get("valueExt")
    if extended is not None and str(extended) != str(entry.raw.get("value")):
        yield f"valueExt {printable(extended)!r} is kept, and not checked"


# ---------------------------------------------------------------------------------- elements


def _elements(promise: _Promise, default: str = "") -> list[_Element]:
    """What the entry names, else the default; raises for a name that is not in the schema."""
    raw = promise.entry.raw
    given = raw.get("element") or raw.get("column") or default
    texts = given if isinstance(given, Sequence) and not isinstance(given, str) else [given or ""]
    names = [name.strip() for text in texts for name in str(text).split(",")]
    return [_element(promise.contract, name) for name in names if name]


def _columns(promise: _Promise) -> list[tuple[_Element, Property]]:
    """The elements, else the contract's default one; all of them must be properties."""
    found = []
    for one in _elements(promise, promise.contract.sla_default_element):
        if one.part is None:
            raise CheckDefinitionError(
                f"element {one.label!r} is an object. Name a property: {one.label}.<property>"
            )
        found.append((one, one.part))
    return found


def _element(contract: Contract, name: str) -> _Element:
    if not contract.objects:
        raise _NothingToAskError(_NO_OBJECT)
    for owner in contract.objects:
        for called in dict.fromkeys((owner.name, owner.physical_name, owner.id)):
            if called and name.startswith(f"{called}."):
                part = owner.property_named(name[len(called) + 1 :])
                if part is not None:
                    return _Element(owner, part, name)
    alone = contract.object_named(name)
    holding = [(owner, part) for owner in contract.objects if (part := owner.property_named(name))]
    if len(holding) == 1:
        return _Element(*holding[0], name)
    if holding:
        told = ", ".join(f"{owner.name}.{name}" for owner, _ in holding)
        raise CheckDefinitionError(f"element {printable(name)!r} is in several objects: {told}")
    if alone is not None:
        return _Element(alone, None, name)
    known = [f"{owner.name}.{part.label}" for owner in contract.objects for part in owner.walk()]
    tail = name.rpartition(".")[2]
    same = [
        f"{one.name}.{part.label}" for one in contract.objects if (part := one.property_named(tail))
    ]
    near = same or nearest(name, known) or nearest(tail, known)
    hint = f" Nearest: {', '.join(near)}" if near else ""
    raise CheckDefinitionError(f"element {printable(name)!r} is not in the schema.{hint}")


# ------------------------------------------------------------------------- one maker per name

_NO_ELEMENT = "it names no element, so no column can answer it. Next: add element: object.property"


def _of_each_column(
    promise: _Promise, check: str, params: Mapping[str, object], **choices: str
) -> Iterator[PlacedDraft]:
    columns = _columns(promise)
    for one, part in columns:
        label = one.label if len(columns) > 1 else ""
        draft = Draft(check, (part.path,), params, label=label, choices=choices)
        yield promise.placed(draft, one)
    if not columns:
        yield promise.placed(skipped(f"{promise.name}: {_NO_ELEMENT}"))


def _freshness(promise: _Promise) -> Iterator[PlacedDraft]:
    return _of_each_column(promise, "freshness", {"max_age": promise.duration()})


def _latency(promise: _Promise) -> Iterator[PlacedDraft]:
    """One element: the age of its newest value. Two: the second minus the first, in each row."""
    columns = _columns(promise)
    if len(columns) < _DELAY_ELEMENTS:
        params = {"max_age": promise.duration()}
        yield from _of_each_column(promise, "freshness", params, latency="age of the newest value")
        return
    if len(columns) > _DELAY_ELEMENTS:
        raise CheckDefinitionError(
            f"{len(columns)} elements. Name one, or two: the source's time, then that of processing"
        )
    (first, source), (second, processed) = columns
    if first.owner.pointer != second.owner.pointer:
        raise CheckDefinitionError(
            f"{first.label} and {second.label} are in different objects, and a delay is taken "
            "within a row"
        )
    draft = Draft(
        "delay",
        (source.path, processed.path),
        {"max_delay": promise.duration()},
        choices={"latency": f"{second.label} minus {first.label}, in each row"},
    )
    yield promise.placed(draft, second)


def _retention(promise: _Promise) -> Iterator[PlacedDraft]:
    return _of_each_column(promise, "retention", {"max_age": promise.duration()})


def _frequency(promise: _Promise) -> Iterator[PlacedDraft]:
    return _of_each_column(promise, "max_gap", {"max_gap": promise.duration()})


def _time_of_availability(promise: _Promise) -> Iterator[PlacedDraft]:
    zoned = _ZONED.fullmatch(promise.value_text)
    clock, zone = (zoned[1], zoned[2]) if zoned else (promise.value_text, "")
    if time_of(clock) is None:
        raise CheckDefinitionError(
            f"the value {printable(promise.value_text)!r} is no time of day such as 09:00-08:00, "
            "07:30Z or 09:00 Europe/Berlin"
        )
    params = {"time": clock, "timezone": zone} if zone else {"time": clock}
    return _of_each_column(promise, "available_by", params)


def _general_availability(promise: _Promise) -> Iterator[PlacedDraft]:
    return _in_service(promise, "starts_at")


def _end(promise: _Promise) -> Iterator[PlacedDraft]:
    return _in_service(promise, "ends_at")


def _in_service(promise: _Promise, parameter: str) -> Iterator[PlacedDraft]:
    """A date against the clock, told of each object that is named, else of the first one."""
    if as_datetime(promise.value_text) is None:
        raise CheckDefinitionError(
            f"the value {printable(promise.value_text)!r} is no ISO date or moment such as "
            "2032-05-12 or 2032-05-12T09:30:10-08:00"
        )
    named = {one.owner.pointer: one for one in _elements(promise)}
    about = list(named.values()) or [
        _Element(one, None, one.name) for one in promise.contract.objects[:1]
    ]
    for one in about:
        label = one.owner.name if len(about) > 1 else ""
        draft = Draft("service_period", (), {parameter: promise.value_text}, label=label)
        yield promise.placed(draft, replace(one, part=None))
    if not about:
        raise _NothingToAskError(_NO_OBJECT)


_MAKERS: Mapping[str, Callable[[_Promise], Iterator[PlacedDraft]]] = {
    "freshness": _freshness,
    "latency": _latency,
    "retention": _retention,
    "frequency": _frequency,
    "timeOfAvailability": _time_of_availability,
    "generalAvailability": _general_availability,
    "endOfSupport": _end,
    "endOfLife": _end,
}
_NAMES = {name.casefold(): name for name in (*_MAKERS, *_NOT_IN_A_TABLE)} | _SYNONYMS
"""The property that each spelling means."""
