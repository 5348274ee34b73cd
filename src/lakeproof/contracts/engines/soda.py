"""Rules for Soda: checks of its data contracts, one or a list of them, or SodaCL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lakeproof.contracts.draft import Draft, Placed, error
from lakeproof.contracts.engines.implementation import inline_keys, read_implementation
from lakeproof.contracts.engines.sodacl import is_sodacl, item_drafts, sodacl_drafts
from lakeproof.contracts.engines.sodacl_lines import Scope
from lakeproof.contracts.odcs.operators import read_comparison
from lakeproof.contracts.odcs.predefined import predefined_drafts
from lakeproof.contracts.odcs.sql_rules import sql_drafts
from lakeproof.errors import LakeproofError
from lakeproof.model.comparison import Comparison, Unit

_QUERIES = ("metric_query", "sql")


def drafts(placed: Placed, entry: Mapping[str, object]) -> list[Draft]:
    """The drafts of a rule whose engine is Soda; labelled where there is more than one."""
    try:
        found = _drafts_of(placed, _implementation(entry))
    except LakeproofError as problem:
        return [error(f"the implementation for Soda cannot be read: {problem}")]
    return [replace(found[0], label="")] if len(found) == 1 else found


def _implementation(entry: Mapping[str, object]) -> object:
    """What the rule asks; without `implementation`, its own keys are one check."""
    found = read_implementation(entry)
    if entry.get("implementation") not in (None, ""):
        return found
    named = (entry.get(key) for key in ("code", "type"))
    kind = next((one for one in named if isinstance(one, str) and one != "custom"), "")
    own = inline_keys(entry)
    if not kind:
        return own
    unit = {"unit": entry["unit"]} if "unit" in entry else {}
    return {**own, **unit, "type": kind}


def _drafts_of(placed: Placed, asked: object) -> list[Draft]:
    if isinstance(asked, Mapping) and asked:
        return _of_mapping(placed, asked)
    if isinstance(asked, (str, Sequence)) and asked:
        items = [asked] if isinstance(asked, str) else asked
        return [draft for item in items for draft in _of_item(placed, item)]
    return [error("a rule for Soda needs an `implementation`: contract checks, or SodaCL")]


def _of_mapping(placed: Placed, asked: Mapping[str, object]) -> list[Draft]:
    if "type" in asked:
        return _contract_check(placed, asked)
    if is_sodacl(asked):
        return sodacl_drafts(placed, asked)
    if "checks" not in asked and "columns" not in asked:
        return item_drafts(Scope(placed), asked)
    found = _drafts_of(placed, asked["checks"]) if asked.get("checks") else []
    columns = asked.get("columns")
    for column in columns if isinstance(columns, Sequence) and not isinstance(columns, str) else ():
        found += _of_column(placed, column)
    return found or [error("the contract for Soda has no checks")]


def _of_column(placed: Placed, column: object) -> list[Draft]:
    """The checks that a contract of Soda's has below a column."""
    checks = column.get("checks") if isinstance(column, Mapping) else None
    if not isinstance(column, Mapping) or not isinstance(checks, Sequence):
        return []
    return [
        draft
        for check in checks
        for draft in (
            _contract_check(placed, {"column": column.get("name"), **check})
            if isinstance(check, Mapping) and "type" in check
            else _of_item(placed, check)
        )
    ]


def _of_item(placed: Placed, item: object) -> list[Draft]:
    if isinstance(item, Mapping) and "type" in item:
        return _contract_check(placed, item)
    if isinstance(item, Mapping) and is_sodacl(item):
        return sodacl_drafts(placed, item)
    return item_drafts(Scope(placed), [item])


def _contract_check(placed: Placed, check: Mapping[str, object]) -> list[Draft]:
    """One check of a data contract, labelled by its name or its type and columns."""
    kind = str(check["type"])
    name = check.get("name")
    columns = check.get("columns") or check.get("column") or ""
    about = ", ".join(map(str, columns)) if isinstance(columns, list) else str(columns)
    label = str(name or f"{kind} {about}".strip())
    found = _queried(placed, check) if kind in _QUERIES else _predefined(placed, kind, check)
    title = {"name": name} if isinstance(name, str) else {}
    return [replace(one, label=label, choices={**one.choices, **title}) for one in found]


def _predefined(placed: Placed, kind: str, check: Mapping[str, object]) -> list[Draft]:
    if kind == "metric_expression":
        return [error("metric_expression is not in the standard; write it as `type: sql`")]
    return predefined_drafts(placed, kind, check)


def _queried(placed: Placed, check: Mapping[str, object]) -> list[Draft]:
    query = check.get("query") or check.get("query_sql")
    if not isinstance(query, str):
        return [error(f"{check['type']} needs `query_sql`, one SELECT")]
    try:
        comparison = read_comparison(check, placed.setting.settings, unit=Unit.NONE)
        return sql_drafts(placed, query, comparison or Comparison())
    except LakeproofError as problem:
        return [error(str(problem))]
