"""The facade: suite, engine, store, gate and reports joined into the calls that users make."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakeproof.config import Config, StoreSettings, TableSettings
from lakeproof.contracts.suite import rules_of
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.errors import ConfigError
from lakeproof.gating.policy import GateDecision, decide
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.bad_rows import bad_rows_sql
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.plan import Plan
from lakeproof.running.progress import Listener, ignore
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Runner
from lakeproof.state import open_store
from lakeproof.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


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

        Columns: rules (their names), rule_id, hit_id, violation_key, occurrences.
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
        return {
            "run_id": self.run_id,
            "gate": self.gate.to_dict(),
            "counts": counts_of(self.results),
            "results": [result.to_dict() for result in self.results],
        }

    def __str__(self) -> str:
        from lakeproof.reporting.console import outcome_text

        return outcome_text(self.run_id, self.results, self.gate)

    def _repr_html_(self) -> str:
        from lakeproof.reporting.notebook import outcome_html

        return outcome_html(self.run_id, self.results, self.gate)


_NO_HITS = (
    "SELECT CAST(NULL AS STRING) AS rule_id, CAST(NULL AS STRING) AS violation_key, "
    "CAST(NULL AS BIGINT) AS occurrences WHERE false"
)


def counts_of(results: Sequence[CheckResult]) -> dict[str, int]:
    """How many results have each status, all statuses listed."""
    return {
        status.value: sum(1 for result in results if result.status == status)
        for status in CheckStatus
    }


def gate(results: Sequence[CheckResult]) -> GateDecision:
    """The gate's decision over any results, with its reasons."""
    return decide(results)


def plan(
    spark: SparkSession,
    checks: Iterable[QualityCheck],
    *,
    config: Config | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Plan:
    """What a run of these checks would do, pinned to the tables' present positions."""
    settings = _settings(config, keys)
    planner = _Planner(SparkEngine(spark), settings, rules_of(checks, settings))
    planner.refuse_unused(keys or {})
    return planner.at(_moment(clock))


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
    clock: Callable[[], datetime] | None = None,
    listener: Listener = ignore,
) -> RunOutcome:
    """Run the checks and decide the gate; bad data and broken rules are results, not exceptions.

    `store` keeps results and violations: a format name (`"iceberg"`, `"delta"`), settings, or
    None to keep nothing. `run_id` names this execution; repeating it adds nothing. `keys` names
    each table's key columns, by which bad rows are known. Raises EngineUnavailableError if
    session, catalog or store cannot be reached before the first rule.
    """
    settings = _settings(config, keys)
    engine = SparkEngine(spark)
    engine.ensure_ready()
    kept = _open(spark, store, settings)
    if kept is not None:
        kept.prepare()
    now = _moment(clock)
    planner = _Planner(engine, settings, rules_of(checks, settings))
    planner.refuse_unused(keys or {})
    runner = Runner(
        engine=engine,
        store=kept,
        timeout_seconds=timeout_seconds or settings.timeout_seconds,
        listener=listener,
    )
    labels = RunLabels(
        run_id=valid_run_id(run_id, now),
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
class _Planner:
    """Plans the same rules again at other positions, when a repeated run_id asks for them."""

    engine: SparkEngine
    config: Config
    rules: Sequence[Rule | RejectedRule]

    def at(self, now: datetime, positions: Mapping[TableName, Position] | None = None) -> Plan:
        defaults = Defaults(resolve=self._resolve, key_of=self._key_of)
        return build_plan(self.rules, self.engine, defaults, now, positions)

    def refuse_unused(self, keys: Iterable[str]) -> None:
        """A key for a table that no rule is on is a typo: its rows would be named by a hash."""
        tables = {rule.table for rule in self.rules if rule.table is not None}
        for name in keys:
            if self._resolve(TableName.parse(name)) not in tables:
                known = ", ".join(sorted(str(table) for table in tables)) or "none"
                raise ConfigError(f"key of {name!r}: no rule is on that table. Checked: {known}")

    def _resolve(self, name: TableName) -> TableName:
        return name.resolve(self.config.default_catalog, self.config.default_namespace)

    def _key_of(self, table: TableName) -> Sequence[str]:
        for name, settings in self.config.tables.items():
            if self._resolve(TableName.parse(name)) == table:
                return settings.key
        return ()


def valid_run_id(run_id: str | None, now: datetime) -> str:
    """The given id if it is a slug, or a new one that sorts by time."""
    if run_id is None:
        stamp = now.astimezone(UTC).strftime("%Y%m%dt%H%M%S")
        return f"run-{stamp}-{secrets.token_hex(3)}"
    if not _RUN_ID.fullmatch(run_id):
        raise ConfigError(
            f"run id {run_id!r} is not a slug: 1 to 64 of a-z, 0-9, '-' and '_', "
            "beginning with a letter or digit"
        )
    return run_id


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _moment(clock: Callable[[], datetime] | None) -> datetime:
    """The run's one moment; a clock without zone is taken to tell UTC."""
    now = (clock or _utc_now)()
    return now if now.tzinfo else now.replace(tzinfo=UTC)


def _settings(config: Config | None, keys: Mapping[str, Sequence[str]] | None) -> Config:
    settings = config or Config()
    if not keys:
        return settings
    given = {
        name: TableSettings(key=(key,) if isinstance(key, str) else tuple(key))
        for name, key in keys.items()
    }
    # First match wins: what is given with the call comes before what is configured.
    configured = {name: found for name, found in settings.tables.items() if name not in given}
    return replace(settings, tables={**given, **configured})


def _open(
    spark: SparkSession, store: Store | StoreSettings | str | None, settings: Config
) -> Store | None:
    if isinstance(store, str):
        store = settings.store_in(store)
    return open_store(spark, store) if isinstance(store, StoreSettings) else store
