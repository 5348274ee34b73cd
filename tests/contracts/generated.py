"""Rows for the objects of a contract: some that are as its schema asks, and one for every way to
break it, with what each rule must then find. Written from the standard, not from our checks.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from generated_faults import UNBREAKABLE, Fault, faults_of
from generated_types import spark_type
from generated_values import plain_value
from pyspark.sql import types as T  # noqa: N812 (its usual name)

from lakeproof.contracts.contract import Contract, Object, Property, Relationship
from lakeproof.model.canonical import encode_value

FAULT = "fault"
"""The column that names each row by what is wrong with it; '' with a number where nothing is."""

CLEAN_ROWS = 3
_NOWHERE = "nowhere"

Row = dict[str, Any]
Extra = Mapping[str, Mapping[str, object]]
"""What rules of `quality` ask of values beside the schema, in its words, by label."""


@dataclass(frozen=True)
class Claim:
    """One way to break a rule, at a place in the row."""

    rule: str
    steps: tuple[str, ...]
    fault: Fault


@dataclass(frozen=True)
class Key:
    """Columns that are unique together; NULL is bad in a primary key."""

    rule: str
    parts: tuple[Property, ...]
    forbids_null: bool


@dataclass(frozen=True)
class Reference:
    """Columns whose values, together, are those of another table's columns."""

    rule: str
    parts: tuple[Property, ...]
    target: Object
    target_parts: tuple[Property, ...]


@dataclass(frozen=True)
class Expected:
    """How many a rule counts as failing, and by which keys they are known."""

    failing: int
    keys: frozenset[str]


@dataclass
class Table:
    """One object with its rows, by physical names."""

    owner: Object
    schema: T.StructType
    rows: list[Row]
    claims: list[Claim]
    keys: list[Key]
    references: list[Reference]


@dataclass
class Generator:
    """Rows for a contract; `extra` says what its rules of quality ask."""

    contract: Contract
    extra: Extra = field(default_factory=dict)

    def tables(self, *, planted: bool) -> dict[str, Table]:
        """Every object's table, with or without rows that break something."""
        found = {}
        for owner in self.contract.objects:
            table = Table(
                owner=owner,
                schema=self._schema(owner),
                rows=[self._row(owner, number, "") for number in range(self._count(owner))],
                claims=list(self._claims(owner)),
                keys=list(self._keys(owner)),
                references=list(self._references(owner)),
            )
            if planted:
                for fault, changed in self._plants(table):
                    number = len(table.rows)
                    table.rows.append({**self._row(owner, number, fault), **changed(number)})
            found[owner.name] = table
        return found

    # ------------------------------------------------------------------------------- clean rows

    def _count(self, owner: Object) -> int:
        """A key that may have few values has few rows."""
        listed = [
            len(self._options(owner, part)["validValues"])
            for part in owner.properties
            if part.primary_key and "validValues" in self._options(owner, part)
        ]
        return min(CLEAN_ROWS, *listed) if listed else CLEAN_ROWS

    def _schema(self, owner: Object) -> T.StructType:
        server = next(iter(self.contract.servers), None)
        kinds = [
            T.StructField(part.physical_name, spark_type(part, server.type if server else ""))
            for part in owner.properties
            if not part.is_measure
        ]
        return T.StructType([T.StructField(FAULT, T.StringType()), *kinds])

    def _row(self, owner: Object, number: int, fault: str) -> Row:
        schema = self._schema(owner)
        referring = {
            part.name: (one.target, target)
            for one in self._references(owner)
            for part, target in zip(one.parts, one.target_parts, strict=True)
        }
        row: Row = {FAULT: f"{fault}#{number}"}
        for part in owner.properties:
            if part.is_measure:
                continue
            kind = schema[part.physical_name].dataType
            at, one, index = owner, part, number
            if part.name in referring:
                (at, one), index = referring[part.name], number % CLEAN_ROWS
            row[part.physical_name] = self._clean(at, one, kind, index)
        return row

    def _clean(self, owner: Object, part: Property, kind: T.DataType, number: int) -> Any:
        """A value that is as the property asks; another one for each number."""
        options = self._options(owner, part)
        if isinstance(kind, T.StructType):
            inner = {one.physical_name: one for one in part.properties}
            required = list(part.options.get("required", ()))
            return {
                one.name: self._clean(owner, inner[one.name], one.dataType, number)
                if one.name in inner
                else (f"v{number}" if one.name in required else None)
                for one in kind.fields
            }
        if isinstance(kind, T.ArrayType):
            items = part.items or Property("", "", "", "", "", {})
            return [self._clean(owner, items, kind.elementType, number + at) for at in range(2)]
        if isinstance(kind, T.MapType):
            assert part.map_key is not None
            assert part.map_value is not None
            key = self._clean(owner, part.map_key, kind.keyType, number)
            return {key: self._clean(owner, part.map_value, kind.valueType, number)}
        listed = [one for one in options.get("validValues", ()) if one is not None]
        if listed:
            return listed[number % len(listed)]
        return plain_value(kind, options, number)

    def _options(self, owner: Object, part: Property) -> dict[str, Any]:
        """What the schema and the rules of quality ask of a value."""
        enum = part.enum or self._enum_of_who_refers(owner, part)
        listed = {"validValues": list(enum)} if enum else {}
        return {**part.options, **listed, **self.extra.get(f"{owner.name}.{part.label}", {})}

    def _enum_of_who_refers(self, owner: Object, part: Property) -> tuple[object, ...] | None:
        """The values that those may have who must find them here."""
        for other in self.contract.objects:
            for one in self._references(other):
                for source, target in zip(one.parts, one.target_parts, strict=True):
                    if one.target is owner and target is part and source.enum:
                        return source.enum
        return None

    # ------------------------------------------------------------------- what can be broken, how

    def _claims(self, owner: Object) -> Iterator[Claim]:
        schema = self._schema(owner)
        for top in owner.properties:
            if top.is_measure:
                continue
            kind = schema[top.physical_name].dataType
            for part, steps, inner in _walk(top, (top.physical_name,), kind):
                label = f"{owner.name}.{part.label}"
                clean = self._clean(owner, part, inner, CLEAN_ROWS)
                for fault in self._faults(part, inner, clean):
                    yield Claim(f"{label}:{fault.what}", steps, fault)
                for fault in faults_of(part, inner, clean, self.extra.get(label, {})):
                    yield Claim(f"{label}:quality[0]", steps, fault)

    def _faults(self, part: Property, kind: T.DataType, clean: Any) -> Iterator[Fault]:
        if part.required:
            yield Fault("required", lambda value: value is None, None)
        if part.enum:
            yield from faults_of(part, kind, clean, {"validValues": list(part.enum)})
        yield from faults_of(part, kind, clean, part.options)

    def _keys(self, owner: Object) -> Iterator[Key]:
        for part in owner.properties:
            label = f"{owner.name}.{part.label}"
            if part.unique:
                yield Key(f"{label}:unique", (part,), forbids_null=False)
            if self.extra.get(label, {}).get("unique"):
                yield Key(f"{label}:quality[0]", (part,), forbids_null=False)
        primary = [one for one in owner.properties if one.primary_key]
        if primary:
            label = f"{owner.name}.{primary[0].label}" if len(primary) == 1 else owner.name
            yield Key(f"{label}:primaryKey", tuple(primary), forbids_null=True)

    def _references(self, owner: Object) -> Iterator[Reference]:
        """Those of its properties and its own, by short names; what is not there is left out."""
        for part in owner.properties:
            for one in part.relationships:
                yield from self._reference(owner, f"{owner.name}.{part.label}", [part], one)
        for one in owner.relationships:
            assert isinstance(one.raw, Mapping)
            parts = [owner.property_named(name.partition(".")[2]) for name in one.raw["from"]]
            yield from self._reference(owner, owner.name, [part for part in parts if part], one)

    def _reference(
        self, owner: Object, label: str, parts: list[Property], one: Relationship
    ) -> Iterator[Reference]:
        assert isinstance(one.raw, Mapping)
        named = [one.raw["to"]] if isinstance(one.raw["to"], str) else one.raw["to"]
        target = self.contract.object_named(named[0].partition(".")[0])
        theirs = [target.property_named(name.partition(".")[2]) for name in named if target]
        found = tuple(part for part in theirs if part is not None)
        if target is not None and len(found) == len(parts):
            yield Reference(f"{label}:foreignKey", tuple(parts), target, found)

    def _plants(self, table: Table) -> Iterator[tuple[str, Callable[[int], Row]]]:
        """Each fault with the columns that it changes."""
        first = table.rows[0]
        for claim in table.claims:
            if claim.fault.bad is not UNBREAKABLE:
                yield claim.rule, lambda number, claim=claim: self._broken(table, claim, number)
        for key in table.keys:
            names = [part.physical_name for part in key.parts]
            yield key.rule, lambda _, names=names: {name: first[name] for name in names}
            if key.forbids_null:
                yield key.rule, lambda _, names=names: {names[0]: None}
        for one in table.references:
            yield one.rule, lambda _, one=one: {one.parts[-1].physical_name: _NOWHERE}

    def _broken(self, table: Table, claim: Claim, number: int) -> Row:
        row = self._row(table.owner, number, "")
        column, *rest = claim.steps
        return {column: _replaced(row[column], rest, claim.fault.bad)}


def expected_of(tables: Mapping[str, Table]) -> dict[str, Expected]:
    """What every rule must find, in plain Python over all rows."""
    found: dict[str, Expected] = {}
    for table in tables.values():
        bad: dict[str, set[str]] = {}
        for claim in table.claims:
            bad.setdefault(claim.rule, set()).update(
                row[FAULT]
                for row in table.rows
                if any(map(claim.fault.breaks, _values_at(row, claim.steps)))
            )
        found |= {rule: Expected(len(rows), frozenset(rows)) for rule, rows in bad.items()}
        found |= {key.rule: _expected_keys(key, table.rows) for key in table.keys}
        found |= {one.rule: _expected_orphans(one, table, tables) for one in table.references}
    return found


def _expected_orphans(one: Reference, table: Table, tables: Mapping[str, Table]) -> Expected:
    names = [part.physical_name for part in one.parts]
    theirs = [part.physical_name for part in one.target_parts]
    there = {tuple(row[name] for name in theirs) for row in tables[one.target.name].rows}
    referred = [tuple(row[name] for name in names) for row in table.rows]
    orphans = [key for key in referred if None not in key and key not in there]
    return Expected(len(orphans), frozenset(_told(one.parts, key) for key in orphans))


def _told(parts: tuple[Property, ...], values: tuple[object, ...]) -> str:
    """The violation's key; values that are classified are told by their hashes."""
    shown: dict[str, object] = {}
    for part, value in zip(parts, values, strict=True):
        encoded = encode_value(value)
        digest = hashlib.sha256(encoded.encode()).hexdigest()
        is_hidden = part.classification in {"restricted", "sensitive"}
        shown[part.physical_name] = ["h", digest] if is_hidden else json.loads(encoded)
    return key_text(shown)


def key_text(key: Mapping[str, object]) -> str:
    """A violation's key in one form, whatever the order of its columns."""
    return json.dumps(key, sort_keys=True)


def _expected_keys(key: Key, rows: list[Row]) -> Expected:
    names = [part.physical_name for part in key.parts]
    times = Counter(tuple(row[name] for name in names) for row in rows)
    bad = [
        values
        for values, count in times.items()
        if (key.forbids_null if None in values else count > 1)
    ]
    return Expected(len(bad), frozenset(_told(key.parts, values) for values in bad))


def _walk(
    part: Property, steps: tuple[str, ...], kind: T.DataType
) -> Iterator[tuple[Property, tuple[str, ...], T.DataType]]:
    yield part, steps, kind
    if isinstance(kind, T.StructType):
        for one in part.properties:
            yield from _walk(one, (*steps, one.physical_name), kind[one.physical_name].dataType)
    if isinstance(kind, T.ArrayType) and part.items is not None:
        yield from _walk(part.items, (*steps, "[]"), kind.elementType)
    if isinstance(kind, T.MapType) and part.map_key is not None and part.map_value is not None:
        yield from _walk(part.map_key, (*steps, "{key}"), kind.keyType)
        yield from _walk(part.map_value, (*steps, "{}"), kind.valueType)


def _values_at(value: Any, steps: tuple[str, ...]) -> list[Any]:
    """The values there; none inside something that is left out."""
    if not steps:
        return [value]
    if value is None:
        return []
    step, rest = steps[0], steps[1:]
    if step == "[]":
        inner = list(value)
    elif step in {"{}", "{key}"}:
        inner = list(value if step == "{key}" else value.values())
    else:
        inner = [value[step]]
    return [found for one in inner for found in _values_at(one, rest)]


def _replaced(value: Any, steps: list[str], bad: object) -> Any:
    """The value with another one at its first such place."""
    if not steps:
        return bad
    step, *rest = steps
    if step == "[]":
        return [_replaced(value[0], rest, bad), *value[1:]]
    if step in {"{}", "{key}"}:
        (key, one), *others = value.items()
        inner = (bad, one) if step == "{key}" else (key, _replaced(one, rest, bad))
        return dict([inner, *others])
    return {**value, step: _replaced(value[step], rest, bad)}
