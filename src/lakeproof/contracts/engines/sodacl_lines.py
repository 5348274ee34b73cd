"""One check of SodaCL: a line such as `missing_count(email) = 0`, with the options below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeproof.contracts.draft import Draft, Placed, Setting, error, skipped
from lakeproof.contracts.engines.given import Given, all_of
from lakeproof.contracts.engines.sodacl_thresholds import (
    Operators,
    in_one_unit,
    read_alarms,
    read_threshold,
)
from lakeproof.contracts.odcs.operators import read_comparison
from lakeproof.contracts.odcs.predefined import predefined_drafts
from lakeproof.contracts.odcs.sql_rules import predicate_drafts, sql_drafts
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.nearest import nearest

Options = Mapping[str, object]
Names = Sequence[object] | Mapping[str, object]

_METRIC = re.compile(r"(\w+)\s*(?:\(([^)]*)\))?\s*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|([^,]+?))\s*(?:,|\Z)")
_USING = re.compile(r"freshness using (\S+)(?:\s+with\s+(\S+))?\s*(.*)", re.IGNORECASE)
_REFERENCE = re.compile(
    r"values in \(?([^()]+?)\)? must (not )?exist in ([^()]+?)\s*\(([^()]+)\)", re.IGNORECASE
)
_COLUMN_METRICS = frozenset(
    """
    missing_count missing_percent invalid_count invalid_percent duplicate_count duplicate_percent
    min max avg sum min_length max_length avg_length stddev stddev_pop stddev_samp variance var_pop
    var_samp percentile freshness
    """.split()  # noqa: SIM905 (twenty names read better as a text)
)
_METRICS = (*sorted(_COLUMN_METRICS), "row_count")
_ASIDE = frozenset(
    """
    name warn fail filter identity attributes samples_limit samples_columns collect_failed_rows
    title failed_rows_processing
    """.split()  # noqa: SIM905
)
"""Options that say nothing about what is valid."""

_NOT_RUN = {
    "anomaly": "it learns from the runs that Soda has kept",
    "distribution": "it needs a distribution reference that Soda has made",
    "group by": "it makes checks of the groups that it finds",
    "group evolution": "it compares with the groups that Soda has kept",
    "change ": "it compares with measurements that Soda has kept; row_count_change is ours",
    "reconciliation": "it compares two data sources",
    "automated monitoring": "it learns from the runs that Soda has kept",
    "valid_count": "it counts what is valid; ask for invalid_count instead",
    "valid_percent": "it counts what is valid; ask for invalid_percent instead",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds for all lines of a section.

    `filter` narrows the rows, `stands_for` is the column that each name of `for each column`
    means, and `configured` the options that a column has everywhere.
    """

    placed: Placed
    filter: str = ""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    configured: Mapping[str, Options] = field(default_factory=dict)


def line_drafts(scope: Scope, line: str, options: object = None) -> list[Draft]:
    """The drafts of one check; `warn` beside `fail` makes two. Never none."""
    given = options if isinstance(options, Mapping) else {}
    text = " ".join(line.split())
    name = given.get("name")
    try:
        if options is not None and not isinstance(options, Mapping):
            raise CheckDefinitionError(f"below it stand options, got {options!r}")
        found = list(_drafts(scope, text, given))
    except LakeproofError as problem:
        found = [error(str(problem))]
    told = [
        replace(draft, error=f"SodaCL {text!r}: {draft.error}") if draft.error else draft
        for draft in found
    ]
    title = {"name": name} if isinstance(name, str) else {}
    return [
        replace(
            draft,
            label=" ".join(part for part in (str(name or text), draft.label) if part),
            choices={**draft.choices, **title},
        )
        for draft in told
    ]


def _drafts(scope: Scope, text: str, options: Options) -> Iterator[Draft]:
    lowered = text.lower()
    reason = next((why for start, why in _NOT_RUN.items() if lowered.startswith(start)), "")
    if " same as " in f"{lowered} ":
        reason = "it compares two datasets"
    if reason:
        yield skipped(f"SodaCL {text!r} is not run: {reason}")
    elif lowered == "schema":
        yield from _schema(scope, options)
    elif lowered == "failed rows":
        yield from _failed_rows(scope, options)
    elif lowered.startswith("values in"):
        yield _reference(scope, text, options)
    else:
        yield from _metric(scope, text, options)


# ------------------------------------------------------------------------------------- numbers


def _metric(scope: Scope, text: str, options: Options) -> Iterator[Draft]:
    using = _USING.fullmatch(text)
    if using is not None and using[2]:
        raise CheckDefinitionError(f"{using[2]} is a moment of Soda's; the run's clock is ours")
    found = _METRIC.fullmatch(text) if using is None else None
    if using is not None:
        metric, arguments, rest = "freshness", [using[1]], using[3]
    elif found is not None:
        metric, arguments, rest = found[1], _arguments(found[2] or ""), found[3]
    else:
        raise CheckDefinitionError(f"it does not begin with a metric: {', '.join(_METRICS)}")
    for level, operators in _levels(rest, options):
        for draft in _measured(scope, metric, arguments, operators, options):
            yield _graded(draft, level, options)


def _levels(rest: str, options: Options) -> Iterator[tuple[str, Operators]]:
    """Each threshold with the level it belongs to: the line's own, `fail` and `warn`."""
    if rest:
        yield "fail", read_threshold(rest)
    for level in ("fail", "warn"):
        if options.get(level) is not None:
            yield level, read_alarms(options[level])
    if not rest and not any(options.get(level) for level in ("fail", "warn")):
        raise CheckDefinitionError(
            "it has no threshold: write one behind it, such as `> 0`, or `fail: when ...` below"
        )


def _graded(draft: Draft, level: str, options: Options) -> Draft:
    """A warning is one whatever the rule's severity; the label tells two levels apart."""
    both = all(options.get(one) is not None for one in ("fail", "warn"))
    severity = "warning" if level == "warn" else ""
    return replace(draft, severity=severity, label=level if both else "")


def _measured(
    scope: Scope, metric: str, arguments: list[str], operators: Operators, options: Options
) -> list[Draft]:
    for ending, query in (("query", "{}"), ("expression", "SELECT {} FROM ${{table}}")):
        sql = options.get(f"{metric} {ending}")
        if isinstance(sql, str):
            return _queried(scope, query.format(sql), operators, options)
    if metric not in _METRICS:
        near = ", ".join(nearest(metric, _METRICS)) or ", ".join(_METRICS)
        raise CheckDefinitionError(f"{metric!r} is no metric of SodaCL. Nearest known: {near}")
    columns = [scope.stands_for.get(one, one) for one in arguments]
    entry: dict[str, object] = {}
    if metric == "percentile":
        if len(columns) < 2:  # noqa: PLR2004 (a column and a share)
            raise CheckDefinitionError(
                "it needs a column and a share, such as percentile(price, 0.95)"
            )
        *columns, entry["percentile"] = columns
    if metric in _COLUMN_METRICS:
        if not columns:
            raise CheckDefinitionError(f"{metric} needs a column in brackets behind it")
        entry["columns"] = columns
    if metric == "freshness":
        entry["unit"], operators = in_one_unit(operators)
    for column in columns[:1]:
        entry |= _validity(scope.configured.get(column, {}))
    entry |= _validity(options)
    entry |= operators
    entry["filter_sql"] = all_of(scope.filter, _filter(options)) or ""
    return predefined_drafts(scope.placed, metric, entry)


def _queried(scope: Scope, sql: str, operators: Operators, options: Options) -> list[Draft]:
    comparison = read_comparison(operators, scope.placed.setting.settings, unit=Unit.NONE)
    if comparison is None:
        raise CheckDefinitionError("it has no threshold")
    kept = all_of(scope.filter, _filter(options))
    return [replace(one, filter=kept) for one in sql_drafts(scope.placed, sql, comparison)]


def _arguments(text: str) -> list[str]:
    """What stands in brackets, at commas; a name in quotes may hold one."""
    found = [next(part for part in groups if part) for groups in _ARGUMENT.findall(text)]
    return [one.strip() for one in found]


def _validity(options: Options) -> dict[str, object]:
    """Soda's `valid min length` is our `valid_min_length`."""
    spelled = {str(name).strip().replace(" ", "_"): value for name, value in options.items()}
    return {name: value for name, value in spelled.items() if name not in _ASIDE}


def _filter(options: Options) -> str:
    given = options.get("filter")
    return given if isinstance(given, str) else ""


# ---------------------------------------------------------------------------------------- others


def _schema(scope: Scope, options: Options) -> Iterator[Draft]:
    """Columns that must be there and their types; what else Soda asks of a schema is not run."""
    for level in ("fail", "warn"):
        asked = options.get(level)
        for condition, value in asked.items() if isinstance(asked, Mapping) else ():
            known = _SCHEMA.get(str(condition))
            if known is None or not isinstance(value, (list, Mapping)):
                yield skipped(f"SodaCL schema: {condition!r} is not run: no check of ours asks it")
                continue
            yield Draft(
                check="schema",
                params={"columns": known(scope.placed.setting, value)},
                label=str(condition).removeprefix("when "),
                severity="warning" if level == "warn" else "",
            )
    if not any(isinstance(options.get(level), Mapping) for level in ("fail", "warn")):
        raise CheckDefinitionError("it needs `fail:` or `warn:` with conditions below")


def _present(setting: Setting, value: Names) -> object:
    return Given("schema", {"columns": list(value)}, setting).names("columns")


def _typed(setting: Setting, value: Names) -> object:
    if not isinstance(value, Mapping):
        raise CheckDefinitionError("`when wrong column type` needs a type for each column")
    names = Given("schema", {"columns": list(value)}, setting).names("columns")
    return dict(zip(names, value.values(), strict=True))


_SCHEMA: dict[str, Callable[[Setting, Names], object]] = {
    "when required column missing": _present,
    "when wrong column type": _typed,
}


def _failed_rows(scope: Scope, options: Options) -> Iterator[Draft]:
    """Rows that meet a condition, or that a query returns; by default none may."""
    condition, query = options.get("fail condition"), options.get("fail query")
    if isinstance(condition, str):
        # On lines of its own: a comment at its end must not swallow the bracket.
        asked = predicate_drafts(scope.placed, f"NOT (\n{condition}\n)", None)
        asked = [replace(one, notes=()) for one in asked]  # they are about the key `rule`
    elif isinstance(query, str):
        asked = sql_drafts(scope.placed, query, Comparison())
        asked = [replace(one, check="custom_sql", comparison=None) for one in asked]
    else:
        raise CheckDefinitionError("it needs `fail condition:` or `fail query:` below")
    kept = all_of(scope.filter, _filter(options))
    levels = [level for level in ("fail", "warn") if options.get(level) is not None]
    for draft in asked:
        if not levels or draft.error:
            yield replace(draft, filter=kept)
            continue
        for level in levels:
            operators = read_alarms(options[level])
            settings = scope.placed.setting.settings
            comparison = read_comparison(operators, settings, unit=Unit.ROWS)
            yield _graded(replace(draft, filter=kept, comparison=comparison), level, options)


def _reference(scope: Scope, text: str, options: Options) -> Draft:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise CheckDefinitionError(
            "it is not written as `values in (column) must exist in dataset (column)`"
        )
    if found[2]:
        return skipped(f"SodaCL {text!r} is not run: no check of ours asks that values be absent")
    given = Given("values in", {}, scope.placed.setting)
    table = _arguments(found[3])[0]
    ours = [scope.stands_for.get(one, one) for one in _arguments(found[1])]
    return Draft(
        check="foreign_key",
        columns=tuple(given.path(one) for one in ours),
        params={
            "references": given.table(table),
            "referenced_columns": [given.column_of(table, one) for one in _arguments(found[4])],
        },
        filter=all_of(scope.filter, _filter(options)),
    )
