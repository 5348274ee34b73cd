"""A contract with the values of its variables, as far as they are set.

SQL keeps its placeholders: `sql_rules` fills them in, and knows what stands inside quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property, Relationship
from lakeproof.contracts.engines.given import as_number
from lakeproof.contracts.odcs.forms import Form, form_of
from lakeproof.contracts.odcs.properties import joined
from lakeproof.contracts.placeholders import fill, resolve_variables
from lakeproof.errors import CheckDefinitionError

_SQL_KEYS = frozenset({"query", "filter", "where"})
_NUMBERS = ("min", "max", "exclusive", "multiple", "value")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The contract, and by pointer what is wrong where a variable is not set.

    What stands at such a place is as the file has it, and must not run. `written` has every
    entry and property as it was, by pointer.
    """

    contract: Contract
    problems: Mapping[str, str]
    written: Mapping[str, object]


def resolved(contract: Contract, variables: Mapping[str, str]) -> Resolved:
    """The contract's rules, properties, relationships and promises with their variables."""
    work = _Resolving(variables, {}, {})
    objects = tuple(map(work.owner, contract.objects))
    sla = tuple(
        replace(one, raw=work.entry(one.raw, one.pointer)) if one.raw else one
        for one in contract.sla
    )
    stray = tuple(map(work.rule, contract.stray_rules))
    made = replace(contract, objects=objects, sla=sla, stray_rules=stray)
    return Resolved(made, work.problems, work.written)


@dataclass(frozen=True, slots=True)
class _Resolving:
    variables: Mapping[str, str]
    problems: dict[str, str]
    written: dict[str, object]

    def owner(self, owner: Object) -> Object:
        try:
            physical = fill(owner.physical_name, reserved={}, variables=self.variables)
        except CheckDefinitionError:
            physical = owner.physical_name  # its place says so, for all of its rules
        return replace(
            owner,
            physical_name=physical,
            properties=tuple(self.part(one, "", "", "") for one in owner.properties),
            quality=tuple(map(self.rule, owner.quality)),
            relationships=tuple(map(self.relationship, owner.relationships)),
        )

    def part(self, part: Property, before: str, after: str, problem: str) -> Property:
        """`before` and `after` are the path of what holds it; its `problem` is the part's too."""
        self.written[part.pointer] = (part.physical_name, part.options, part.enum)
        try:
            made = self._with_values(part, before, after)
        except CheckDefinitionError as found:
            made, problem = part, problem or str(found)
        if problem:
            self.problems[part.pointer] = problem

        def inner(one: Property | None) -> Property | None:
            return one and self.part(one, part.path, made.path, problem)

        return replace(
            made,
            properties=tuple(
                self.part(one, part.path, made.path, problem) for one in part.properties
            ),
            items=inner(part.items),
            map_key=inner(part.map_key),
            map_value=inner(part.map_value),
            quality=tuple(map(self.rule, part.quality)),
            relationships=tuple(map(self.relationship, part.relationships)),
        )

    def _with_values(self, part: Property, before: str, after: str) -> Property:
        def filled(text: str) -> str:
            return fill(text, reserved={}, variables=self.variables)

        physical = filled(part.physical_name)
        path = after + part.path[len(before) :]
        if physical != part.physical_name and part.path == joined(before, part.physical_name):
            path = joined(after, physical)
        listed = resolve_variables(part.enum or (), self.variables, f"{part.pointer}/enum")
        options = f"{part.pointer}/logicalTypeOptions"
        return replace(
            part,
            physical_name=physical,
            path=path,
            physical_type=filled(part.physical_type),
            options=_numbered(
                part.options, resolve_variables(part.options, self.variables, options)
            ),
            enum=None if part.enum is None else tuple(listed),  # type: ignore[arg-type]
        )

    def rule(self, rule: DeclaredRule) -> DeclaredRule:
        if not isinstance(rule.raw, Mapping):
            return rule
        form = form_of(rule.raw)
        kept = frozenset() if form is Form.CUSTOM else _SQL_KEYS
        return replace(
            rule,
            raw=self.entry(
                rule.raw, rule.pointer, kept | {"rule"} if form is Form.PREDICATE else kept
            ),
        )

    def relationship(self, one: Relationship) -> Relationship:
        if not isinstance(one.raw, Mapping):
            return one
        return replace(one, raw=self.entry(one.raw, one.pointer))

    def entry(
        self, raw: Mapping[str, object], pointer: str, kept: frozenset[str] = frozenset()
    ) -> Mapping[str, object]:
        self.written[pointer] = raw
        try:
            return _numbered(raw, resolve_variables(raw, self.variables, pointer, kept))
        except CheckDefinitionError as problem:
            self.problems[pointer] = str(problem)
            return raw


def _numbered(before: Mapping[str, object], after: object) -> Mapping[str, object]:
    """Texts that variables made become the numbers that they are, where a number is meant."""
    assert isinstance(after, Mapping)  # noqa: S101 (a mapping stays one)
    return {
        key: as_number(value)
        if isinstance(value, str) and value != before[key] and key.startswith(_NUMBERS)
        else value
        for key, value in after.items()
    }
