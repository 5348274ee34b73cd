"""What a schema implies without a rule: types, presence, required and unique values, keys, options.

Every property at any depth is looked at, in the file's order. A column that is missing fails its
`type` or `presence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from lakeproof.contracts.contract import Object, Property
from lakeproof.contracts.dialects import dialect_of
from lakeproof.contracts.draft import Draft, PlacedDraft, Setting, error, skipped
from lakeproof.contracts.odcs.options import MOMENTS, option_drafts
from lakeproof.contracts.odcs.physical_types import Wanted, logical_types, physical_types
from lakeproof.contracts.tables import CUSTOM, server_kind
from lakeproof.contracts.yaml_document import pointer_to
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.value_path import has_elements, read_path

UNIQUE_INSIDE = (
    "values inside an array or a map are not compared between rows. For one row, use uniqueItems"
)
NO_COLUMN = "a measure is computed by who reads the data: there is no column to check"
_DEPRECATED = "the property is deprecated: still checked, as a warning"

Found = tuple[str, str, Draft]
"""What the draft is called, the key of the file that implies it, the draft."""


def implied_drafts(setting: Setting) -> list[PlacedDraft]:
    """The drafts that the schema of `setting.owner` implies."""
    owner = setting.owner
    if owner is None:
        return []
    found = [placed for part in owner.properties for placed in _drafts_inside(part, owner, setting)]
    return [*found, *_primary_key(owner)]


def _drafts_inside(part: Property, owner: Object, setting: Setting) -> Iterator[PlacedDraft]:
    if part.is_measure:
        yield _placed(owner, part, ("measure", "semanticType", skipped(NO_COLUMN)))
        return
    for found in _drafts_of(part, setting):
        yield _placed(owner, part, found)
    for inner in part.parts:
        yield from _drafts_inside(inner, owner, setting)


def _placed(owner: Object, part: Property, found: Found) -> PlacedDraft:
    what, key, draft = found
    if part.is_deprecated:
        draft = replace(draft, notes=(*draft.notes, _DEPRECATED))
    pointer = pointer_to(part.pointer, key) if key else part.pointer
    if what != key and key == "logicalTypeOptions":
        pointer = pointer_to(pointer, what)
    name = f"{what}[{draft.label}]" if draft.label else what
    return PlacedDraft(draft, name, pointer, owner, part)


def _drafts_of(part: Property, setting: Setting) -> Iterator[Found]:
    yield from _type_drafts(part, setting)
    if part.required:
        yield "required", _given(part, "required", "isNullable"), required_draft(part)
    if part.unique:
        yield "unique", _given(part, "unique", "isUnique"), _unique_draft(part)
    if part.enum is not None:
        yield "enum", "enum", _enum_draft(part)
    for key, draft in option_drafts(part, setting.settings):
        yield key, "logicalTypeOptions", draft


def _given(part: Property, *keys: str) -> str:
    """The key that the file has, of several for one thing."""
    return next((key for key in keys if key in part.raw), "")


def required_draft(part: Property) -> Draft:
    """No NULL; what stands inside something that is left out itself is not missing."""
    is_inside = len(read_path(part.path)) > 1
    params = {"parent_optional": True} if is_inside else {}
    return Draft(check="not_null", columns=(part.path,), params=params)


def _unique_draft(part: Property) -> Draft:
    if has_elements(part.path):
        return skipped(UNIQUE_INSIDE)
    return Draft(check="uniqueness", columns=(part.path,))


def _enum_draft(part: Property) -> Draft:
    values = enum_values(part)
    if not values:
        return error("enum lists no value. Write each as a mapping with a `value`")
    return Draft(check="accepted_values", columns=(part.path,), params={"accepted": values})


def enum_values(part: Property) -> list[object]:
    """What the property's enum lists, as values of its type."""
    return [_as_typed(value, part.logical_type) for value in part.enum or ()]


def _as_typed(value: object, logical_type: str) -> object:
    """A listed value as the property's type has it: YAML reads 1 where the text '1' is meant."""
    if logical_type == "string" and isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if logical_type in {"integer", "number"} and isinstance(value, str):
        try:
            return Decimal(value)
        except InvalidOperation:
            return value
    return value


def _type_drafts(part: Property, setting: Setting) -> Iterator[Found]:
    """One `type`; where no type is known that could be asked for, why not, and `presence`."""
    if not part.logical_type and not part.physical_type:
        yield "presence", "", _type_draft(part, Wanted())
        return
    key = "physicalType" if part.physical_type else "logicalType"
    try:
        wanted, notes = _wanted(part, setting)
    except CheckDefinitionError as problem:
        yield "type", key, error(str(problem))
        return
    if wanted.obstacle:
        yield "type", key, skipped(wanted.obstacle)
        yield "presence", "", _type_draft(part, Wanted())
        return
    yield "type", key, replace(_type_draft(part, wanted), notes=notes)


def _type_draft(part: Property, wanted: Wanted) -> Draft:
    params: dict[str, object] = {"column": part.path}
    if wanted.types:
        params["types"] = wanted.types
    if wanted.families:
        params["families"] = wanted.families
    return Draft(check="column_type", params=params)


def _wanted(part: Property, setting: Setting) -> tuple[Wanted, tuple[str, ...]]:
    """The physicalType says how a value is stored; without one the logicalType must do."""
    if not part.physical_type:
        return _by_logical_type(part), ()
    wanted = physical_types(part.physical_type, type_dialect(setting), part.logical_type)
    says_structure = part.logical_type != "object" or bool(part.properties)
    if not (wanted.is_unknown and part.logical_type and says_structure):
        return wanted, ()
    by_logical = _by_logical_type(part)
    return by_logical, (f"{wanted.obstacle}; checked by its logicalType",)


def _by_logical_type(part: Property) -> Wanted:
    wanted = logical_types(part.logical_type)
    if part.logical_type in MOMENTS and "format" in part.options:
        return replace(wanted, families=(*wanted.families, "string"))
    if part.logical_type == "object" and not part.properties:
        return replace(wanted, families=(*wanted.families, "map"))
    return wanted


def type_dialect(setting: Setting) -> str:
    """The dialect in which types are named: of the server, else of the first that has a type."""
    every = [one for one in (setting.server, *setting.contract.servers) if one is not None]
    server = next((one for one in every if server_kind(one) not in {"", CUSTOM}), None)
    if server is None and not setting.settings.sql_dialect:
        return ""
    return dialect_of(server, setting.settings.sql_dialect)


def _primary_key(owner: Object) -> Iterator[PlacedDraft]:
    """The key as one tuple, in the order of its positions; those without one come last."""
    parts = [part for part in owner.walk() if part.primary_key and not part.is_measure]
    inside = [part for part in parts if has_elements(part.path)]
    for part in inside:
        key = _given(part, "primaryKey", "isPrimaryKey", "isPrimary")
        yield _placed(owner, part, ("primaryKey", key, skipped(UNIQUE_INSIDE)))
    ordered = sorted(
        (part for part in parts if part not in inside),
        key=lambda part: (part.primary_key_position < 0, part.primary_key_position),
    )
    if not ordered:
        return
    first = ordered[0]
    draft = Draft(
        check="unique_key",
        columns=tuple(part.path for part in ordered),
        params={"nulls": "forbid"},
        notes=_position_notes(ordered),
    )
    key = _given(first, "primaryKey", "isPrimaryKey", "isPrimary")
    placed = _placed(owner, first, ("primaryKey", key, draft))
    yield placed if len(ordered) == 1 else replace(placed, part=None)


def _position_notes(parts: Sequence[Property]) -> tuple[str, ...]:
    given = [part.primary_key_position for part in parts if part.primary_key_position >= 0]
    if len(parts) > 1 and (len(set(given)) < len(given) or len(given) < len(parts)):
        return ("primaryKeyPosition is missing or there twice: the file's order decides",)
    return ()
