"""The facade: suite, engine, store, gate and reports joined into the calls that users make."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeproof.accounting.zero_loss import Books, books_at, check_result_of
from lakeproof.checks.catalogue import find_check
from lakeproof.config import Config, StoreSettings
from lakeproof.contracts.gathering import Checks, gather
from lakeproof.contracts.tables import Given
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.engines.spark.splitting import FrameEngine
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.gating.policy import GateDecision, decide
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.pairing import PairFound
from lakeproof.model.rule import Rule
from lakeproof.model.run_id import ensure_run_id
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.marks import marks_of
from lakeproof.planning.partitions import Partition
from lakeproof.planning.plan import Plan
from lakeproof.planning.read_mode import AUTO
from lakeproof.planning.selection import chosen_rules
from lakeproof.planning.settings import with_keys
from lakeproof.preparing import Planner, Tables, Where, planner_of
from lakeproof.reporting.document import moment_text, run_document
from lakeproof.running.progress import Listener, ignore
from lakeproof.running.read_planner import plan_of_reads
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Runner
from lakeproof.state import open_store
from lakeproof.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run found: one result per rule, the gate's decision, and the way to the bad rows.

    `comparisons` says of each rule over two tables, by its name, what differs and how it was found.
    """

    run_id: str
    results: tuple[CheckResult, ...]
    gate: GateDecision
    plan: Plan
    _engine: SparkEngine = field(repr=False)
    comparisons: Mapping[str, PairFound] = field(default_factory=dict, repr=False)

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


def gate(results: Sequence[CheckResult], ledger: Books | str | Path | None = None) -> GateDecision:
    """The gate's decision over any results, with its reasons.

    `ledger` are the books of the pipeline that wrote the tables: its run directory or ledger file,
    a `Ledger`, or what `AccountingLedger.verify()` returned. Books that do not balance close the
    gate, by a result of type `zero_loss`. LedgerError if there are none.
    """
    beside = () if ledger is None else (check_result_of(books_at(ledger)),)
    return decide([*results, *beside])


def plan(  # noqa: PLR0913 (as run_checks)
    spark: SparkSession,
    checks: Checks,
    *,
    tables: Tables | None = None,
    variables: Mapping[str, str] | None = None,
    config: Config | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
    select: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    server: str = "",
    partition: Partition | None = None,
    mode: str = AUTO,
    require_incremental: bool = False,
    method: str = AUTO,
    suite: str = "",
    clock: Callable[[], datetime] | None = None,
) -> Plan:
    """What a run of these checks would do, pinned to the tables' present positions.

    The parameters are those of `run_checks`; the configured store says how far the rules are, and
    what `status:` asks for.
    """
    settings = _settings(config, keys)
    now = _moment(clock)
    where = Where(tables or {}, server)
    planner = planner_of(spark, checks, settings, now, where, variables, partition)
    planner.engine.ensure_settings()
    planner.refuse_unused(keys or {}, "key")
    kept = open_store(spark, settings.store)
    planned = planner.choosing(select, exclude, kept).at(now)
    wanted = planner.wanted(mode, require_incremental=require_incremental, method=method)
    return plan_of_reads(planned, planner.engine, kept, wanted, suite)


def run_checks(  # noqa: PLR0913 (each is a word that users know; all but two are keywords)
    spark: SparkSession,
    checks: Checks,
    *,
    tables: Tables | None = None,
    variables: Mapping[str, str] | None = None,
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
    server: str = "",
    partition: Partition | None = None,
    ledger: Books | str | Path | None = None,
    mode: str = AUTO,
    require_incremental: bool = False,
    rebuild: Sequence[str] = (),
    method: str = AUTO,
    verify_statistics: float = 0.0,
    clock: Callable[[], datetime] | None = None,
    listener: Listener = ignore,
) -> RunOutcome:
    """Run the checks and decide the gate; bad data and broken rules are results, not exceptions.

    `checks` are QualityChecks, a contract (as `load_contract` gives it, or its path), or a list
    of both. `tables` says where a contract's objects are, by their names: a table's name or a
    DataFrame; without it, the contract's server does, or the one that `server` names. `variables`
    stand for `${NAME}` in a contract, before those of the environment.

    `store` keeps results and violations: a format name (`"iceberg"`, `"delta"`), settings, or
    None to keep nothing. `run_id` names this execution; repeating it adds nothing. `keys` names
    each table's key columns, by which bad rows are known. `quarantine` names the table that bad
    rows are written to in full, or one for each checked table. `select` and `exclude` say which
    rules, as in `"table:sales tag:nightly,severity:error"`; NothingSelectedError if none.
    `partition` is the value of every check's `partition_column`, or a mapping by its name. `ledger`
    is as in `gate`: its verdict is one result more, of type `zero_loss`.

    With a store, tables whose changes can be had are read incrementally. `mode` forces one way for
    all of them (`cdf`, `watermark`, `snapshot_diff`, `snapshot`); with `require_incremental` a
    table that would fall back to being read whole is a ConfigError, and so is no store. `rebuild`
    names rules whose kept state is to be built anew.

    Rules that the statistics of a large table's files decide read no row. `method` `"scan"` reads
    all the same, `"statistics"` asks them of a small table too; `verify_statistics` is the share of
    the files to read beside, and a difference is an error of the rule.

    Raises EngineUnavailableError if session, catalog or store cannot be reached before the first
    rule.
    """
    if require_incremental and store is None:
        raise ConfigError(
            "without a store nothing is known of an earlier run: give one, or leave "
            "require_incremental out"
        )
    settings = _settings(config, keys)
    now = _moment(clock)
    books = None if ledger is None else books_at(ledger, spark)
    where = Where(tables or {}, server)
    planner = planner_of(spark, checks, settings, now, where, variables, partition)
    engine = planner.engine
    engine.ensure_ready()
    kept = _open(spark, store, settings)
    if kept is not None:
        kept.prepare()
    planner.refuse_unused(keys or {}, "key")
    planner = planner.choosing(select, exclude, kept)
    labels = RunLabels(
        run_id=_run_id(run_id, now),
        dag_run_id=dag_run_id,
        suite=suite,
        try_number=try_number,
        may_repeat=run_id is not None,
    )
    beside = () if books is None else (_zero_loss(books, labels, now),)
    runner = Runner(
        engine=engine,
        store=kept,
        quarantine=planner.quarantine(spark, quarantine) if quarantine else None,
        timeout_seconds=timeout_seconds or settings.timeout_seconds,
        listener=listener,
        beside=beside,
        wanted=planner.wanted(
            mode,
            require_incremental=require_incremental,
            rebuild=rebuild,
            method=method,
            verified_share=verify_statistics,
        ),
        is_whole_suite=not (select or exclude or partition),
    )
    ran = runner.run(planner.at(now), labels, lambda at: planner.at(now, at))
    return RunOutcome(
        run_id=labels.run_id,
        results=tuple(ran.results),
        gate=decide(ran.results, rules_expected=len(planner.rules) + len(beside)),
        plan=ran.plan,
        _engine=engine,
        comparisons=ran.compared,
    )


run = run_checks
"""The same by its short name, which reads better with a contract: `run(spark, "orders.yaml")`."""


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
    checks: Checks,
    *,
    select: str | Sequence[str] = (),
    tables: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    config: Config | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Split:
    """The frame's good and bad rows, lazily: no row is read before the caller asks.

    The checks are those of one table, or of one object of a contract (`select="table:orders"`
    takes it out of several), which the frame stands for; `tables` says where other objects are.
    Keys mark every row that shares one; a stream can be judged row by row only, and other checks
    are refused by name. Both halves are computed from the frame, so one that is different each
    time (rand, limit) should be cached first. Raises CheckDefinitionError for a check that cannot
    run: there is no result to say it in.
    """
    settings = config or Config()
    now = _moment(clock)
    given = Given(tables=tables or {}, are_assumed=True)
    gathered = gather(checks, settings, now, given, variables)
    chosen = chosen_rules(gathered.rules, select, (), None) if select else gathered.rules
    rules = [rule for rule in chosen if isinstance(rule, Rule) or not rule.is_skipped]
    checked = {rule.table for rule in rules if isinstance(rule, Rule)}
    if len(checked) > 1:
        named = ", ".join(sorted(str(table) for table in checked))
        raise CheckDefinitionError(
            f"split takes the checks of one table, got those of {named}. Choose one by "
            'select="table:NAME"'
        )
    engine = FrameEngine(frame, next(iter(checked), TableName(("frame",))))
    engine.ensure_settings()
    planned = Planner(engine, settings, rules, gathered.declared).at(now)
    for broken in planned.rejected:
        if not broken.is_skipped:
            raise CheckDefinitionError(f"check {broken.key!r} cannot run: {broken.reason}")
    if not planned.tables:
        raise CheckDefinitionError("split needs at least one check")
    table = planned.tables[0]
    by_row = {tally.rule_id for tally in table.scan.tallies}
    marked = {mark.rule_id for mark in marks_of(table, engine.element_key_sql)}
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


def _zero_loss(books: Books, labels: RunLabels, now: datetime) -> CheckResult:
    """What the books say, as a result of this run."""
    return replace(
        check_result_of(books, moment_text(now.astimezone(UTC).replace(tzinfo=None))),
        run_id=labels.run_id,
        dag_run_id=labels.dag_run_id,
        suite=labels.suite,
        try_number=labels.try_number,
    )


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
