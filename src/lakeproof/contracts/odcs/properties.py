"""Properties at any depth, each with its path in a row."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakeproof.contracts.contract import Property
from lakeproof.contracts.odcs.scalars import whole_number_of
from lakeproof.contracts.odcs.taking import Taker
from lakeproof.contracts.yaml_document import pointer_to

_NEEDS_QUOTES = re.compile(r"[.\[\]{}`\s]")
PROPERTY_LISTS = ("properties", "attributes", "columns")
_NAMES = ("name", "field", "column")


def properties_in(parent: Taker, path: str = "", label: str = "") -> tuple[Property, ...]:
    """The properties that a mapping lists; `path` and `label` are those of what holds them."""
    found = []
    for number, taker in enumerate(parent.mappings(*PROPERTY_LISTS), start=1):
        # A name is made up for one that has none: the rules on it must fail, not vanish.
        name = taker.text(*_NAMES, "physicalName") or f"property_{number}"
        physical_name = taker.text("physicalName") or name
        found.append(
            _property(
                taker,
                name,
                physical_name,
                joined(path, physical_name),
                joined(label, name),
            )
        )
    return tuple(found)


def joined(outer: str, name: str) -> str:
    """A name behind the path of what holds it, quoted where the path's grammar needs it."""
    if _NEEDS_QUOTES.search(name):
        name = "`" + name.replace("`", "``") + "`"
    return f"{outer}.{name}" if outer else name


def _part(taker: Taker | None, path: str, label: str) -> Property | None:
    """The items of an array, or the keys or values of a map: what has a sign for its name."""
    if taker is None:
        return None
    name = taker.text(*_NAMES)
    return _property(taker, name, taker.text("physicalName") or name, path, label)


def _property(taker: Taker, name: str, physical_name: str, path: str, label: str) -> Property:
    entries = taker.inside("map")
    position = whole_number_of(taker.entry.get("primaryKeyPosition"))
    return Property(
        name=name,
        physical_name=physical_name,
        path=path,
        label=label,
        pointer=taker.pointer,
        raw=taker.entry,
        id=taker.text("id"),
        logical_type=taker.text("logicalType"),
        physical_type=taker.text("physicalType"),
        options=taker.mapping("logicalTypeOptions"),
        required=_is_required(taker),
        unique=taker.truth("unique", "isUnique") or False,
        primary_key=taker.truth("primaryKey", "isPrimaryKey", "isPrimary") or False,
        primary_key_position=-1 if position is None else position,
        enum=_enum(taker),
        properties=properties_in(taker, path, label),
        items=_part(taker.inside("items"), f"{path}[]", f"{label}[]"),
        map_key=_part(entries and entries.inside("key"), f"{path}{{key}}", f"{label}{{key}}"),
        map_value=_part(entries and entries.inside("value"), f"{path}{{}}", f"{label}{{}}"),
        quality=taker.rules(*PROPERTY_LISTS, parts=("items", "map")),
        relationships=taker.relationships(),
        is_measure=taker.text("semanticType") == "measure",
        is_deprecated=taker.truth("deprecated") or False,
        classification=taker.text("classification"),
    )


def _is_required(taker: Taker) -> bool:
    """`required`, else what version 2 says the other way round."""
    required = taker.truth("required")
    return taker.truth("isNullable") is False if required is None else required


def _enum(taker: Taker) -> tuple[object, ...] | None:
    """The values allowed; those of version 3.2 stand in mappings. None if there is no list.

    Values of a text column are the texts that the file has: `007` is not 7.
    """
    if not isinstance(taker.entry.get("enum"), list):
        return None
    found: list[tuple[str, object]] = []
    for pointer, item in taker.items("enum"):
        if isinstance(item, Mapping):
            found += [(pointer_to(pointer, "value"), item["value"])] if "value" in item else []
        elif not isinstance(item, list):
            found.append((pointer, item))
    if taker.text("logicalType") != "string":
        return tuple(value for _, value in found)
    return tuple(
        taker.document.spelled(pointer, value) if isinstance(value, (int, float)) else value
        for pointer, value in found
    )
