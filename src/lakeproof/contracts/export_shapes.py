"""Every part of a contract in the shape that version 3.2 has for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from lakeproof.contracts.commented import CUSTOM, Rewriting, custom_property, like
from lakeproof.contracts.contract import custom_properties
from lakeproof.contracts.export_keys import NEW_NAMES, current_keys
from lakeproof.contracts.export_rules import current_rules
from lakeproof.contracts.odcs.known_keys import (
    OPTIONS,
    SERVERS,
    SHAPES,
    Each,
    Either,
    Kind,
    One,
    Plain,
    Word,
)
from lakeproof.contracts.odcs.taking import entries_of, part_of

_ID = re.compile(r"[A-Za-z0-9_-]+")
_NOT_OF_ID = re.compile(r"[^A-Za-z0-9_-]+")
_REFERENCE = re.compile(r"[^\s./#]+(?:\.[^\s./#]+)+|(?:[^\s#]+#)?/?schema/\S+")
_ELEMENTS = ("property", "part")
_INSIDE = {"properties": "object", "items": "array", "map": "map"}
"""What only properties of one logical type may hold."""

_SERVER: Mapping[str, Kind] = {
    **dict.fromkeys(("id", "server", "type", "description", "environment"), Plain.TEXT),
    "roles": Each("role"),
    CUSTOM: Each("custom property"),
}


@dataclass(frozen=True, slots=True)
class _Around:
    """The mapping that a value stands in, and its shape."""

    old: Mapping[str, Any]
    shape: str


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A value that fits, and custom properties made of what inside it has no place there."""

    value: Any
    left: list[CommentedMap] = field(default_factory=list)


def conformed(root: Mapping[str, Any]) -> CommentedMap:
    """The whole contract in the shape of version 3.2."""
    made: CommentedMap = _mapping(root, "contract").value
    return made


def _mapping(old: Mapping[str, Any], shape: str) -> _Fitted:
    keys = _server_keys(old) if shape == "server" else _keys(old, shape)
    new, around = Rewriting(old), _Around(old, shape)
    for key, value in old.items():
        if value is None and key not in {"value", "valueExt"}:
            continue
        name = NEW_NAMES.get(shape, {}).get(str(key), str(key))
        known = not new.has(name) and name in keys
        fitted = _fitted(_turned(str(key), value), keys[name], name, around) if known else None
        if fitted is None:
            new.move_aside(str(key), value, key)
        else:
            new.keep(name, fitted.value, key)
            new.take_aside(fitted.left)
    _complete(new, old, shape)
    left = [] if CUSTOM in keys else new.without_aside()
    return _Fitted(new.result(), left)


def _complete(new: Rewriting, old: Mapping[str, Any], shape: str) -> None:
    """What version 3.2 needs to be said, and older ones did not."""
    if shape in _ELEMENTS and not new.has("logicalType") and _logical_type(old):
        new.keep("logicalType", _logical_type(old))
    if shape == "server" and not _is_whole_server(old):
        new.keep("type", "custom")
        if old.get("type"):
            new.take_aside([custom_property("customType", str(old["type"]))])
        if not new.has("server"):
            new.keep("server", "server")
    if shape == "custom property" and not new.has("value"):
        new.keep("value", None)


def _keys(old: Mapping[str, Any], shape: str) -> dict[str, Kind]:
    keys = current_keys(shape)
    if shape in _ELEMENTS:
        logical = _logical_type(old)
        if not logical:
            del keys["logicalType"]
        return {key: kind for key, kind in keys.items() if _INSIDE.get(key, logical) == logical}
    return keys


def _logical_type(old: Mapping[str, Any]) -> str:
    """The type that a property has, or must have to hold what is inside it; '' if none."""
    given = old.get("logicalType")
    if given == "map" and _map(old.get("map")) is None:
        return ""  # the schema refuses a map that does not say of what
    if isinstance(given, str) and given in OPTIONS:
        return given
    renamed = {NEW_NAMES["property"].get(str(key), str(key)) for key, value in old.items() if value}
    return next((kind for key, kind in _INSIDE.items() if key in renamed), "")


def _is_whole_server(old: Mapping[str, Any]) -> bool:
    needed, _ = SERVERS.get(str(old.get("type")), (("type of a server",), ()))
    return bool(old.get("server")) and all(old.get(key) is not None for key in needed)


def _server_keys(old: Mapping[str, Any]) -> dict[str, Kind]:
    kind = str(old.get("type")) if _is_whole_server(old) else "custom"
    needed, more = SERVERS[kind]
    own = {key: Plain.ANY if key == "port" else Plain.TEXT for key in (*needed, *more)}
    return {**_SERVER, **own}


def _turned(key: str, value: Any) -> Any:  # noqa: ANN401 (what the file holds)
    """The value as the new name of its key means it."""
    if key == "isNullable" and isinstance(value, bool):
        return not value
    if key == CUSTOM and isinstance(value, Mapping):
        pairs = custom_properties(value).items()
        return CommentedSeq([custom_property(name, one) for name, one in pairs])
    if key == "description" and isinstance(value, list):
        return " ".join(map(str, value))
    return _listed(key, value)


def _listed(key: str, value: Any) -> Any:  # noqa: ANN401
    """A list where one is due, and one mapping where that is, of what is read as such."""
    if key in {"quality", "checks"} and isinstance(value, Mapping):
        return CommentedSeq([value])
    if key == "items" and (only := part_of(value)):
        return only[1]
    if isinstance(value, Mapping) and (entries := entries_of(key, value)):
        return CommentedSeq([entry for _, entry in entries])
    return value


def _fitted(value: Any, kind: Kind, key: str, around: _Around) -> _Fitted | None:  # noqa: ANN401
    """The value in the shape it must have at that key; None if it cannot have it."""
    special = _SPECIAL.get(key)
    if special is not None and kind is not Plain.TEXT:
        return special(value, around)
    if key == "id" and around.shape != "contract":
        return _id(value)
    if isinstance(kind, (Plain, Word)):
        return _plain(value, kind)
    shape = kind.one if isinstance(kind, Either) else kind.shape
    return _held(value, kind, shape, key)


def _held(value: Any, kind: Kind, shape: str, key: str) -> _Fitted | None:  # noqa: ANN401
    """A mapping or a list of them, where the key may hold that."""
    if isinstance(value, Mapping) and isinstance(kind, (One, Either)):
        return _inside(key, [_mapping(value, shape)])
    if isinstance(kind, Each) or (isinstance(kind, Either) and kind.each):
        return _each(value, kind.each if isinstance(kind, Either) else shape, key)
    if isinstance(value, str) and key == "description":
        return _Fitted(CommentedMap(purpose=value))
    return None


def _plain(value: Any, kind: Plain | Word) -> _Fitted | None:  # noqa: ANN401
    if isinstance(kind, Word):
        return _Fitted(value) if value in kind.known else None
    if kind is Plain.TEXT:
        return None if isinstance(value, (Mapping, list)) else _Fitted(_text(value))
    if kind is Plain.TEXTS:
        return _Fitted(_texts(value)) if isinstance(value, list) else None
    is_truth = isinstance(value, bool)
    fits = {
        Plain.TRUTH: is_truth,
        Plain.WHOLE: isinstance(value, int) and not is_truth,
        Plain.NUMBER: isinstance(value, (int, float)) and not is_truth,
        Plain.ANY: True,
    }
    return _Fitted(value) if fits[kind] else None


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _id(value: Any) -> _Fitted | None:  # noqa: ANN401
    """An id has letters, digits, `_` and `-` only; the one that was given is kept beside."""
    if isinstance(value, (Mapping, list)):
        return None
    text = _text(value)
    if _ID.fullmatch(text):
        return _Fitted(text)
    return _Fitted(_NOT_OF_ID.sub("_", text), [custom_property("id", text)])


def _texts(value: list[Any]) -> list[Any]:
    is_text = all(isinstance(one, str) for one in value)
    return value if is_text else CommentedSeq([_text(one) for one in value if one is not None])


def _inside(key: str, found: Sequence[_Fitted], value: Any = None) -> _Fitted:  # noqa: ANN401
    """What was left over inside a key is named by it."""
    left = [one for each in found for one in each.left]
    for one in left:
        one["property"] = f"{key}.{one['property']}"
    return _Fitted(found[0].value if value is None else value, left)


def _each(value: Any, shape: str, key: str) -> _Fitted | None:  # noqa: ANN401
    if not isinstance(value, list):
        return None
    found = [_mapping(one, shape) if isinstance(one, Mapping) else _Fitted(None) for one in value]
    good = [fitted.value is not None and _is_whole(fitted.value, shape) for fitted in found]
    bad = [
        custom_property(key, one) for one, is_good in zip(value, good, strict=True) if not is_good
    ]
    kept = [fitted for fitted, is_good in zip(found, good, strict=True) if is_good]
    if value and not kept:
        return None
    made = like(value, [fitted.value for fitted in kept])
    told = _inside(key, kept, made) if kept else _Fitted(made)
    return _Fitted(made, [*told.left, *bad])


def _is_whole(made: Mapping[str, Any], shape: str) -> bool:
    groups = SHAPES[shape].required if shape in SHAPES else ()
    return all(any(key in made for key in group) for group in groups)


def _rules(value: Any, around: _Around) -> _Fitted | None:  # noqa: ANN401
    if not isinstance(value, list):
        return None
    on_property = around.shape != "object"
    rules = [rule for one in value for rule in current_rules(one, on_property=on_property)]
    return _Fitted(like(value, [_mapping(rule, "rule").value for rule in rules]))


def _options(value: Any, around: _Around) -> _Fitted | None:  # noqa: ANN401
    """Options by logical type; in version 3.0 `exclusiveMinimum: true` stood beside a minimum."""
    if not isinstance(value, Mapping):
        return None
    logical = _logical_type(around.old)
    known = OPTIONS.get(logical)
    new = Rewriting(value)
    for key, one in value.items():
        end = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}.get(str(key))
        if one is None or (end and one is False):
            continue
        if end and one is True:
            if value.get(end) is not None:
                new.keep(str(key), _option(value[end], logical), key)
        elif value.get(f"exclusive{str(key).capitalize()}") is True:
            continue
        elif known is not None and key not in known:
            new.move_aside(f"logicalTypeOptions.{key}", one, key)
        else:
            new.keep(str(key), _option(one, logical), key)
    left = new.without_aside()
    return _Fitted(new.result(), left)


def _option(value: Any, logical: str) -> Any:  # noqa: ANN401
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and logical in {"date", "timestamp", "time"} else value


def _enum(value: Any, _: _Around) -> _Fitted | None:  # noqa: ANN401
    """Values stand in mappings of their own; none may occur twice."""
    if not isinstance(value, list) or not value:
        return None
    entries = [one if isinstance(one, Mapping) else CommentedMap(value=one) for one in value]
    values = [one.get("value") for one in entries]
    if any(isinstance(one, (Mapping, list)) for one in values) or any(
        "value" not in one for one in entries
    ):
        return None
    if len(entries) != len({repr(dict(one)) for one in entries}):
        return None
    return _each(CommentedSeq(entries) if entries != value else value, "enum value", "enum")


def _map(value: Any, _: _Around | None = None) -> _Fitted | None:  # noqa: ANN401
    if not isinstance(value, Mapping) or not all(
        isinstance(value.get(key), Mapping) for key in ("key", "value")
    ):
        return None
    return _inside("map", [_mapping(value, "map")])


def _relationships(value: Any, around: _Around) -> _Fitted | None:  # noqa: ANN401
    if not isinstance(value, list):
        return None
    ends = [
        end
        for one in value
        if isinstance(one, Mapping)
        for end in (one.get("from"), one.get("to"))
        if end is not None
    ]
    references = [each for end in ends for each in (end if isinstance(end, list) else [end])]
    if not all(isinstance(one, str) and _REFERENCE.fullmatch(one) for one in references):
        return None
    level = "object" if around.shape == "object" else "property"
    return _each(value, f"{level} relationship", "relationships")


_SPECIAL = {
    "quality": _rules,
    "logicalTypeOptions": _options,
    "enum": _enum,
    "map": _map,
    "relationships": _relationships,
}
