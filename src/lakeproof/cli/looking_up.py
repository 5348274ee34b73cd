"""Runs, rules and tables by name in kept results, and what a mistyped name may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakeproof.config import Config
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.outcome import CheckResult
from lakeproof.state import kept_runs
from lakeproof.state.kept_runs import LATEST
from lakeproof.state.reading import Among, Question, StateReader
from lakeproof.state.statements import result_of_row


@dataclass(frozen=True, slots=True)
class Name:
    """What somebody typed: a `noun` that results know in these columns by one of these values."""

    noun: str
    given: str
    columns: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def among(self) -> Among:
        return Among(self.columns, self.values)


def run_name(reader: StateReader, run_id: str, among: Iterable[Name] = ()) -> Name:
    """A run; `latest` is the newest that has results of all the names given."""
    run = latest_run(reader, among) if run_id == LATEST else run_id
    return Name("run", run, ("run_id",), (run,))


def rule_name(rule: str) -> Name:
    return Name("rule", rule, ("rule_key", "check_name"), (rule,))


def table_name(table: str, settings: Config) -> Name:
    """A rule that could not be read has a short name only."""
    full = TableName.parse(table).resolve(settings.default_catalog, settings.default_namespace)
    return Name("table", table, ("table_fqn", "table_name"), (table, str(full)))


def latest_run(reader: StateReader, among: Iterable[Name] = ()) -> str:
    """The run with the newest result of all these names; '' before the first."""
    return kept_runs.latest_run(reader, tuple(name.among for name in among))


def results_among(reader: StateReader, names: Iterable[Name]) -> list[CheckResult]:
    rows = reader.ask(Question("results", tuple(name.among for name in names))).rows
    return [result_of_row(row) for row in rows]


def newest_results(reader: StateReader, names: Iterable[Name]) -> list[CheckResult]:
    """Results newest first, without what only a full report needs."""
    columns = (
        "run_id", "executed_at", "rule_key", "check_name", "table_fqn", "table_name",
        "column_name", "status", "failing_rows", "total_rows", "measure",
    )  # fmt: skip
    where = tuple(name.among for name in names)
    rows = reader.ask(
        Question("results", where, kept_runs.NEWEST, kept_runs.KNOWN_MAX, columns)
    ).rows
    return [result_of_row(row) for row in rows]


def ids_of(reader: StateReader, rule: Name) -> tuple[str, ...]:
    """Every logic that ever had this name: a rule that was changed has violations under both."""
    kept = reader.ask(Question("results", (rule.among,), columns=("rule_id",))).rows
    return tuple(sorted({str(row["rule_id"]) for row in kept}))


def names_of(reader: StateReader, rule_ids: Sequence[str]) -> dict[str, str]:
    """What each rule was called last."""
    if not rule_ids:
        return {}
    among = Among(("rule_id",), tuple(rule_ids))
    columns = ("rule_id", "check_name")
    question = Question("results", (among,), ("executed_at", "rule_key"), columns=columns)
    return {str(row["rule_id"]): str(row["check_name"]) for row in reader.ask(question).rows}


def unknown_name(reader: StateReader, names: Iterable[Name]) -> str:
    """What to say of the first name that no kept result has; '' if all are known."""
    for name in names:
        if name.noun == "run" and not name.given:
            return "no run is kept"
        if not reader.ask(Question("results", (name.among,), limit=1)).total:
            near = nearest(name.given, _known(reader, name.columns))
            told = f". Nearest: {', '.join(near)}" if near else ""
            return f"no results of {name.noun} {name.given!r} are kept{told}"
    return ""


def _known(reader: StateReader, columns: tuple[str, ...]) -> set[str]:
    kept = reader.ask(Question("results", (), kept_runs.NEWEST, kept_runs.KNOWN_MAX, columns)).rows
    return {str(row[column]) for row in kept for column in columns if row[column]}
