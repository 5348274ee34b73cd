"""A rule of any form, as version 3.2 of the standard writes it.

Where its library has a metric for the rule, that is it. What only another engine can say is a rule
of type `custom`: of the engine it names, else of ours, which reads every form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from lakeproof.checks.catalogue import check_names
from lakeproof.contracts.commented import CUSTOM, Rewriting, custom_property
from lakeproof.contracts.contract import custom_properties
from lakeproof.contracts.odcs.forms import (
    LEGACY_METHODS,
    METRICS,
    PREDEFINED_TYPES,
    Form,
    form_of,
    is_version_two,
    legacy_name,
)
from lakeproof.contracts.odcs.known_keys import DIMENSIONS
from lakeproof.contracts.odcs.operators import OPERATOR_KEYS, is_operator_like
from lakeproof.model.comparison import Operator

Entry = Mapping[str, Any]

OWN_ENGINE = "lakeproof"
_SODA = "soda"
_CARRIED = (
    *("id", "name", "description", "tags", "dimension", "severity", "businessImpact", "method"),
    *("schedule", "scheduler", "authoritativeDefinitions", CUSTOM),
)
_TO_CUSTOM = ("templateName", "toolName", "toolRuleName")
_BESIDE_ARGUMENTS = ("validValues", "missingValues", "pattern", "properties")
_METRIC_OF_TYPE = {
    "row_count": "rowCount",
    "rows_present": "rowCount",
    "no_missing_values": "nullValues",
    "missing_count": "nullValues",
    "missing_percent": "nullValues",
    "no_invalid_values": "invalidValues",
    "invalid_count": "invalidValues",
    "invalid_percent": "invalidValues",
    "no_duplicate_values": "duplicateValues",
    "unique": "duplicateValues",
    "duplicate_count": "duplicateValues",
    "duplicate_percent": "duplicateValues",
}
_ARGUMENT_OF = {
    "missing_values": ("missingValues", "missingValues"),
    "valid_values": ("invalidValues", "validValues"),
    "columns": ("duplicateValues", "properties"),
}
_BOUNDED = {"countCheck", "rangeCheck", "between", "minCheck", "maxCheck"}
_RANGES = _BOUNDED - {"countCheck"}
_DIMENSIONS = {
    **DIMENSIONS,
    **{name: name for name in DIMENSIONS.values()},
    "validity": "conformity",
}
_V2_SCHEDULE = "0 10 * * *"


@dataclass(frozen=True, slots=True)
class _Body:
    """What a rule asks: its keys in the new form, the operators of which each needs a rule.

    `used` are the old keys that are said by it.
    """

    keys: Mapping[str, object]
    used: frozenset[str]
    operators: Mapping[str, object] = field(default_factory=dict)


def current_rules(entry: object, *, on_property: bool) -> list[CommentedMap]:
    """The rule as one rule of version 3.2, or as several if it has several operators."""
    if not isinstance(entry, Mapping):
        rewriting = Rewriting({})
        rewriting.keep("type", "text")
        rewriting.move_aside("quality", entry)
        return [rewriting.result()]
    body = _body(entry, on_property=on_property)
    pairs = list(body.operators.items()) or [("", None)]
    rules = []
    for number, (operator, value) in enumerate(pairs, start=1):
        suffix = f"-{number}" if len(pairs) > 1 else ""
        # A comment is written once: with the first of the rules that one became.
        source = entry if number == 1 else dict(entry)
        rules.append(_written(source, body, operator, value, suffix, on_property=on_property))
    return rules


def _written(
    entry: Entry, body: _Body, operator: str, value: object, suffix: str, *, on_property: bool
) -> CommentedMap:
    new = Rewriting(entry)
    said_by = next((key for key in entry if key in body.used), "")
    for key in entry if said_by else ("", *entry):
        if key == said_by:
            _keep_body(new, body, operator, value, key)
            if is_version_two(entry):
                _keep_defaults(new, entry, on_property=on_property)
        elif key not in body.used:
            _keep_carried(new, key, entry[key], suffix)
    return new.result()


def _keep_body(new: Rewriting, body: _Body, operator: str, value: object, old_key: str) -> None:
    for number, (key, one) in enumerate(body.keys.items()):
        new.keep(key, one, key if number or not old_key else old_key)
    if operator:
        new.keep(operator, value)


def _keep_carried(new: Rewriting, key: str, value: Any, suffix: str) -> None:  # noqa: ANN401
    if key == "scheduleCronExpression":
        new.keep("scheduler", "cron")
        new.keep("schedule", str(value), key)
    elif key == "type" and value in LEGACY_METHODS:
        new.keep("method", value, key)
    elif key == "id" and value is not None:
        new.keep(key, f"{value}{suffix}")
    elif key == "dimension" and str(value).lower() in _DIMENSIONS:
        new.keep(key, _DIMENSIONS[str(value).lower()])
    elif key == CUSTOM and isinstance(value, Mapping):
        pairs = custom_properties(value).items()
        new.keep(key, CommentedSeq([custom_property(name, one) for name, one in pairs]))
    elif key in _CARRIED and key != "dimension" and (key != CUSTOM or isinstance(value, list)):
        new.keep(key, value)
    else:
        new.move_aside(key, value, key)


def _keep_defaults(new: Rewriting, entry: Entry, *, on_property: bool) -> None:
    """What version 2 means where it says nothing, and version 3 does not."""
    if not {"schedule", "scheduleCronExpression"} & entry.keys():
        new.keep("schedule", _V2_SCHEDULE)
        new.keep("scheduler", "cron")
    if "method" not in entry and entry.get("type") not in LEGACY_METHODS:
        new.keep("method", LEGACY_METHODS[0] if on_property else LEGACY_METHODS[1])


def _body(entry: Entry, *, on_property: bool) -> _Body:
    """What the rule asks, by the form it has."""
    form = form_of(entry)
    found: _Body | None = None
    if form is Form.TEXT:
        found = _Body({"type": "text"}, frozenset({"type"}))
    elif form is Form.LIBRARY:
        found = _library(entry)
    elif form is Form.SQL:
        found = _sql(entry)
    elif form is Form.PREDEFINED:
        found = _predefined(entry, str(entry["type"]), frozenset({"type"}))
    elif form is Form.CODE:
        found = _code(entry, on_property=on_property)
    elif form is Form.LEGACY:
        found = _legacy(entry, legacy_name(entry))
    elif form is Form.PREDICATE:
        check = CommentedMap(check="row_expression", expression=entry["rule"])
        found = None if _operators(entry) else _custom(OWN_ENGINE, check, {"type", "rule"})
    return found or _engine(entry, form)


_WITHOUT_WORDS = {"filter_sql", "filter", "tolerance"}
"""What the standard's metrics cannot say: a rule with one of them is kept as it stands."""


def _library(entry: Entry) -> _Body | None:
    metric = entry.get("metric") or entry.get("rule")
    operators = _operators(entry)
    if metric not in METRICS or not operators or _WITHOUT_WORDS & entry.keys():
        return None
    beside = {key: entry[key] for key in _BESIDE_ARGUMENTS if key in entry}
    given = entry.get("arguments")
    if given is not None and not isinstance(given, Mapping):
        return None
    used = {"type", "metric", "rule", "unit", "arguments", *beside, *_operator_keys(entry)}
    keys: dict[str, object] = {"type": "library"} if "type" in entry else {}
    keys |= {"metric": metric, **_unit(entry)}
    arguments = given if not beside else CommentedMap({**(given or {}), **beside})
    return _Body(keys | ({"arguments": arguments} if arguments else {}), frozenset(used), operators)


def _sql(entry: Entry, query: object = None) -> _Body | None:
    """Without an operator the query must give what is true."""
    text = query or entry.get("query")
    operators = _operators(entry)
    if not isinstance(text, str) or (not operators and _operator_keys(entry)):
        return None
    used = {"type", "code", "query", "unit", *_operator_keys(entry)}
    if entry.get("code") not in (None, "sql"):
        used.discard("code")
    return _Body(
        {"type": "sql", "query": text, **_unit(entry)},
        frozenset(used),
        operators or {Operator.MUST_BE.value: True},
    )


def _predefined(entry: Entry, kind: str, used: Iterable[str]) -> _Body | None:
    """A metric of the library, where that says the same; else Soda's own words."""
    asked = _asked(entry, used)
    operators = _operators(asked)
    metric = _METRIC_OF_TYPE.get(kind, "")
    if kind == "rows_present":
        operators = {Operator.GREATER.value: 0}
    elif kind.startswith("no_") or kind == "unique":
        operators = {Operator.MUST_BE.value: 0}
    arguments = CommentedMap()
    for key in set(asked) - set(_operator_keys(asked)) - {"unit"}:
        if key not in _ARGUMENT_OF or (key == "columns" and metric != "duplicateValues"):
            metric = ""
        else:
            wanted, name = _ARGUMENT_OF[key]
            metric = wanted if metric in {wanted, "nullValues"} else ""
            arguments[name] = asked[key]
    if metric == "invalidValues" and not arguments:
        metric = ""
    everything = frozenset({*asked, *used})
    if not metric or not operators:
        return _custom(_SODA, CommentedMap({"type": kind, **asked}), everything)
    keys: dict[str, object] = {"metric": metric}
    keys |= {"unit": "percent"} if kind.endswith("_percent") else _unit(entry)
    keys |= {"arguments": arguments} if arguments else {}
    return _Body(keys, everything, operators)


def _code(entry: Entry, *, on_property: bool) -> _Body | None:
    """Option 1: a name with parameters."""
    code, engine = str(entry.get("code") or ""), str(entry.get("engine") or "")
    parameters = _parameters(entry.get("parameters"))
    used = frozenset({"code", "parameters", "engine"})
    if parameters is None or engine not in {"", _SODA, OWN_ENGINE}:
        return None
    rest = _asked(entry, used)
    flat = {**rest, **parameters}
    if code in PREDEFINED_TYPES:
        found = _predefined(flat, code, ())
    elif code in METRICS:
        found = _library({**flat, "metric": code})
    elif code in check_names() and "tolerance" not in flat:
        found = _custom(OWN_ENGINE, CommentedMap({"check": code, **flat}), rest)
    elif code == "required" and on_property and not rest and set(parameters) <= {"tolerance"}:
        found = _required(parameters.get("tolerance"))
    else:
        found = None
    return None if found is None else _Body(found.keys, found.used | used, found.operators)


def _required(tolerance: object) -> _Body | None:
    if tolerance is None:
        operators: dict[str, object] = {Operator.MUST_BE.value: 0}
        return _Body({"metric": "nullValues"}, frozenset(), operators)
    text = str(tolerance).strip()
    try:
        number = float(text.removesuffix("%")) * (1 if text.endswith("%") else 100)
    except ValueError:
        return None
    percent = int(number) if number == int(number) else round(number, 12)
    keys = {"metric": "nullValues", "unit": "percent"}
    return _Body(keys, frozenset(), {Operator.LESS.value: percent})


def _legacy(entry: Entry, name: str) -> _Body | None:
    """The rules of versions 2 and 3.0, by their names."""
    given = {
        key: value
        for key, value in custom_properties(entry.get(CUSTOM)).items()
        if value not in (None, "")
    }
    used = {"code", "rule", *_operator_keys(entry)}
    if entry.get("type") not in LEGACY_METHODS:
        used.add("type")
    known = {"FIELD_NAME", "FILTER_CONDITIONS", "COMPARE_TO"}
    beside = {"columns", "column", "parameters", "arguments", *_WITHOUT_WORDS}
    if given.keys() & known or beside & entry.keys():
        return None
    operators = _operators(entry)
    bounds = {f"{end}_value": given[end] for end in ("min", "max") if end in given}
    if name == "nullCheck":
        keys: dict[str, object] = {"metric": "nullValues", **_unit(entry)}
        return _Body(keys, frozenset({*used, "unit"}), operators or {Operator.MUST_BE.value: 0})
    if name in _RANGES and bounds and not operators:
        return _custom(OWN_ENGINE, CommentedMap(check="range", **bounds), used)
    if name in _BOUNDED and not bounds and not operators and not _operator_keys(entry):
        # It says nothing that could be run, so it is a text for people; its name is kept.
        return _Body({"type": "text"}, frozenset({"type"} & used))
    return None


def _engine(entry: Entry, form: Form) -> _Body:
    """A rule for the engine that it names; for ours as it stands, which reads every form."""
    implementation = entry.get("implementation")
    inside = _asked(entry, {"type", *_ENGINE_KEYS})
    engine = entry.get("engine") or entry.get("toolName")
    if form is not Form.CUSTOM or not engine:
        return _as_it_stands(entry, form)
    if isinstance(implementation, (str, Mapping)) and implementation:
        # Keys beside it say nothing to the engine, and become custom properties.
        return _custom(str(engine), implementation, {"type", *_ENGINE_KEYS})
    return _custom(str(engine), CommentedMap(inside), {*inside, "type", *_ENGINE_KEYS})


def _as_it_stands(entry: Entry, form: Form) -> _Body:
    asked = _asked(entry, ())
    if entry.get("type") in LEGACY_METHODS:
        asked.pop("type")
    held = {"templateName", CUSTOM if form is Form.LEGACY else "toolName"}
    rule = {key: value for key, value in entry.items() if key in asked or key in held}
    return _custom(OWN_ENGINE, CommentedMap(rule=CommentedMap(_copied(rule))), asked)


def _copied(value: Any) -> Any:  # noqa: ANN401 (what the file holds)
    """The value without its comments, which are written where it stood."""
    if isinstance(value, Mapping):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


_ENGINE_KEYS = ("engine", "implementation")


def _custom(engine: str, implementation: object, used: Iterable[str]) -> _Body:
    keys = {"type": "custom", "engine": engine, "implementation": implementation}
    return _Body(keys, frozenset(used))


def _asked(entry: Entry, used: Iterable[str]) -> dict[str, Any]:
    """What the rule asks: all that neither says something about it nor is used already."""
    said = {*_CARRIED, *_TO_CUSTOM, "scheduleCronExpression", *used}
    return {key: value for key, value in entry.items() if key not in said}


def _operator_keys(entry: Entry) -> list[str]:
    return [key for key in entry if is_operator_like(str(key))]


def _operators(entry: Entry) -> dict[str, object]:
    """The operators by the standard's names; none if one of them is no operator it can hold."""
    found: dict[str, object] = {}
    for key in _operator_keys(entry):
        operator = OPERATOR_KEYS.get(key)
        value = _number(entry[key])
        is_equality = operator in {Operator.MUST_BE, Operator.MUST_NOT_BE}
        if operator is None or not (is_equality or _is_bound(operator, value)):
            return {}
        found[operator.value] = value
    return found


def _is_bound(operator: Operator, value: object) -> bool:
    if operator not in {Operator.BETWEEN, Operator.NOT_BETWEEN}:
        return _is_number(value)
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 (low and high)
        return False
    low, high = value
    return _is_number(low) and _is_number(high) and low != high


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: Any) -> Any:  # noqa: ANN401 (what the file holds)
    """A number written as text is one; everything else is as it is."""
    if isinstance(value, list):
        numbers = [_number(one) for one in value]
        return value if numbers == value else CommentedSeq(numbers)
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value.strip().removesuffix("%"))
        except ValueError:
            continue
    return value


def _unit(entry: Entry) -> dict[str, object]:
    return {"unit": str(entry["unit"])} if entry.get("unit") else {}


def _parameters(given: object) -> dict[str, Any] | None:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        return None
    return {str(one.get("parameter")): one.get("value") for one in given}
