"""A declared rule, in whatever form, as drafts: each form has a module, this one sends it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lakeproof.checks.engine_names import engine_named
from lakeproof.checks.plug_ins import find_plug_in
from lakeproof.contracts.draft import Draft, Placed, error, skipped
from lakeproof.contracts.engines.choice import chosen_engine
from lakeproof.contracts.engines.registry import custom_drafts, plug_in_draft
from lakeproof.contracts.odcs.filters import FILTER_KEYS
from lakeproof.contracts.odcs.forms import (
    METADATA_KEYS,
    METRICS,
    TYPES,
    Entry,
    Form,
    form_of,
    has,
    text_at,
)
from lakeproof.contracts.odcs.legacy import legacy_drafts
from lakeproof.contracts.odcs.library import ARGUMENT_KEYS, library_drafts
from lakeproof.contracts.odcs.operators import (
    OPERATOR_KEYS,
    choices_of,
    is_operator_like,
    operator_notes,
    read_comparison,
)
from lakeproof.contracts.odcs.option_one import code_drafts, flattened, predefined_code
from lakeproof.contracts.odcs.parameters import with_tolerance
from lakeproof.contracts.odcs.sql_rules import predicate_drafts, row_filter, sql_drafts
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.nearest import nearest

_EVERYWHERE = {*METADATA_KEYS, *OPERATOR_KEYS, "type", "unit"}
_V2_KEYS = {"code", "templateName", "toolName", "toolRuleName", "scheduleCronExpression"}
_KEYS: Mapping[Form, set[str]] = {
    Form.TEXT: {"engine"},
    Form.LIBRARY: {"metric", "rule", "arguments", "tolerance", *ARGUMENT_KEYS, *FILTER_KEYS},
    Form.SQL: {"query", "query_sql", "code", "parameters", "engine", "dialect"},
    Form.PREDICATE: {"rule"},
    Form.LEGACY: {
        *_V2_KEYS,
        *FILTER_KEYS,
        *("rule", "columns", "column", "parameters", "validValues", "arguments", "tolerance"),
    },
}
"""What each form knows; the others take any key as an argument and say themselves what is odd."""


def drafts_of_rule(placed: Placed) -> list[Draft]:
    """One draft or more of each rule, never none; a bad rule is a draft with its error."""
    raw = placed.rule.raw
    if not isinstance(raw, Mapping):
        return [error(f"a rule is a mapping of keys to values, got {raw!r}")]
    entry = {str(key): value for key, value in raw.items()}
    form = form_of(entry)
    if form not in _FORMS:
        return [error(_refusal(form, entry))]
    try:
        drafts = [_filtered(placed, form, one) for one in _FORMS[form](placed, entry)]
    except LakeproofError as problem:
        drafts = [error(str(problem))]
    notes = _notes(form, entry)
    return [replace(draft, notes=(*draft.notes, *notes)) for draft in drafts]


def _filtered(placed: Placed, form: Form, draft: Draft) -> Draft:
    """The draft with its filter for Spark; engines other than Soda write theirs for it already."""
    if not draft.filter or (form is Form.CUSTOM and _engine(placed) != "soda"):
        return draft
    return replace(draft, filter=row_filter(placed.setting, draft.filter))


def _engine(placed: Placed) -> str:
    setting = placed.setting
    return chosen_engine(placed.rule.raw, setting.contract, setting.settings).name


def _notes(form: Form, entry: Entry) -> list[str]:
    known = _KEYS.get(form)
    unknown = [key for key in entry if key not in {*_EVERYWHERE, *(known or ())}]
    unknown = [key for key in unknown if not is_operator_like(key)]
    notes = [f"key {key!r} is kept but not used" for key in unknown if known is not None]
    if form is Form.LIBRARY and not has(entry, "metric"):
        notes.append("`rule` is the old name of `metric`")
    if form is Form.PREDICATE:
        notes.append("SQL in `rule` is deprecated; write it as type: sql with a query")
    return notes


def _text(placed: Placed, entry: Entry) -> list[Draft]:
    engine = text_at(entry, "engine")
    for name in (engine_named(engine), "text"):
        if name and find_plug_in(name) is not None:
            return [plug_in_draft(placed, name, entry)]
    told = text_at(entry, "description")
    return [skipped(f"a text for people, with nothing in it to run{f': {told}' if told else ''}")]


def _library(placed: Placed, entry: Entry) -> list[Draft]:
    key = "metric" if has(entry, "metric") else "rule"
    metric = entry[key]
    if not isinstance(metric, str):
        raise CheckDefinitionError(f"{key} must be a text, one of {', '.join(METRICS)}")
    asked, notes = with_tolerance(entry)
    found = library_drafts(placed, metric.strip(), asked)
    return [replace(draft, notes=(*draft.notes, *notes)) for draft in found]


def _sql(placed: Placed, entry: Entry) -> list[Draft]:
    given = {**entry, **flattened(entry)}
    query = given.get("query")
    if has(given, "query_sql"):
        if has(given, "query"):
            raise CheckDefinitionError("query and query_sql are one thing; keep one of them")
        query = given["query_sql"]
    if "tolerance" in given:
        raise CheckDefinitionError(
            "a query returns one value, of which there is no tolerance. Next: write an operator "
            "such as mustBeLessThan"
        )
    if not isinstance(query, str) or not query.strip():
        raise CheckDefinitionError(
            f"a rule of type sql needs `query`, one SELECT that returns one value; got {query!r}"
        )
    settings = placed.setting.settings
    comparison = read_comparison(given, settings, unit=Unit.NONE) or Comparison()
    choices, notes = choices_of(comparison, settings), operator_notes(given)
    return [
        replace(draft, choices={**draft.choices, **choices}, notes=(*draft.notes, *notes))
        for draft in sql_drafts(placed, query, comparison)
    ]


def _predicate(placed: Placed, entry: Entry) -> list[Draft]:
    comparison = read_comparison(entry, placed.setting.settings, unit=Unit.ROWS)
    return predicate_drafts(placed, text_at(entry, "rule"), comparison)


def _predefined(placed: Placed, entry: Entry) -> list[Draft]:
    kind, engine = text_at(entry, "type"), engine_named(text_at(entry, "engine"))
    if engine not in {"", "soda", "lakeproof"}:
        return custom_drafts(placed, engine, entry)
    return predefined_code(placed, kind, flattened(entry))


def _custom(placed: Placed, entry: Entry) -> list[Draft]:
    choice = chosen_engine(entry, placed.setting.contract, placed.setting.settings)
    notes = () if has(entry, "engine") else (f"engine {choice.name}: {choice.why}",)
    found = custom_drafts(placed, choice.name, entry)
    return [replace(draft, notes=(*draft.notes, *notes)) for draft in found]


def _refusal(form: Form, entry: Entry) -> str:
    """Why there is nothing to run, and what would make it a rule."""
    kind = text_at(entry, "type")
    if form is Form.METRIC_EXPRESSION:
        return (
            "metric_expression is no form of the standard. Next: write `type: sql` with the query "
            "SELECT <expression> FROM ${table}"
        )
    if kind == "library":
        return f"a library rule needs `metric`: one of {', '.join(METRICS)}"
    if kind:
        near = ", ".join(nearest(kind, TYPES)) or "library, sql, text, custom"
        return f"type {kind!r} is not known. Nearest known: {near}."
    operators = [key for key in entry if is_operator_like(key)]
    missing = f"{operators[0]} of what? Nothing" if operators else "nothing"
    return (
        f"{missing} says what to check. A rule has `metric` with an operator, `type: sql` with "
        "`query`, a predefined `type`, `code`, `engine` with `implementation`, or for people "
        "`type: text` with `description`"
    )


_FORMS: Mapping[Form, Callable[[Placed, Entry], list[Draft]]] = {
    Form.TEXT: _text,
    Form.LIBRARY: _library,
    Form.SQL: _sql,
    Form.PREDICATE: _predicate,
    Form.PREDEFINED: _predefined,
    Form.CODE: code_drafts,
    Form.LEGACY: legacy_drafts,
    Form.CUSTOM: _custom,
}
