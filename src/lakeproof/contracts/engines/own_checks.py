"""`engine: lakeproof`: every check of ours, by name, as a Python suite would declare it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import Check, MeasureCheck, PairCheck
from lakeproof.contracts.draft import Draft, Placed, Setting
from lakeproof.contracts.engines.implementation import judging_keys, read_implementation
from lakeproof.contracts.odcs.filters import FILTER_KEYS, filter_in
from lakeproof.contracts.odcs.forms import Entry, text_at
from lakeproof.contracts.odcs.operators import (
    OPERATOR_KEYS,
    choices_of,
    operator_notes,
    read_comparison,
)
from lakeproof.contracts.odcs.parameters import read_parameters, read_share
from lakeproof.contracts.odcs.property_names import columns_given
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.threshold import Threshold

_NAME_KEYS = ("check", "check_type", "code", "type")
_TARGET_FILTER = "target_where_clause"
_TIMES = {Unit.DAYS.value, Unit.HOURS.value, Unit.MINUTES.value}
USED_KEYS = {
    *_NAME_KEYS,
    *OPERATOR_KEYS,
    "column",
    "columns",
    "column_name",
    *FILTER_KEYS,
    "params",
    "parameters",
    "arguments",
    "tolerance",
    "absolute_tolerance",
    "unit",
}
"""Keys beside the check's own parameters."""


def drafts(placed: Placed, entry: Entry) -> list[Draft]:
    """The check that `implementation` names, or the rule itself by `check` or `code`.

    A `tolerance` here is that of a suite: a share of rows, and exactly it is fine.
    """
    found = read_implementation(entry)
    given = {"check": found} if isinstance(found, str) else found
    if not isinstance(given, Mapping):
        raise CheckDefinitionError(
            f"implementation for engine lakeproof is a mapping with `check`, got {found!r}"
        )
    if isinstance(given.get("rule"), Mapping):
        return _of_another_form(placed, _judged(given["rule"], entry))
    given = _judged(given, entry)
    code = text_at(entry, "code")
    named = {"check": code, **given} if code else given
    name = next((text_at(named, key) for key in _NAME_KEYS if text_at(named, key)), "")
    if not name:
        raise CheckDefinitionError(
            "engine lakeproof needs `check`: the name of a check. Next: name it, or name the "
            "engine that the rule is for"
        )
    return [own_check_draft(placed.setting, name, named)]


def _judged(given: Mapping[str, object], entry: Entry) -> dict[str, object]:
    """What is asked, with the operators and the unit that stand beside `implementation`."""
    beside = judging_keys(entry)
    for key, value in beside.items():
        if key in given and given[key] != value:
            raise CheckDefinitionError(
                f"{key} is {value!r} on the rule and {given[key]!r} in its implementation; keep one"
            )
    return {**given, **beside}


def _of_another_form(placed: Placed, rule: object) -> list[Draft]:
    """A rule in any form under `rule`: what `contract export` writes where v3.2 has no words."""
    from lakeproof.contracts.odcs.quality import drafts_of_rule  # it knows this module, too

    return drafts_of_rule(replace(placed, rule=replace(placed.rule, raw=rule)))


def own_check_draft(setting: Setting, name: str, given: Mapping[str, object]) -> Draft:
    """The check with its columns, parameters, filter, tolerance and operators."""
    check = find_check(name)
    comparison = read_comparison(given, setting.settings, unit=_unit(check, given))
    tolerances = _tolerances(given)
    threshold = Threshold() if check.holds_tolerance else _threshold(tolerances)
    if comparison is not None and tolerances:
        raise CheckDefinitionError("give a tolerance or operators, not both")
    _require_countable(check, comparison)
    choices = choices_of(comparison, setting.settings)
    if comparison is not None and check.name in {"uniqueness", "unique_key"}:
        choices["duplicates"] = setting.settings.duplicates
    return Draft(
        check=check.name,
        columns=_columns(setting, check, given),
        params={
            **_params(setting, check, given),
            **_own_words(check, name, given),
            **(tolerances if check.holds_tolerance else {}),
        },
        filter=_filter(check, given),
        comparison=comparison,
        threshold=threshold,
        notes=operator_notes(given),
        choices=choices,
    )


def _unit(check: Check, given: Mapping[str, object]) -> Unit:
    """What the check's number counts: rows, or what it measures."""
    if not isinstance(check, MeasureCheck) or check.name == "row_count_range":
        return Unit.ROWS
    word = str(given.get("unit", "")).lower()
    return Unit(word) if check.name == "freshness" and word in _TIMES else Unit.NONE


def _require_countable(check: Check, comparison: Comparison | None) -> None:
    if comparison is not None and isinstance(check, PairCheck):
        raise CheckDefinitionError(
            f"check {check.name!r} fails for other reasons than a number, too: give tolerance or "
            "absolute_tolerance instead of an operator"
        )
    is_percent = comparison is not None and comparison.unit is Unit.PERCENT
    if is_percent and isinstance(check, MeasureCheck):
        raise CheckDefinitionError(
            f"check {check.name!r} measures one number and has no percent of rows"
        )


def _columns(setting: Setting, check: Check, given: Mapping[str, object]) -> tuple[str, ...]:
    named = {**given, "columns": given.get("columns", given.get("column_name"))}
    columns = columns_given(setting, named)
    is_own = columns == (setting.column,)
    return () if is_own and check.columns_max == 0 else columns


def _params(setting: Setting, check: Check, given: Mapping[str, object]) -> dict[str, object]:
    """The check's parameters, in a mapping of their own or beside; tables by their objects."""
    used = {*USED_KEYS, _TARGET_FILTER} if isinstance(check, PairCheck) else USED_KEYS
    params = {str(key): value for key, value in given.items() if key not in used}
    for key in ("params", "parameters", "arguments"):
        params |= read_parameters(given.get(key))
    for name in check.table_parameters:
        found = setting.contract.object_named(str(params.get(name, "")))
        if found is not None:
            params[name] = str(setting.table_of(found.name))
    return params


def _own_words(check: Check, name: str, given: Mapping[str, object]) -> dict[str, object]:
    """A parameter that has the name of one of our keys: the `check_type` of `reconciliation`."""
    word = given.get("check_type")
    is_parameter = any(one.name == "check_type" for one in check.parameters)
    return {"check_type": word} if is_parameter and word not in {None, name} else {}


def _filter(check: Check, given: Mapping[str, object]) -> str | None:
    """The checked table's; in a comparison of two, it may be called as in Python."""
    target = given.get(_TARGET_FILTER) if isinstance(check, PairCheck) else None
    return filter_in(given, {"filter": target})


def _tolerances(given: Mapping[str, object]) -> dict[str, object]:
    """What is tolerated, as far as it is said."""
    share, most = given.get("tolerance"), given.get("absolute_tolerance")
    found: dict[str, object] = {} if share is None else {"tolerance": float(read_share(share))}
    return found if most is None else {**found, "absolute_tolerance": most}


def _threshold(tolerances: Mapping[str, object]) -> Threshold:
    share, rows = tolerances.get("tolerance"), tolerances.get("absolute_tolerance")
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise CheckDefinitionError(f"absolute_tolerance must be 0 or more rows, got {rows!r}")
    return Threshold(None if share is None else float(str(share)), rows)
