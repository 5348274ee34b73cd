"""Rules for dbt: generic tests as they stand in a properties file, with their configuration.

`where` is the filter. A test fails where its `error_if` holds of the failing rows, `!= 0` by
default, and warns where `warn_if` does; with `severity: warn` only the latter counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import MeasureCheck
from lakeproof.checks.user_sql import parse_predicate
from lakeproof.contracts.draft import Draft, Placed, Setting, error, skipped
from lakeproof.contracts.engines.dbt_tests import DBT_TESTS
from lakeproof.contracts.engines.given import Given, all_of, as_number
from lakeproof.contracts.engines.great_expectations import unknown
from lakeproof.contracts.engines.implementation import (
    inline_keys,
    read_implementation,
    require_own_threshold,
)
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

_LISTS = ("tests", "data_tests")
_NAMING = ("test", "test_name", "data_test")
_CONFIG = frozenset(
    {
        *("alias", "config", "database", "description", "docs", "enabled", "error_if"),
        *("fail_calc", "group", "limit", "meta", "name", "schema", "severity", "sql_header"),
        *("store_failures", "store_failures_as", "tags", "warn_if", "where"),
    }
)
"""Keys of a test that configure it; the others are its arguments."""
_IF_ANY = "!= 0"
_CONDITION = re.compile(r"\s*(<=|>=|!=|<>|==|=|<|>)\s*(\S+)\s*")
_BETWEEN = re.compile(r"\s*(not\s+)?between\s+(\S+)\s+and\s+(\S+)\s*", re.IGNORECASE)
_OPPOSITE = {
    ">": Operator.LESS_OR_EQUAL,
    ">=": Operator.LESS,
    "<": Operator.GREATER_OR_EQUAL,
    "<=": Operator.GREATER,
    "=": Operator.MUST_NOT_BE,
    "==": Operator.MUST_NOT_BE,
    "!=": Operator.MUST_BE,
    "<>": Operator.MUST_BE,
}
"""What must hold so that a condition of failure does not."""


@dataclass(frozen=True, slots=True)
class _Test:
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    problem: str = ""


def drafts(placed: Placed, entry: Mapping[str, object]) -> list[Draft]:
    """A draft or more for each test of the rule; what cannot be read is an error."""
    try:
        require_own_threshold(entry, "dbt", "`error_if` or `warn_if`")
        found = list(_tests(_whole(entry)))
    except LakeproofError as problem:
        return [error(str(problem))]
    if not found:
        return [error("no test is named. Write one such as not_null")]
    if len(found) == 1:
        return _drafts(found[0], placed.setting)
    return [
        replace(draft, label=" ".join(filter(None, (_label(test), draft.label))))
        for test in found
        for draft in _drafts(test, placed.setting)
    ]


def _whole(entry: Mapping[str, object]) -> object:
    """What the rule asks: its implementation, or the test that its `code` names."""
    given = read_implementation(entry)
    code = entry.get("code")
    if isinstance(code, str) and not entry.get("implementation"):
        return {"test": code, **inline_keys(entry)}
    return given


# ------------------------------------------------------------------------------------------ forms


def _tests(given: object, column: str = "") -> Iterator[_Test]:
    if isinstance(given, str):
        yield _named(given, {}, column)
    elif isinstance(given, Mapping):
        yield from _from_mapping(given, column)
    elif isinstance(given, Sequence) and given:
        for one in given:
            yield from _isolated(one, column)
    else:
        raise CheckDefinitionError(f"this is no dbt test: {given!r}. Write one such as not_null")


def _isolated(given: object, column: str) -> Iterator[_Test]:
    """One of several: if it cannot be read, its neighbours still are."""
    try:
        yield from list(_tests(given, column))
    except CheckDefinitionError as problem:
        yield _Test("unreadable", problem=str(problem))


def _from_mapping(given: Mapping[str, object], column: str) -> Iterator[_Test]:
    naming = next((key for key in _NAMING if key in given), "")
    if naming:
        rest = {key: value for key, value in given.items() if key != naming}
        if isinstance(given[naming], str):
            yield _named(str(given[naming]), rest, column)
        else:
            yield from _tests(given[naming], column)
        return
    lists = [given[key] for key in _LISTS if key in given]
    columns = given.get("columns")
    if lists or isinstance(columns, Sequence):
        for tests in lists:
            yield from _tests(tests, column)
        yield from _of_columns(columns)
        return
    yield _single(given, column)


def _of_columns(columns: object) -> Iterator[_Test]:
    for one in columns if isinstance(columns, Sequence) else ():
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            raise CheckDefinitionError(f"a column has no name: {one!r}")
        for key in _LISTS:
            if key in one:
                yield from _tests(one[key], one["name"])


def _single(given: Mapping[str, object], column: str) -> _Test:
    """`{accepted_values: {...}}`; configuration may stand beside it."""
    names = [key for key in given if key not in _CONFIG and key != "column_name"]
    if len(names) != 1:
        listed = ", ".join(map(repr, given)) or "nothing"
        raise CheckDefinitionError(
            f"one test must be named; there is {listed}. Write {{test: not_null}}, or "
            "{accepted_values: {values: [...]}}"
        )
    inside = given[names[0]]
    if not isinstance(inside, Mapping | None):
        raise CheckDefinitionError(f"the arguments of {names[0]} must be a mapping, got {inside!r}")
    beside = {key: value for key, value in given.items() if key != names[0]}
    return _named(names[0], {**beside, **(inside or {})}, column)


def _named(name: str, given: Mapping[str, object], column: str) -> _Test:
    nested = given.get("arguments")
    inner = given.get("config")
    arguments = {
        key: value for key, value in given.items() if key not in _CONFIG and key != "arguments"
    }
    if column:
        arguments.setdefault("column_name", column)
    config = {key: value for key, value in given.items() if key in _CONFIG and key != "config"}
    return _Test(
        name.strip(),
        {**arguments, **(nested if isinstance(nested, Mapping) else {})},
        {**config, **(inner if isinstance(inner, Mapping) else {})},
    )


def _label(test: _Test) -> str:
    column = test.arguments.get("column_name")
    name = str(test.config.get("name") or test.name)
    return f"{name}({column})" if isinstance(column, str) else name


# ----------------------------------------------------------------------------------------- drafts


def _drafts(test: _Test, setting: Setting) -> list[Draft]:
    if test.problem:
        return [error(test.problem)]
    name = _known_name(test.name)
    if name not in DBT_TESTS:
        return [error(unknown(test.name, "dbt test", DBT_TESTS))]
    if test.config.get("enabled") is False:
        return [skipped(f"the dbt test {test.name} is not enabled")]
    given = Given(test.name, test.arguments, setting)
    try:
        found = DBT_TESTS[name](given)
        return [
            configured
            for draft in found
            for configured in _configured(_with_notes(draft, given), test.config)
        ]
    except LakeproofError as problem:
        return [error(str(problem))]


def _known_name(name: str) -> str:
    """The name as we list it; a package may be left out, and dbt's own tests have none."""
    bare = name.rpartition(".")[2].lower()
    package = name.rpartition(".")[0].lower()
    tried = (f"{package}.{bare}", bare, f"dbt_utils.{bare}", f"dbt_expectations.{bare}")
    candidates = tried if package in {"", "dbt"} else tried[:1]
    return next((one for one in candidates if one in DBT_TESTS), "")


def _with_notes(draft: Draft, given: Given) -> Draft:
    return replace(draft, notes=(*draft.notes, *given.unread()))


def _configured(draft: Draft, config: Mapping[str, object]) -> list[Draft]:
    """The draft in its filter: once, or once to fail and once to warn."""
    where = config.get("where")
    if not isinstance(where, str | None):
        raise CheckDefinitionError(f"'where' must be SQL over a row, got {where!r}")
    if where:
        parse_predicate(where)  # dbt writes it for Spark, so it can be read here already
    fail_calc = str(config.get("fail_calc", "count(*)"))
    if "".join(fail_calc.lower().split()) != "count(*)":
        raise CheckDefinitionError(f"fail_calc {fail_calc!r} is not run: failing rows are counted")
    draft = replace(draft, filter=all_of(where, draft.filter))
    severity = str(config.get("severity", "error")).lower()
    if severity not in {"error", "warn"}:
        raise CheckDefinitionError(f"'severity' of a dbt test is error or warn, not {severity!r}")
    error_if, warn_if = (str(config.get(key, _IF_ANY)) for key in ("error_if", "warn_if"))
    if severity == "warn":
        return [replace(_allowed(draft, "warn_if", warn_if), severity="warning")]
    fails = _allowed(draft, "error_if", error_if)
    if "severity" in config:
        fails = replace(fails, severity="error")
    if fails.comparison == draft.comparison:
        return [fails]  # whatever warns fails already
    warns = replace(_allowed(draft, "warn_if", warn_if), severity="warning", label="warn_if")
    return [replace(fails, label="error_if", severity="error"), warns]


def _allowed(draft: Draft, key: str, condition: str) -> Draft:
    """The draft with the number of failing rows at which the condition does not hold."""
    terms = _terms(key, condition)
    if terms == (Term(Operator.MUST_BE, 0),):
        return draft
    comparison = draft.comparison or Comparison(unit=Unit.ROWS)
    if comparison.unit is not Unit.ROWS or isinstance(find_check(draft.check), MeasureCheck):
        raise CheckDefinitionError(
            f"{key} {condition!r} counts failing rows, and this test fails or not as a whole"
        )
    notes = draft.notes
    if draft.check in {"accepted_values", "invalid_values"}:
        notes = (*notes, f"{key} counts rows here, in dbt the different values among them")
    return replace(draft, comparison=replace(comparison, terms=terms), notes=notes)


def _terms(key: str, condition: str) -> tuple[Term, ...]:
    found = _CONDITION.fullmatch(condition)
    values = [as_number(found[2])] if found else []
    operator = _OPPOSITE[found[1]] if found else Operator.MUST_BE
    ranged = _BETWEEN.fullmatch(condition)
    if ranged:
        values = [as_number(ranged[2]), as_number(ranged[3])]
        operator = Operator.BETWEEN if ranged[1] else Operator.NOT_BETWEEN
    if not values or any(isinstance(value, str) for value in values):
        raise CheckDefinitionError(
            f"{key} must compare the failing rows with a number, such as '> 10', got {condition!r}"
        )
    if not ranged and operator is Operator.LESS and values[0] == 1:
        return (Term(Operator.MUST_BE, 0),)  # `>= 1` is `!= 0`
    if not ranged and operator is Operator.LESS_OR_EQUAL and values[0] == 0:
        return (Term(Operator.MUST_BE, 0),)  # and so is `> 0`
    return (Term(operator, *values),)
