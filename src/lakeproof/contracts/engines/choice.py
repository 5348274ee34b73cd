"""Which engine a rule is for, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeproof.checks.catalogue import aliases_of, check_names
from lakeproof.checks.engine_names import KNOWN, OURS, engine_named
from lakeproof.checks.plug_ins import find_plug_in
from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract
from lakeproof.contracts.odcs.forms import Entry, Form, codes, form_of, text_at

_OWN_REASONS: Mapping[Form, str] = {
    Form.LIBRARY: "the standard itself defines the metric",
    Form.SQL: "a query runs on Spark",
    Form.PREDICATE: "a condition over rows runs on Spark",
    Form.LEGACY: "rules of version 2 run by their name, whatever the tool",
}


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine's name, in one spelling, and what named it."""

    name: str
    why: str


def chosen_engine(raw: object, contract: Contract, settings: ContractSettings) -> EngineChoice:
    """The rule's own engine, else the configured one, the contract's, its only one, or ours.

    A rule that needs no engine to be understood is ours: a metric, a query, a name we know.
    """
    if not isinstance(raw, Mapping):
        return EngineChoice(OURS, "nothing names another")
    form, engine, tool = form_of(raw), text_at(raw, "engine"), _tool(raw)
    if form in _OWN_REASONS:
        return EngineChoice(OURS, _OWN_REASONS[form])
    if engine or tool:
        key = "engine" if engine else "toolName"
        return EngineChoice(engine_named(engine or tool), f"the rule's {key}")
    if form is Form.TEXT:
        return EngineChoice("text", "a text is for people, or for a plug-in of that name")
    if form is Form.PREDEFINED or _code(raw) in codes():
        return EngineChoice(OURS, "its type or code is one that Lakeproof knows")
    return _default_engine(contract, settings)


def _code(entry: Entry) -> str:
    return text_at(entry, "code") or text_at(entry, "templateName") or text_at(entry, "rule")


def _tool(entry: Entry) -> str:
    """The tool, where it is an engine; a code that we know is run by its name, whatever it is."""
    tool = text_at(entry, "toolName")
    if not tool or form_of(entry) is not Form.CODE:
        return tool
    is_engine = engine_named(tool) in KNOWN or find_plug_in(tool) is not None
    return tool if is_engine and not _is_known(_code(entry)) else ""


def _is_known(code: str) -> bool:
    return code in codes() or any(code in aliases_of(name) for name in check_names())


def _default_engine(contract: Contract, settings: ContractSettings) -> EngineChoice:
    if settings.default_engine:
        return EngineChoice(engine_named(settings.default_engine), "the configured default engine")
    own = contract.custom.get("defaultEngine")
    if isinstance(own, str) and own.strip():
        return EngineChoice(engine_named(own), "the contract's custom property defaultEngine")
    named = {engine_named(name) for raw in _naming(contract) for name in _engines(raw)}
    if len(named) == 1:
        return EngineChoice(named.pop(), "the only engine that the contract names")
    return EngineChoice(OURS, "nothing names another")


def _naming(contract: Contract) -> list[Entry]:
    """A rule for each engine, and those with a tool: found once, for every rule may ask."""
    found = contract.naming_engines
    if not found:
        found[""] = {}  # looked for, even if there is none
        for _, _, rule in contract.rules():
            if isinstance(rule.raw, Mapping):
                engine = text_at(rule.raw, "engine")
                if engine or text_at(rule.raw, "toolName"):
                    found.setdefault(engine or rule.pointer, rule.raw)
    return list(found.values())


def _engines(raw: object) -> list[str]:
    """The engine that a rule names; the tool of a version 2 rule does not run it."""
    if not isinstance(raw, Mapping):
        return []
    tool = "" if form_of(raw) is Form.LEGACY else _tool(raw)
    return [name for name in (text_at(raw, "engine") or tool,) if name]
