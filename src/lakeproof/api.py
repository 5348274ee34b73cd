"""The facade: suite, engine, store, gate and reports joined into the calls that users make."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakeproof.checks.catalogue import find_check
from lakeproof.config import Config, StoreSettings
from lakeproof.contracts.suite import rules_of
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.splitting import FrameEngine
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.gating.policy import GateDecision, decide
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.run_id import ensure_run_id
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.marks import marks_of
from lakeproof.planning.plan import Plan
from lakeproof.planning.selection import chosen_rules
from lakeproof.planning.settings import table_settings, with_keys
from lakeproof.reporting.document import run_document
from lakeproof.running.progress import Listener, ignore
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Runner
from lakeproof.state import open_store
from lakeproof.state.last_statuses import last_statuses
from lakeproof.state.quarantine import SparkQuarantine
from lakeproof.state.reading import SparkReader
from lakeproof.state.spark_store import SparkStore
from lakeproof.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run found: one result per rule, the gate's decision, and the way to the bad rows."""

    run_id: str
    results: tuple[CheckResult, ...]
    gate: GateDecision
    plan: Plan
    _engine: SparkEngine = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the gate is open."""
        return self.gate.is_open

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Results that failed, warned or could not be evaluated."""
        fine = {CheckStatus.PASSED, CheckStatus.SKIPPED}
        return tuple(result for result in self.results if result.status not in fine)

    def violations(self) -> DataFrame:
        """The bad rows of this run as a lazy DataFrame, read at the positions of the run.

        Columns: rules (their names), rule_id, hit_id, violation_key, occurrences, observed.
        """
        names: dict[str, list[str]] = {}
        for result in self.results:
            if result.failing_rows:
                names.setdefault(result.rule_id, []).append(result.rule_key)
        branches = [bad_rows_sql(table, frozenset(names)) for table in self.plan.tables]
        sql = "\nUNION ALL\n".join(branch for branch in branches if branch)
        return self._engine.named_hits(sql or _NO_HITS, names)

    def raise_for_status(self) -> None:
        """Raise GateClosedError unless the gate is open."""
        self.gate.raise_for_status()

    def to_dict(self) -> dict[str, object]:
        """One plain document: what `--format json` prints."""
        return run_document(self.run_id, self.results, self.gate)

    def __str__(self) -> str:
        from lakeproof.reporting.console import outcome_text

        return outcome_text(self.run_id, self.results, self.gate)

    def _repr_html_(self) -> str:
        from lakeproof.reporting.notebook import outcome_html

        return outcome_html(self.run_id, self.results, self.gate)


_NO_HITS = (
    "SELECT '' AS rule_id, '' AS violation_key, 0L AS occurrences, 0L AS excess, '' AS observed "
    "WHERE false"
)


def gate(results: Sequence[CheckResult]) -> GateDecision:
    """The gate's decision over any results, with its reasons."""
    return decide(results)


def plan(
    spark: SparkSession,
    checks: Iterable[QualityCheck],
    *,
    config: Config | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
    select: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    clock: Callable[[], datetime] | None = None,
) -> Plan:
    """What a run of these checks would do, pinned to the tables' present positions.

    `select` and `exclude` are those of `run_checks`; `status:` looks into the configured store.
    """
    settings = _settings(config, keys)
    engine = SparkEngine(spark)
    engine.ensure_settings()
    planner = _Planner(engine, settings, rules_of(checks, settings))
    planner.refuse_unused(keys or {}, "key")
    kept = open_store(spark, settings.store)
    return planner.choosing(select, exclude, kept).at(_moment(clock))


def run_checks(  # noqa: PLR0913 (each is a word that users know; all but two are keywords)
    spark: SparkSession,
    checks: Iterable[QualityCheck],
    *,
    store: Store | StoreSettings | str | None = None,
    run_id: str | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
    config: Config | None = None,
    timeout_seconds: float | None = None,
    dag_run_id: str = "",
    suite: str = "",
    try_number: int = 1,
    select: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    quarantine: str | Mapping[str, str] | None = None,
    clock: Callable[[], datetime] | None = None,
    listener: Listener = ignore,
) -> RunOutcome:
    """Run the checks and decide the gate; bad data and broken rules are results, not exceptions.

    `store` keeps results and violations: a format name (`"iceberg"`, `"delta"`), settings, or
    None to keep nothing. `run_id` names this execution; repeating it adds nothing. `keys` names
    each table's key columns, by which bad rows are known. `quarantine` names the table that bad
    rows are written to in full, or one for each checked table. `select` and `exclude` say which
    rules, as in `"table:sales tag:nightly,severity:error"`; NothingSelectedError if none. Raises
    EngineUnavailableError if session, catalog or store cannot be reached before the first rule.
    """
    settings = _settings(config, keys)
    engine = SparkEngine(spark)
    engine.ensure_ready()
    kept = _open(spark, store, settings)
    if kept is not None:
        kept.prepare()
    now = _moment(clock)
    planner = _Planner(engine, settings, rules_of(checks, settings))
    planner.refuse_unused(keys or {}, "key")
    planner = planner.choosing(select, exclude, kept)
    runner = Runner(
        engine=engine,
        store=kept,
        quarantine=planner.quarantine(spark, quarantine) if quarantine else None,
        timeout_seconds=timeout_seconds or settings.timeout_seconds,
        listener=listener,
    )
    labels = RunLabels(
        run_id=_run_id(run_id, now),
        dag_run_id=dag_run_id,
        suite=suite,
        try_number=try_number,
        may_repeat=run_id is not None,
    )
    ran, results = runner.run(planner.at(now), labels, lambda at: planner.at(now, at))
    return RunOutcome(
        run_id=labels.run_id,
        results=tuple(results),
        gate=decide(results, rules_expected=len(planner.rules)),
        plan=ran,
        _engine=engine,
    )


def run_check(spark: SparkSession, check: QualityCheck, **options: Any) -> CheckResult:  # noqa: ANN401
    """One check's result; options are those of `run_checks`."""
    return run_checks(spark, [check], **options).results[0]


@dataclass(frozen=True, slots=True)
class Split:
    """A DataFrame in two: `good, bad = lakeproof.split(...)`.

    `bad` has two columns more, `_lakeproof_rule_ids` and `_lakeproof_rules`: what the row breaks.
    `not_judged` names the rules that judge the table as a whole, so that no row can break them.
    """

    good: DataFrame
    bad: DataFrame
    not_judged: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[DataFrame]:
        return iter((self.good, self.bad))


def split(
    frame: DataFrame,
    checks: Iterable[QualityCheck],
    *,
    config: Config | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Split:
    """The frame's good and bad rows, lazily: no row is read before the caller asks.

    The checks are those of one table, which the frame stands for. Keys mark every row that shares
    one; a stream can be judged row by row only, and other checks are refused by name. Both halves
    are computed from the frame, so one that is different each time (rand, limit) should be
    cached first. Raises CheckDefinitionError for a check that cannot run: there is no result to
    say it in.
    """
    settings = config or Config()
    rules = rules_of(checks, settings)
    tables = {rule.table for rule in rules if isinstance(rule, Rule)}
    if len(tables) > 1:
        named = ", ".join(sorted(str(table) for table in tables))
        raise CheckDefinitionError(f"split takes the checks of one table, got those of {named}")
    engine = FrameEngine(frame, next(iter(tables), TableName(("frame",))))
    engine.ensure_settings()
    planned = _Planner(engine, settings, rules).at(_moment(clock))
    if planned.rejected:
        broken = planned.rejected[0]
        raise CheckDefinitionError(f"check {broken.key!r} cannot run: {broken.reason}")
    if not planned.tables:
        raise CheckDefinitionError("split needs at least one check")
    table = planned.tables[0]
    by_row = {tally.rule_id for tally in table.scan.tallies}
    marked = by_row | {mark.rule_id for mark in marks_of(table, engine.element_key_sql)}
    if frame.isStreaming:
        others = [
            rule.key
            for rule in table.rules
            if rule.rule_id not in by_row or find_check(rule.check).uses_clock
        ]
        if others:
            raise CheckDefinitionError(
                "a stream is judged row by row and for as long as it runs; these need other rows "
                f"or the present moment: {', '.join(others)}. Check the table that it writes"
            )
    good, bad = engine.split(table)
    left = tuple(rule.key for rule in table.rules if rule.rule_id not in marked)
    return Split(good, bad, left)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans the same rules again at other positions, when a repeated run_id asks for them."""

    engine: SparkEngine
    config: Config
    rules: Sequence[Rule | RejectedRule]

    def at(self, now: datetime, positions: Mapping[TableName, Position] | None = None) -> Plan:
        defaults = Defaults(
            resolve=self._resolve,
            key_of=lambda table: table_settings(self.config, table).key,
            sensitive_of=lambda table: table_settings(self.config, table).sensitive,
        )
        return build_plan(self.rules, self.engine, defaults, now, positions)

    def choosing(
        self, select: str | Sequence[str], exclude: str | Sequence[str], kept: Store | None
    ) -> _Planner:
        """The same for the selected rules only."""
        statuses = None
        if isinstance(kept, SparkStore):
            reader = SparkReader(kept)
            statuses = lambda: last_statuses(reader, self.rules)  # noqa: E731
        return replace(self, rules=chosen_rules(self.rules, select, exclude, statuses))

    def refuse_unused(self, named: Iterable[str], what: str) -> None:
        """Something said of a table that no rule is on is a typo, and would go unheard."""
        tables = {rule.table for rule in self.rules if rule.table is not None}
        for name in named:
            if self._resolve(TableName.parse(name)) not in tables:
                known = ", ".join(sorted(str(table) for table in tables)) or "none"
                raise ConfigError(f"{what} of {name!r}: no rule is on that table. Checked: {known}")

    def quarantine(self, spark: SparkSession, given: str | Mapping[str, str]) -> SparkQuarantine:
        """Where the bad rows of each checked table go."""
        tables = {rule.table for rule in self.rules if rule.table is not None}
        if isinstance(given, str):
            if len(tables) > 1:
                named = ", ".join(sorted(str(table) for table in tables))
                raise ConfigError(
                    f"quarantine {given!r}: {len(tables)} tables are checked ({named}), and rows "
                    "of different tables do not fit into one. Give a mapping, table to quarantine"
                )
            given = {str(table): given for table in tables}
        self.refuse_unused(given, "quarantine")
        targets = {
            self._resolve(TableName.parse(name)): self._resolve(TableName.parse(target))
            for name, target in given.items()
        }
        return SparkQuarantine(spark, self.engine, targets)

    def _resolve(self, name: TableName) -> TableName:
        return name.resolve(self.config.default_catalog, self.config.default_namespace)


def _run_id(given: str | None, now: datetime) -> str:
    """The given id if it is a slug, or a new one that sorts by time."""
    if given is None:
        stamp = now.astimezone(UTC).strftime("%Y%m%dt%H%M%S")
        return f"run-{stamp}-{secrets.token_hex(3)}"
    ensure_run_id(given)
    return given


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _moment(clock: Callable[[], datetime] | None) -> datetime:
    """The run's one moment; a clock without zone is taken to tell UTC."""
    now = (clock or _utc_now)()
    return now if now.tzinfo else now.replace(tzinfo=UTC)


def _settings(config: Config | None, keys: Mapping[str, Sequence[str]] | None) -> Config:
    settings = config or Config()
    return with_keys(settings, keys) if keys else settings


def _open(
    spark: SparkSession, store: Store | StoreSettings | str | None, settings: Config
) -> Store | None:
    if isinstance(store, str):
        store = settings.store_in(store)
    return open_store(spark, store) if isinstance(store, StoreSettings) else store
