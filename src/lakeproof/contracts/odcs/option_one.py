"""The RFC's first option: `code` names what to run, `parameters` say how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakeproof.checks.catalogue import aliases_of, check_names, find_check
from lakeproof.checks.engine_names import OURS
from lakeproof.contracts.contract import Property
from lakeproof.contracts.draft import Draft, Placed, Setting, skipped
from lakeproof.contracts.engines.choice import chosen_engine
from lakeproof.contracts.engines.own_checks import USED_KEYS, own_check_draft
from lakeproof.contracts.engines.registry import custom_drafts
from lakeproof.contracts.odcs.filters import FILTER_KEYS, filter_in
from lakeproof.contracts.odcs.forms import (
    METADATA_KEYS,
    METRICS,
    PREDEFINED_TYPES,
    Entry,
    codes,
    text_at,
)
from lakeproof.contracts.odcs.library import ARGUMENT_KEYS, library_drafts
from lakeproof.contracts.odcs.operators import (
    OPERATOR_KEYS,
    choices_of,
    is_operator_like,
    operator_notes,
    read_comparison,
)
from lakeproof.contracts.odcs.parameters import read_parameters, with_tolerance
from lakeproof.contracts.odcs.predefined import predefined_drafts
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Unit
from lakeproof.model.nearest import nearest

_NOT_ARGUMENTS = {
    *METADATA_KEYS,
    *("code", "rule", "type", "engine", "parameters"),
    *("templateName", "toolName", "toolRuleName", "scheduleCronExpression"),
}
_OF_THE_STANDARD = {"required", *METRICS, *PREDEFINED_TYPES}
"""Codes that mean the same in Soda's namespace."""
_OWN_WORDS = {"freshness": "max_age"}
"""Names that are predefined types and checks of ours, with the parameter that only ours has."""


def flattened(entry: Entry) -> dict[str, object]:
    """The parameters and the rule's own keys that are none of its metadata."""
    return {**_own_keys(entry), **read_parameters(entry.get("parameters"))}


def code_drafts(placed: Placed, entry: Entry) -> list[Draft]:
    """The rule that the code names: of the engine's own, of the standard's, or of ours."""
    code = text_at(entry, "code") or text_at(entry, "rule") or text_at(entry, "templateName")
    engine = chosen_engine(entry, placed.setting.contract, placed.setting.settings).name
    given = flattened(entry)
    if engine != OURS and not (engine == "soda" and code in _OF_THE_STANDARD):
        return custom_drafts(placed, engine, _for_engine(engine, code, entry, given))
    if code in PREDEFINED_TYPES and _OWN_WORDS.get(code) not in given:
        return predefined_code(placed, code, given)
    known = _arguments_of(code)
    _require_known(code, read_parameters(entry.get("parameters")), known)
    unused = [key for key in _own_keys(entry) if not _is_known(key, known)]
    used = {key: value for key, value in given.items() if key not in unused}
    asked, notes = with_tolerance(used)
    notes = (*notes, *(f"key {key!r} is kept but not used" for key in unused))
    return [replace(draft, notes=(*draft.notes, *notes)) for draft in _known(placed, code, asked)]


def _own_keys(entry: Entry) -> dict[str, object]:
    return {key: value for key, value in entry.items() if key not in _NOT_ARGUMENTS}


def _arguments_of(code: str) -> frozenset[str]:
    """What the rule of that code may be given; an unknown code is refused."""
    if code == "required":
        return frozenset()
    if code in METRICS:
        return frozenset({"arguments", *ARGUMENT_KEYS})
    if any(code in {name, *aliases_of(name)} for name in check_names()):
        own = (parameter.name for parameter in find_check(code).parameters)
        return frozenset({*USED_KEYS, *own})
    near = ", ".join(nearest(code, codes())) or "required, sql, not_null, row_count"
    raise CheckDefinitionError(f"unknown code {code!r}. Nearest known: {near}.")


def _is_known(key: str, known: frozenset[str]) -> bool:
    return key in {*known, *FILTER_KEYS, "tolerance", "unit"} or is_operator_like(key)


def _require_known(code: str, given: Mapping[str, object], known: frozenset[str]) -> None:
    for name in given:
        if not _is_known(name, known):
            candidates = {*known, *OPERATOR_KEYS, *FILTER_KEYS, "tolerance", "unit"}
            near = ", ".join(nearest(name, candidates)) or "tolerance, mustBe, mustBeLessThan"
            raise CheckDefinitionError(f"{code} has no parameter {name!r}. Nearest known: {near}.")


def predefined_code(placed: Placed, kind: str, given: Mapping[str, object]) -> list[Draft]:
    """A predefined type with its thresholds."""
    if "tolerance" in given:
        raise CheckDefinitionError(
            f"{kind} is judged by must_be_... thresholds; tolerance is for required, the metrics "
            "of the standard and checks over rows"
        )
    return predefined_drafts(placed, kind, given)


def _known(placed: Placed, code: str, given: Mapping[str, object]) -> list[Draft]:
    if code == "required":
        return _required(placed, given)
    if code in METRICS:
        return library_drafts(placed, code, given)
    return [own_check_draft(placed.setting, code, given)]


def _required(placed: Placed, given: Mapping[str, object]) -> list[Draft]:
    """On a property its own column, on an object every required one."""
    setting = placed.setting
    comparison = read_comparison(given, setting.settings, unit=Unit.ROWS)
    draft = Draft(
        "not_null",
        filter=filter_in(given),
        comparison=comparison,
        notes=operator_notes(given),
        choices=choices_of(comparison, setting.settings),
    )
    if setting.part is not None:
        return [_looking_at(setting.part, setting, draft)]
    every = setting.owner.walk() if setting.owner is not None else ()
    needed = [one for one in every if one.required]
    if not needed:
        return [skipped("no property here is required, so there is no column to look at")]
    return [_looking_at(one, setting, replace(draft, label=one.label)) for one in needed]


def _looking_at(part: Property, setting: Setting, draft: Draft) -> Draft:
    """The draft on that column; what is required inside an optional struct, only where that is."""
    top = setting.owner.properties if setting.owner is not None else (part,)
    params = {} if part in top else {"parent_optional": True}
    return replace(draft, columns=(part.path,), params=params)


def _for_engine(
    engine: str, code: str, entry: Entry, given: Mapping[str, object]
) -> dict[str, object]:
    """The rule as the engine's module reads it: the code is a name in the engine's own words."""
    if entry.get("implementation") is not None:
        return dict(entry)
    implementations: Mapping[str, object] = {
        "greatExpectations": {"expectation_type": code, "kwargs": given},
        "dbt": {code: given} if given else code,
        "soda": {"type": code, **given},
    }
    found = implementations.get(engine)
    return {**entry, "implementation": found} if found is not None else dict(entry)
