"""What a rule says about itself: carried into its results, and what runs are selected by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, Entry, Property, custom_properties
from lakeproof.contracts.odcs.forms import LEGACY_METHODS, has, is_version_two, text_at
from lakeproof.contracts.odcs.known_keys import DIMENSIONS
from lakeproof.model.nearest import nearest

SEVERITIES: Mapping[str, str] = {
    "info": "info",
    "low": "warning",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "high": "error",
    "critical": "error",
    "none": "error",
    "": "error",
}
"""Ours, by the words that contracts have for them."""

_DECLARED = (
    "id",
    "name",
    "description",
    "method",
    "businessImpact",
    "schedule",
    "scheduler",
    "customProperties",
    "unit",
    "templateName",
    "toolName",
    "toolRuleName",
    "authoritativeDefinitions",
)
_DEFAULT_SCHEDULE = "0 10 * * *"
"""Version 2: every day at 10 a.m. UTC."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """`severity` is ours: error, warning or info. `declared` has what the rule gives, as text.

    `notes` are all that there is to say of it.
    """

    severity: str = "error"
    dimension: str = ""
    tags: tuple[str, ...] = ()
    name: str = ""
    description: str = ""
    declared: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_metadata(
    raw: object, contract: Contract, settings: ContractSettings, part: Property | None = None
) -> Metadata:
    """What the rule says about itself; `part` is the property that it stands on."""
    if not isinstance(raw, Mapping):
        return Metadata()
    severity, severity_note = _severity(raw.get("severity"), settings)
    dimension, dimension_note = _dimension(raw)
    tags, tags_note = _tags(raw.get("tags"))
    declared = _declared(raw)
    if is_version_two(raw) or (contract.is_legacy and has(raw, "code")):
        declared = {**_version_two_defaults(part), **declared}
    return Metadata(
        severity=severity,
        dimension=dimension,
        tags=tags,
        name=declared.get("name", ""),
        description=declared.get("description", ""),
        declared=declared,
        notes=tuple(note for note in (severity_note, dimension_note, tags_note) if note),
    )


def _severity(given: object, settings: ContractSettings) -> tuple[str, str]:
    word = "" if given is None else str(given).strip().lower()
    found = {**SEVERITIES, **settings.severities}.get(word)
    if found is not None:
        return found, ""
    return "error", (
        f"severity {given!r} is not known and counts as error; map it under "
        "[contracts.severities] in the configuration"
    )


def _dimension(raw: Entry) -> tuple[str, str]:
    given = text_at(raw, "dimension")
    word = given.lower()
    known = DIMENSIONS.get(word, word)
    if known == "validity":
        return "conformity", "dimension validity is called conformity in the standard"
    if not word or known in DIMENSIONS.values():
        return known, ""
    near = nearest(word, DIMENSIONS.values()) or list(DIMENSIONS.values())
    return given, f"dimension {given!r} is not one of the standard's; near: {', '.join(near)}"


def _tags(given: object) -> tuple[tuple[str, ...], str]:
    if given is None:
        return (), ""
    if isinstance(given, (list, tuple)):
        return tuple(str(tag) for tag in given), ""
    return (str(given),), "tags should be a list; the one value is taken as a tag"


def _declared(raw: Entry) -> dict[str, str]:
    declared = {key: _as_text(raw[key]) for key in _DECLARED if has(raw, key)}
    if has(raw, "scheduleCronExpression") and "schedule" not in declared:
        declared["schedule"] = _as_text(raw["scheduleCronExpression"])
        declared["scheduler"] = "cron"
    if text_at(raw, "type") in LEGACY_METHODS and "method" not in declared:
        declared["method"] = text_at(raw, "type")
    zone = custom_properties(raw.get("customProperties")).get("timezone")
    if isinstance(zone, str) and zone.strip():
        declared["timezone"] = zone.strip()  # of its schedule, as a service level has it
    return declared


def _version_two_defaults(part: Property | None) -> dict[str, str]:
    """What version 2 says where a rule says nothing; its severity is error, as everywhere."""
    on_column, on_table = LEGACY_METHODS
    method = on_table if part is None else on_column
    return {"method": method, "schedule": _DEFAULT_SCHEDULE, "scheduler": "cron"}


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
