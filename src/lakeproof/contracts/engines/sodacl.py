"""A file of SodaCL: its sections, and which of them are about the rule's own table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from lakeproof.contracts.contract import Object
from lakeproof.contracts.draft import Draft, Placed, error, skipped
from lakeproof.contracts.engines.sodacl_lines import Options, Scope, line_drafts

_CHECKS = re.compile(r"checks for (.+?)\s*(?:\[(.+)\])?")
_FILTER = re.compile(r"filter (.+?)\s*\[(.+)\]")
_CONFIGURED = re.compile(r"configurations for (.+)")
_CONFIGURED_COLUMN = re.compile(r"((?:missing|valid|invalid) .+?) for (.+)")
_FOR_EACH = re.compile(r"for each (dataset|table|column) (\S+)")
_SECTIONS = (_CHECKS, _FILTER, _CONFIGURED, _FOR_EACH)
_NOT_CHECKS = {
    "variables": "it gives values to variables; give them to the run",
    "discover datasets": "it lists tables for Soda",
    "profile columns": "it profiles columns for Soda",
    "sample datasets": "it sends rows to Soda",
    "automated monitoring": "it learns from the runs that Soda has kept",
}


def is_sodacl(document: Mapping[str, object]) -> bool:
    """Whether a key of it opens a section of SodaCL."""
    return any(pattern.fullmatch(str(key)) for key in document for pattern in _SECTIONS)


def sodacl_drafts(placed: Placed, document: Mapping[str, object]) -> list[Draft]:
    """The drafts of every check in it. Only sections about the rule's own table run."""
    # A range of SodaCL holds its ends, whatever the standard's are taken to do.
    settings = replace(placed.setting.settings, between="closed")
    here = replace(placed, setting=replace(placed.setting, settings=settings))
    sections = _Sections(here, {str(key): value for key, value in document.items()})
    found = [draft for key in sections.document for draft in sections.drafts_of(key)]
    return found or [error("the SodaCL has no checks: write `checks for ...:` with a list below")]


def item_drafts(scope: Scope, items: object) -> list[Draft]:
    """The drafts of a list of checks: lines, and lines with options below."""
    if isinstance(items, (str, Mapping)):
        items = [items]
    if not isinstance(items, Sequence) or not items:
        return [error(f"a list of checks is due, got {items!r}")]
    found: list[Draft] = []
    for item in items:
        if isinstance(item, Mapping) and item:
            for line, options in item.items():
                found += line_drafts(scope, str(line), options)
        elif isinstance(item, str):
            found += line_drafts(scope, item)
        else:
            found.append(error(f"SodaCL {item!r}: it is no line and no line with options"))
    return found


@dataclass(frozen=True, slots=True)
class _Sections:
    """The sections of one document, which filters and configurations stand beside."""

    placed: Placed
    document: Mapping[str, object]

    def drafts_of(self, key: str) -> Iterator[Draft]:
        """What a section makes; filters and configurations make nothing by themselves."""
        value = self.document[key]
        checks, each = _CHECKS.fullmatch(key), _FOR_EACH.fullmatch(key)
        if checks is not None:
            yield from self._checks(checks[1], checks[2], value)
        elif each is not None and each[1] == "column":
            yield from self._for_each_column(each[2], value)
        elif each is not None:
            yield from self._for_each_dataset(value)
        elif not (_FILTER.fullmatch(key) or _CONFIGURED.fullmatch(key)):
            reason = next((why for start, why in _NOT_CHECKS.items() if key.startswith(start)), "")
            yield (
                skipped(f"SodaCL {key!r} is not run: {reason}", label=key)
                if reason
                else error(f"SodaCL {key!r} is no section such as `checks for ...`", label=key)
            )

    def _checks(self, table: str, partition: str | None, items: object) -> Iterator[Draft]:
        problem = self._elsewhere(table)
        scope = Scope(self.placed, configured=self._configured())
        if partition is not None and not problem:
            where = self._partition(table, partition)
            problem = "" if where else f"no filter {table} [{partition}] with `where:` is there"
            scope = replace(scope, filter=where)
        for draft in item_drafts(scope, items):
            yield draft if not problem else replace(draft, skipped="", error=problem)

    def _elsewhere(self, table: str) -> str:
        """Why the table is not the rule's own; '' if it is."""
        owner = self.placed.setting.owner
        if owner is None or _names(table) & _names_of(owner):
            return ""
        return (
            f"`checks for {table}` stands on the object {owner.name!r}, and a rule checks the "
            f"table of its own object; move it to the `quality` of {table!r}"
        )

    def _partition(self, table: str, partition: str) -> str:
        for key, value in self.document.items():
            found = _FILTER.fullmatch(key)
            if found is None or found[2].strip() != partition.strip():
                continue
            if _names(found[1]) & _names(table) and isinstance(value, Mapping):
                return str(value.get("where") or "")
        return ""

    def _configured(self) -> dict[str, Options]:
        """The options that `configurations for` gives each column."""
        found: dict[str, dict[str, object]] = {}
        for key, value in self.document.items():
            section = _CONFIGURED.fullmatch(key)
            if section is None or self._elsewhere(section[1]) or not isinstance(value, Mapping):
                continue
            for name, option in value.items():
                entry = _CONFIGURED_COLUMN.fullmatch(str(name))
                if entry is not None:
                    found.setdefault(entry[2].strip(), {})[entry[1]] = option
        return dict(found)

    def _for_each_dataset(self, value: object) -> Iterator[Draft]:
        options = value if isinstance(value, Mapping) else {}
        listed = options.get("datasets", options.get("tables"))
        owner = self.placed.setting.owner
        names = [owner.name, owner.physical_name] if owner is not None else []
        is_list = isinstance(listed, Sequence) and not isinstance(listed, str)
        if names and is_list and not any(_is_listed(name, listed) for name in names):
            yield error(f"`for each dataset` does not name the rule's own object {names[0]!r}")
            return
        yield from item_drafts(Scope(self.placed), options.get("checks"))

    def _for_each_column(self, alias: str, value: object) -> Iterator[Draft]:
        options = value if isinstance(value, Mapping) else {}
        listed = options.get("columns")
        if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
            yield error("`for each column` needs `columns:`, a list of names")
            return
        columns = self._columns(listed)
        if not columns:
            yield error(f"`for each column` finds no column of the contract for {list(listed)}")
        for column in columns:
            scope = Scope(self.placed, stands_for={alias: column})
            for draft in item_drafts(scope, options.get("checks")):
                yield replace(draft, label=f"{draft.label} {column}".strip())

    def _columns(self, listed: Sequence[object]) -> list[str]:
        """The listed columns; a `%` stands for any letters in the names that the contract has."""
        if not any("%" in str(name) or str(name).startswith("exclude ") for name in listed):
            return [str(name).removeprefix("include ") for name in listed]
        owner = self.placed.setting.owner
        known = [part.name for part in owner.properties] if owner is not None else []
        return [name for name in known if _is_listed(name, listed)]


def _is_listed(name: str, listed: Sequence[object]) -> bool:
    """Whether `include` names, which may leave out the word, take it and no `exclude` does."""

    def matched(start: str) -> bool:
        patterns = [str(one).removeprefix("include ") for one in listed]
        chosen = [one for one in patterns if one.startswith("exclude ") is (start == "exclude ")]
        return any(
            fnmatchcase(name.casefold(), one.removeprefix(start).replace("%", "*").casefold())
            for one in chosen
        )

    return matched("") and not matched("exclude ")


def _names(table: str) -> set[str]:
    """A table's name as it may be written: in full, or without what leads to it."""
    plain = table.strip().strip("\"'`")
    return {plain.casefold(), plain.rpartition(".")[2].strip("\"'`").casefold()}


def _names_of(owner: Object) -> set[str]:
    every = (owner.name, owner.physical_name, owner.id)
    return {name for one in every if one for name in _names(one)}
