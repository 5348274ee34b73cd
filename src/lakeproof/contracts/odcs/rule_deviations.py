"""Where a rule leaves the standard. An error here is an error of the rule when it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakeproof.config import ContractSettings
from lakeproof.contracts.finding import Level
from lakeproof.contracts.odcs.forms import (
    LEGACY_METHODS,
    METADATA_KEYS,
    METRICS,
    TYPES,
    Form,
    form_of,
    has,
    text_at,
)
from lakeproof.contracts.odcs.hints import Hints
from lakeproof.contracts.odcs.known_keys import DIMENSIONS, RULE_KEYS
from lakeproof.contracts.odcs.metadata import SEVERITIES
from lakeproof.contracts.odcs.operators import is_operator_like, read_comparison
from lakeproof.contracts.tree import shown
from lakeproof.contracts.yaml_document import spelling
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Unit

Deviation = tuple[Level, str, str]
"""How grave, at which key ('' for the rule as a whole), and what to say."""

_CUSTOM_FRAME = frozenset({*METADATA_KEYS, "type", "engine", "implementation", "unit"})


def rule_deviations(entry: Mapping[str, object], hints: Hints) -> Iterator[Deviation]:
    """Everything about one rule that its author should know."""
    form = form_of(entry)
    yield from _form(entry, form, hints)
    yield from _operators(entry, form)
    yield from _dimension(entry, hints)
    yield from _severity(entry)
    if form is not Form.CUSTOM and not has(entry, "engine"):
        yield from _unknown_keys(entry, hints)


def _form(entry: Mapping[str, object], form: Form, hints: Hints) -> Iterator[Deviation]:
    kind, metric = text_at(entry, "type"), text_at(entry, "metric") or text_at(entry, "rule")
    is_known = kind in TYPES or kind.casefold() in {one.casefold() for one in LEGACY_METHODS}
    if kind and not is_known:
        near = ", ".join(hints.near(kind, TYPES) or TYPES[:4])
        level = Level.ERROR if form is Form.NONE else Level.WARNING
        yield level, "type", f"type {shown(kind)} of a rule is unknown. Nearest: {near}."
    elif kind == "library" and not metric and form is Form.NONE:
        yield Level.ERROR, "", f"this library rule has no metric: one of {', '.join(METRICS)}"
    elif form is Form.NONE:
        yield Level.ERROR, "", "nothing in this rule says what it asks; give it a metric or query"
    if form is Form.SQL and not any(has(entry, key) for key in ("query", "query_sql")):
        yield Level.ERROR, "", "this sql rule has no query"
    if form is Form.LIBRARY and metric and metric not in METRICS:
        near = ", ".join(hints.near(metric, METRICS) or METRICS)
        key = "metric" if has(entry, "metric") else "rule"
        yield Level.ERROR, key, f"metric {shown(metric)} is unknown. Nearest: {near}."
    if form is Form.CUSTOM and not has(entry, "implementation") and set(entry) <= _CUSTOM_FRAME:
        yield Level.WARNING, "", "this custom rule has no implementation for its engine"
    if form is Form.PREDICATE:
        yield Level.NOTE, "rule", "SQL in rule is read as a condition on each row"
    elif has(entry, "rule"):
        yield Level.NOTE, "rule", "rule is the old name of metric"


def _operators(entry: Mapping[str, object], form: Form) -> Iterator[Deviation]:
    given = [key for key in entry if is_operator_like(key)]
    if len(given) > 1:
        yield Level.WARNING, given[1], "the standard allows one operator in a rule; all must hold"
    if form not in {Form.LIBRARY, Form.SQL}:
        return
    unit = Unit.ROWS if form is Form.LIBRARY else Unit.NONE
    for key in given:
        alone = {key: entry[key], "unit": entry.get("unit")}
        try:
            read_comparison(alone, ContractSettings(), unit=unit)
        except CheckDefinitionError as problem:
            yield Level.ERROR, key, str(problem)
    if form is Form.LIBRARY and not given:
        yield Level.ERROR, "", "this rule has no operator to judge its metric by"


def _dimension(entry: Mapping[str, object], hints: Hints) -> Iterator[Deviation]:
    given = text_at(entry, "dimension")
    known = tuple(DIMENSIONS.values())
    if given.lower() in DIMENSIONS:
        meant = DIMENSIONS[given.lower()]
        yield Level.NOTE, "dimension", f"dimension {given} is read as {meant}"
    elif given.lower() == "validity":
        message = "dimension validity is called conformity in the standard, and read as that"
        yield Level.WARNING, "dimension", message
    elif given and given.lower() not in known:
        near = ", ".join(hints.near(given, known) or known)
        message = f"dimension {shown(given)} is not in the standard. Nearest: {near}."
        yield Level.WARNING, "dimension", message


def _severity(entry: Mapping[str, object]) -> Iterator[Deviation]:
    given = spelling(entry.get("severity"))
    if given.strip().lower() not in SEVERITIES:
        known = ", ".join(word for word in SEVERITIES if word)
        message = (
            f"severity {shown(given)} is unknown and counts as error, unless the configuration "
            f"has it under [contracts.severities]. Known: {known}"
        )
        yield Level.WARNING, "severity", message


def _unknown_keys(entry: Mapping[str, object], hints: Hints) -> Iterator[Deviation]:
    for key in entry:
        if key not in RULE_KEYS and not is_operator_like(key):
            hint = hints.did_you_mean(key, RULE_KEYS)
            yield Level.WARNING, key, f"unknown key {shown(key)} in this rule; it is kept.{hint}"
