"""A suite in, rules out. What cannot become a rule is listed with the reason, never dropped."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import Arguments, Check, PairCheck
from lakeproof.checks.user_sql import parse_predicate
from lakeproof.config import Config
from lakeproof.errors import CheckDefinitionError, LakeproofError, short_message
from lakeproof.model.comparison import Comparison
from lakeproof.model.names import TableName
from lakeproof.model.places import place_named
from lakeproof.model.rule import Logic, RejectedRule, Rule, Severity
from lakeproof.model.suite import Comparing, QualityCheck
from lakeproof.model.threshold import Threshold

_SEVERITIES = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "warn": Severity.WARNING,
    "info": Severity.INFO,
}


def rules_of(suite: Iterable[object], config: Config) -> list[Rule | RejectedRule]:
    """One entry per result to come, in the suite's order; keys are unique."""
    if isinstance(suite, QualityCheck):
        suite = [suite]
    return with_own_keys(
        [
            rule
            for number, entry in enumerate(suite, start=1)
            for rule in rules_of_entry(entry, number, config)
        ]
    )


def with_own_keys(rules: Iterable[Rule | RejectedRule]) -> list[Rule | RejectedRule]:
    """The rules with unique keys: one whose name is taken is rejected under a name of its own."""
    found: list[Rule | RejectedRule] = []
    taken: set[str] = set()
    for rule in rules:
        unique = rule if rule.key not in taken else _used_twice(rule, taken)
        taken.add(unique.key)
        found.append(unique)
    return found


def rules_of_entry(entry: object, number: int, config: Config) -> list[Rule | RejectedRule]:
    """The rules of one entry of a suite; `number` is its place there."""
    if isinstance(entry, Comparing):
        entry = entry.quality_check()
    if not isinstance(entry, QualityCheck):
        reason = f"entry {number} of the suite is a {type(entry).__name__}, not a QualityCheck"
        return [RejectedRule(f"entry_{number}", "", "", None, "", reason)]
    if not entry.for_each_column:
        return [rule_of(entry, str(entry.name), _column_names(entry.column_name), config)]
    if isinstance(entry.for_each_column, str) or not isinstance(entry.for_each_column, Sequence):
        reason = f"for_each_column must be a list of columns, got {entry.for_each_column!r}"
        return [rejected(entry, str(entry.name), (), reason, config)]
    columns = dict.fromkeys(_column_names(entry.for_each_column))
    return [rule_of(entry, f"{entry.name}:{column}", (column,), config) for column in columns]


def rule_of(
    entry: QualityCheck,
    key: str,
    columns: tuple[str, ...],
    config: Config,
    comparison: Comparison | None = None,
) -> Rule | RejectedRule:
    """The rule that an entry stands for; whatever is wrong with it becomes its reason.

    `comparison` is what a contract asks of the check's number, in place of the check's bounds.
    """
    try:
        return _valid_rule(entry, key, columns, config, comparison)
    except LakeproofError as problem:
        return rejected(entry, key, columns, str(problem), config)
    except Exception as problem:  # noqa: BLE001 (nothing in one bad check may stop the others)
        reason = f"the check cannot be read: {type(problem).__name__}: {short_message(problem)}"
        return rejected(entry, key, columns, reason, config)


def rejected(
    entry: QualityCheck, key: str, columns: tuple[str, ...], reason: str, config: Config
) -> RejectedRule:
    """The rule as one that does not run, with all that can be told of it."""
    return RejectedRule(
        key=key,
        check=str(entry.check_type),
        table_label=str(entry.table_name),
        table=_table_if_named(entry.table_name, config),
        column_label=",".join(columns),
        reason=reason,
        severity=_SEVERITIES.get(str(entry.severity or entry.criticality), Severity.ERROR),
        dimension=str(entry.dimension or ""),
        tags=() if _tags_problem(entry.tags) else tuple(str(tag) for tag in entry.tags),
        source=str(entry.source),
    )


def _identity(check: Check, arguments: Arguments, config: Config) -> Arguments:
    """The arguments as they are hashed, other tables by their full names."""
    hashed = dict(check.identity(arguments))
    for name in check.table_parameters:
        if hashed.get(name) is not None:
            other = _place(check, str(hashed[name]))
            full = other.resolve(config.default_catalog, config.default_namespace)
            hashed[name] = list(full.folded)
    return hashed


def _table_if_named(name: object, config: Config) -> TableName | None:
    """The table's full name, as far as what was given is one."""
    try:
        named = place_named(_require_text("table_name", name))
        return named.resolve(config.default_catalog, config.default_namespace)
    except LakeproofError:
        return None


def _valid_rule(
    entry: QualityCheck,
    key: str,
    columns: tuple[str, ...],
    config: Config,
    comparison: Comparison | None,
) -> Rule:
    _require_text("name", entry.name)
    check = find_check(_require_text("check_type", entry.check_type))
    if entry.for_each_column and entry.column_name:
        raise CheckDefinitionError("give column_name or for_each_column, not both")
    arguments = check.read(columns, _params(entry, check))
    if comparison is None:
        check.require_limits(arguments)
    named = _place(check, _require_text("table_name", entry.table_name))
    table = named.resolve(config.default_catalog, config.default_namespace)
    condition = _filter(entry.filter)
    logic = Logic(
        table=table,
        check=check.name,
        check_version=check.version,
        columns=check.identity_columns(columns),
        arguments=_identity(check, arguments, config),
        filter=parse_predicate(condition).canonical if condition else None,
    )
    return Rule(
        key=key,
        rule_id=logic.rule_id,
        logic=logic,
        table=table,
        table_label=named.short,
        columns=columns,
        arguments=arguments,
        filter=condition,
        threshold=Threshold() if check.holds_tolerance else _threshold(entry),
        severity=_severity(entry),
        dimension=entry.dimension or check.dimension,
        tags=_tags(entry.tags),
        description=entry.description or "",
        timeout_seconds=_timeout(entry.timeout_seconds),
        source=entry.source,
        comparison=comparison,
    )


def _place(check: Check, text: str) -> TableName:
    """The table of that name; a comparison takes files by their path, too."""
    return place_named(text) if isinstance(check, PairCheck) else TableName.parse(text)


def _params(entry: QualityCheck, check: Check) -> Mapping[str, object]:
    """The parameters, with the tolerance where it decides what is bad."""
    if not isinstance(entry.params, Mapping):
        raise CheckDefinitionError(f"params must be a mapping, got {entry.params!r}")
    if not check.holds_tolerance:
        return entry.params
    given = {"tolerance": entry.tolerance, "absolute_tolerance": entry.absolute_tolerance}
    return {**entry.params, **{name: value for name, value in given.items() if value is not None}}


def _used_twice(rule: Rule | RejectedRule, taken: Collection[str]) -> RejectedRule:
    numbered = (f"{rule.key}#{number}" for number in itertools.count(2))
    return RejectedRule(
        key=next(key for key in numbered if key not in taken),
        check=rule.check,
        table_label=rule.table_label,
        table=rule.table,
        column_label=rule.column_label,
        reason=f"the name {rule.key!r} is used again in this suite; names must be unique",
        severity=rule.severity,
        dimension=rule.dimension,
        tags=rule.tags,
        source=rule.source,
        declared=rule.declared,
    )


def _column_names(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    names = [value] if isinstance(value, str) or not isinstance(value, Sequence) else list(value)
    return tuple(unicodedata.normalize("NFC", str(name)) for name in names)


def _require_text(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CheckDefinitionError(f"{what} must be a text that is not empty, got {value!r}")
    return unicodedata.normalize("NFC", value)


def _tags_problem(value: object) -> bool:
    return isinstance(value, str) or not isinstance(value, Sequence)


def _tags(value: Sequence[str]) -> tuple[str, ...]:
    if _tags_problem(value):
        raise CheckDefinitionError(f"tags must be a list of texts, got {value!r}")
    return tuple(str(tag) for tag in value)


def _filter(value: object) -> str | None:
    if value is None:
        return None
    return _require_text("filter", value).strip()


def _severity(entry: QualityCheck) -> Severity:
    if entry.severity is not None and entry.criticality is not None:
        raise CheckDefinitionError("give severity or its alias criticality, not both")
    given = entry.criticality if entry.severity is None else entry.severity
    word = "error" if given is None else given
    if not isinstance(word, str) or word not in _SEVERITIES:
        raise CheckDefinitionError(f"severity {word!r} is not one of error, warning, info")
    return _SEVERITIES[word]


def _threshold(entry: QualityCheck) -> Threshold:
    share, rows = entry.tolerance, entry.absolute_tolerance
    if share is not None and (
        isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1
    ):
        raise CheckDefinitionError(f"tolerance must be a share from 0 to 1, got {share!r}")
    if isinstance(rows, float) and rows.is_integer():
        rows = int(rows)
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise CheckDefinitionError(f"absolute_tolerance must be 0 or more rows, got {rows!r}")
    return Threshold(share=None if share is None else float(share), rows=rows)


def _timeout(seconds: object) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise CheckDefinitionError(f"timeout_seconds must be above 0, got {seconds!r}")
    return float(seconds)
