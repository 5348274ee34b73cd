"""A contract in, rules out: what it declares, what its schema implies, what its service promises.

Every entry of the file becomes at least one rule. What does not run is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from lakeproof.config import Config
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property, Server
from lakeproof.contracts.draft import Draft, Placed, PlacedDraft, Setting
from lakeproof.contracts.engines.choice import chosen_engine
from lakeproof.contracts.odcs.implied import NO_COLUMN, UNIQUE_INSIDE, implied_drafts
from lakeproof.contracts.odcs.metadata import Metadata, read_metadata
from lakeproof.contracts.odcs.quality import drafts_of_rule
from lakeproof.contracts.odcs.relationships import relationship_drafts
from lakeproof.contracts.odcs.sla import sla_drafts
from lakeproof.contracts.placeholders import without_values
from lakeproof.contracts.suite import rejected, rule_of
from lakeproof.contracts.tables import TablePlace, held_name
from lakeproof.errors import LakeproofError, short_message
from lakeproof.model.names import TableName
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.suite import QualityCheck
from lakeproof.model.value_path import has_elements

AnyRule = Rule | RejectedRule
_KEY_CHECKS = frozenset({"uniqueness", "unique_key"})


@dataclass(frozen=True, slots=True)
class ContractReader:
    """How a contract becomes rules: where its tables are, and what its words stand for.

    `contract` has the values of variables; `problems` says by pointer where one is not set.
    `written` has the entries as they are in the file. `given` are tables of names that no
    object has.
    """

    contract: Contract
    config: Config
    places: Mapping[str, TablePlace]
    now: datetime
    variables: Mapping[str, str] = field(default_factory=dict)
    server: Server | None = None
    given: Mapping[str, TableName] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    written: Mapping[str, object] = field(default_factory=dict)

    def rules(self) -> list[AnyRule]:
        """One entry per result to come, in the file's order; keys are unique."""
        taken: set[str] = set()
        found: list[AnyRule] = []
        for rule in (*self._declared(), *self._implied(), *self._promised()):
            unique = rule if rule.key not in taken else replace(rule, key=_free(rule.key, taken))
            taken.add(unique.key)
            found.append(unique)
        return found

    def _declared(self) -> Iterator[AnyRule]:
        for owner, part, rule in self.contract.rules():
            setting = self._setting(owner, part)
            raw = rule.raw if isinstance(rule.raw, Mapping) else {}
            metadata = read_metadata(rule.raw, self.contract, self.config.contracts, part)
            engine = chosen_engine(raw, self.contract, self.config.contracts)
            declared = {
                **metadata.declared,
                "origin": "quality",
                "kind": _kind(raw),
                "engine": engine.name,
                "engine_reason": engine.why,
            }
            metadata = replace(metadata, declared=declared)
            drafts: Sequence[Draft] = [Draft()]  # for one that `_rule` refuses
            if rule.pointer not in self.problems:
                drafts = _drafted(lambda: drafts_of_rule(Placed(rule, setting)))  # noqa: B023
            key = self._key(owner, part, rule, metadata)
            # A key stays the same whatever its variables are.
            labels = [self._hidden(draft.label, rule.pointer) for draft in drafts]
            named = [replace(one, label=label) for one, label in zip(drafts, labels, strict=True)]
            for draft, name in _named(named, key):
                ready = _called(draft, raw) if draft.plug_in else draft
                yield self._rule(ready, name, rule.pointer, owner, part, metadata)

    def _implied(self) -> Iterator[AnyRule]:
        for owner in self.contract.objects:
            setting = self._setting(owner, None)
            for work in (implied_drafts, relationship_drafts):
                yield from self._placed(lambda: work(setting), "implied", owner)  # noqa: B023

    def _promised(self) -> Iterator[AnyRule]:
        yield from self._placed(lambda: sla_drafts(self._setting(None, None)), "sla", None)

    def _placed(
        self, work: Callable[[], Sequence[PlacedDraft]], origin: str, owner: Object | None
    ) -> Iterator[AnyRule]:
        for placed in _isolated(work, origin, owner):
            mine = placed.owner or owner
            severity = "warning" if placed.part and placed.part.is_deprecated else "error"
            declared = {"origin": origin, "kind": placed.what.partition("[")[0]}
            metadata = Metadata(severity=severity, declared=declared)
            key = f"{self._place(mine, placed.part)}:{placed.what}"
            yield self._rule(placed.draft, key, placed.pointer, mine, placed.part, metadata)

    def _setting(self, owner: Object | None, part: Property | None) -> Setting:
        return Setting(
            contract=self.contract,
            owner=owner,
            part=part,
            settings=self.config.contracts,
            table_of=self._table_of,
            variables=self.variables,
            now=self.now,
            server=self.server,
            config=self.config,
            given=self.given,
        )

    def _table_of(self, name: str) -> TableName:
        return self.places[name].table

    def _place_of(self, owner: Object) -> TablePlace | None:
        """The object's place; the second one of a name has none, for it would be the first's."""
        place = self.places.get(owner.name)
        if place is None or place.object.pointer == owner.pointer:
            return place
        told = f"the contract has two objects named {owner.name!r}. Next: rename one of them"
        return TablePlace(owner, held_name(self.contract, owner), problem=told)

    def _told(self, draft: Draft, pointer: str, part: Property | None) -> Draft:
        """The draft without values of variables in what it says; an error where one is not set."""
        problem = self.problems.get(pointer) or self.problems.get(part.pointer if part else "")
        broken = [column for column in draft.columns if "${" in column]
        if not problem and broken:
            problem = f"the column's name {broken[0]} still holds ${{ after variables"
        if problem:
            return replace(draft, error=problem, skipped="")

        def hidden(text: str) -> str:
            return self._hidden(text, pointer, part.pointer if part else "")

        return replace(
            draft,
            error=hidden(draft.error),
            skipped=hidden(draft.skipped),
            notes=tuple(map(hidden, draft.notes)),
            choices={name: hidden(text) for name, text in draft.choices.items()},
        )

    def _hidden(self, text: str, *pointers: str) -> str:
        written = [self.written.get(pointer) for pointer in pointers]
        return without_values(text, written, self.variables)

    def _place(self, owner: Object | None, part: Property | None) -> str:
        """What an object or property is called in keys: `shop/orders.items[].price`."""
        inside = "" if owner is None else owner.name
        return f"{self.contract.id}/{inside}{f'.{part.label}' if part else ''}"

    def _key(
        self, owner: Object | None, part: Property | None, rule: DeclaredRule, metadata: Metadata
    ) -> str:
        given = metadata.declared.get("id", "")
        if given:
            return f"{self.contract.id}/{given}"
        return f"{self._place(owner, part)}:quality[{rule.index}]"

    def _rule(
        self,
        draft: Draft,
        key: str,
        pointer: str,
        owner: Object | None,
        part: Property | None,
        metadata: Metadata,
    ) -> AnyRule:
        place = self._place_of(owner) if owner is not None else None
        draft = _judgeable(self._told(draft, pointer, part), part)
        entry = QualityCheck(
            name=key,
            check_type=draft.check or metadata.declared.get("kind", ""),
            table_name=str(place.table) if place is not None else "",
            column_name=list(draft.columns) or None,
            params=draft.params,
            filter=draft.filter,
            severity=draft.severity or metadata.severity,
            tolerance=draft.threshold.share,
            absolute_tolerance=draft.threshold.rows,
            tags=metadata.tags,
            dimension=metadata.dimension or draft.dimension or None,
            description=metadata.description or None,
            source=str(self.contract.document.at(pointer)),
        )
        reason = draft.error or draft.skipped or _why_nowhere(place)
        made: AnyRule
        if reason:
            columns = draft.columns or ((part.path,) if part is not None else ())
            made = replace(
                rejected(entry, key, columns, reason, self.config),
                table_label=place.table.short if place is not None else "",
                is_skipped=bool(draft.skipped) and not draft.error,
            )
        else:
            made = rule_of(entry, key, draft.columns, self.config, draft.comparison)
        # What our checks call validity, the standard calls conformity.
        dimension = "conformity" if made.dimension == "validity" else made.dimension
        declared = self._words(draft, pointer, owner, part, metadata)
        declared["place"] = place.why if place is not None else ""
        kept = {name: value for name, value in declared.items() if value}
        return replace(made, dimension=dimension, declared=kept)

    def _words(
        self,
        draft: Draft,
        pointer: str,
        owner: Object | None,
        part: Property | None,
        metadata: Metadata,
    ) -> dict[str, str]:
        """What a result carries of the contract beside its verdict."""
        return {
            **metadata.declared,
            "contract": self.contract.id,
            "contract_version": self.contract.version,
            "pointer": pointer,
            "column": part.path if part is not None and not draft.columns else "",
            "object": owner.name if owner is not None else "",
            **draft.choices,
            "note": "; ".join((*metadata.notes, *draft.notes)),
        }


def _why_nowhere(place: TablePlace | None) -> str:
    """Why there is no table to check; '' if there is one."""
    if place is not None:
        return place.problem
    return (
        "it stands on no object of the contract, so there is no table to check. Next: put it under "
        "one; rules alone run on the one table that is given, --table NAME=TABLE"
    )


def _judgeable(draft: Draft, part: Property | None) -> Draft:
    """The draft, skipped where there is no column, or no row that its values could be one of."""
    if draft.error or draft.skipped:
        return draft
    if part is not None and part.is_measure:
        return replace(draft, skipped=NO_COLUMN)
    if draft.check in _KEY_CHECKS and any(map(has_elements, draft.columns)):
        return replace(draft, skipped=UNIQUE_INSIDE)
    return draft


def _drafted(work: Callable[[], Sequence[Draft]]) -> Sequence[Draft]:
    """The drafts of one entry; whatever breaks there is that entry's error."""
    try:
        return work() or [Draft(error="nothing was made of it")]
    except Exception as problem:  # noqa: BLE001 (nothing in one bad rule may stop the others)
        return [Draft(error=_trouble(problem))]


def _isolated(
    work: Callable[[], Sequence[PlacedDraft]], origin: str, owner: Object | None
) -> Sequence[PlacedDraft]:
    """The same for what an object implies, or the service promises."""
    try:
        return work()
    except Exception as problem:  # noqa: BLE001 (as above)
        pointer = owner.pointer if owner is not None else "/slaProperties"
        return [PlacedDraft(Draft(error=_trouble(problem)), origin, pointer)]


def _trouble(problem: Exception) -> str:
    if isinstance(problem, LakeproofError):
        return str(problem)
    return f"it cannot be read: {type(problem).__name__}: {short_message(problem)}"


def _kind(raw: Mapping[str, object]) -> str:
    """What the entry says that it is, in its own words."""
    words = (raw.get(key) for key in ("metric", "code", "type", "rule", "engine"))
    return next((word for word in words if isinstance(word, str) and word), "rule")


def _called(draft: Draft, raw: Mapping[str, object]) -> Draft:
    """The draft of a rule that a plug-in runs: what it returns is compared, or must be true."""
    params = {"engine": draft.plug_in, "entry": raw}
    return replace(draft, check="plug_in", params=params)


def _named(drafts: Sequence[Draft], key: str) -> Iterator[tuple[Draft, str]]:
    """Each draft with its key: the entry's own, or with its label where there are several."""
    for number, draft in enumerate(drafts, start=1):
        label = draft.label or (str(number) if len(drafts) > 1 else "")
        yield draft, f"{key}:{label}" if label else key


def _free(key: str, taken: set[str]) -> str:
    number = 2
    while f"{key}#{number}" in taken:
        number += 1
    return f"{key}#{number}"
