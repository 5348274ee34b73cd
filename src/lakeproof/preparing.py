"""From what a caller gives to a plan: rules gathered, tables found, the engine set up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from lakeproof.config import Config, TableSettings
from lakeproof.contracts.gathering import Checks, Gathered, gather
from lakeproof.contracts.tables import Given
from lakeproof.engines.spark.engine import SparkEngine
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.model.outcome import CheckResult
from lakeproof.model.pairing import PairFound
from lakeproof.model.position import Position
from lakeproof.model.reading import METHODS, Method
from lakeproof.model.rule import RejectedRule, Rule
from lakeproof.model.suite import Comparing
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.partitions import Partition, in_partition
from lakeproof.planning.plan import Plan
from lakeproof.planning.read_mode import MODES
from lakeproof.planning.selection import chosen_rules
from lakeproof.planning.settings import table_settings
from lakeproof.running.progress import Listener, ignore
from lakeproof.running.proving import Proving
from lakeproof.running.reads import Wanted
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Runner
from lakeproof.state.last_statuses import last_statuses
from lakeproof.state.quarantine import SparkQuarantine
from lakeproof.state.reading import SparkReader
from lakeproof.state.spark_store import SparkStore
from lakeproof.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeproof.engines.spark.stand_ins import StandIns

Tables: TypeAlias = "Mapping[str, str | DataFrame]"
"""Where a contract's objects are, by their names: tables or DataFrames."""


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the same rules again at other positions, when a repeated run_id asks for them."""

    engine: SparkEngine
    config: Config
    rules: Sequence[Rule | RejectedRule]
    declared: Mapping[TableName, TableSettings] = field(default_factory=dict)

    def at(self, now: datetime, positions: Mapping[TableName, Position] | None = None) -> Plan:
        defaults = Defaults(
            resolve=self._resolve,
            key_of=lambda table: table_settings(self.config, table).key,
            sensitive_of=lambda table: table_settings(self.config, table).sensitive,
            declared_of=lambda table: self.declared.get(table, TableSettings()),
        )
        return build_plan(self.rules, self.engine, defaults, now, positions)

    def wanted(
        self,
        mode: str,
        *,
        require_incremental: bool,
        rebuild: Iterable[str] = (),
        method: str = Method.AUTO,
        verified_share: float = 0.0,
    ) -> Wanted:
        """How the tables are to be read, as their settings and the caller say."""
        if mode not in MODES:
            raise ConfigError(f"mode {mode!r} is not one of {', '.join(MODES)}")
        if method not in METHODS:
            raise ConfigError(f"method {method!r} is not one of {', '.join(METHODS)}")
        if not 0 <= verified_share <= 1:
            raise ConfigError(
                f"verify_statistics {verified_share!r} is not a share from 0 to 1, such as 0.01"
            )
        return Wanted(
            lambda table: table_settings(self.config, table),
            mode,
            require_incremental=require_incremental,
            rebuild=frozenset(rebuild),
            proving=Proving(Method(method), verified_share),
        )

    def choosing(
        self, select: str | Sequence[str], exclude: str | Sequence[str], kept: Store | None
    ) -> Planner:
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


@dataclass(frozen=True, slots=True)
class Where:
    """Where the objects of contracts are, as the caller says."""

    tables: Tables
    server: str

    @property
    def given(self) -> Given:
        for name, at in self.tables.items():
            if not isinstance(at, str) and not hasattr(at, "createOrReplaceTempView"):
                raise ConfigError(
                    f"tables[{name!r}] is a {type(at).__name__}; give a DataFrame, or the name of "
                    "a table as text"
                )
        names = {name: at for name, at in self.tables.items() if isinstance(at, str)}
        frames = [name for name, at in self.tables.items() if not isinstance(at, str)]
        return Given(names, frames, self.server)

    def stand_ins(self, gathered: Gathered) -> StandIns:
        frames: dict[TableName, Any] = {
            table: self.tables[name] for table, name in gathered.frames.items()
        }
        return {**gathered.files, **gathered.compared_frames, **frames}


def planner_of(
    spark: SparkSession,
    checks: Checks,
    settings: Config,
    now: datetime,
    where: Where,
    variables: Mapping[str, str] | None,
    partition: Partition | None = None,
) -> Planner:
    """The planner of these checks; a `partition` narrows those that have a partition_column."""
    gathered = gather(checks, settings, now, where.given, variables)
    engine = SparkEngine(spark, where.stand_ins(gathered))
    rules = gathered.rules
    if partition is not None:
        rules = in_partition(rules, partition)
    return Planner(engine, settings, rules, gathered.declared)


def compare_one(
    spark: SparkSession,
    check: Comparing,
    partition: Partition | None = None,
    config: Config | None = None,
    timeout_seconds: float | None = None,
    listener: Listener = ignore,
) -> tuple[CheckResult, PairFound | None]:
    """One comparison by itself, nothing kept: its result, and what was found if anything was."""
    settings = config or Config()
    now = datetime.now(UTC)
    planner = planner_of(spark, [check], settings, now, Where({}, ""), None, partition)
    planner.engine.ensure_ready()
    runner = Runner(
        planner.engine,
        timeout_seconds=timeout_seconds or settings.timeout_seconds,
        listener=listener,
    )
    labels = RunLabels("reconcile", may_repeat=False)
    ran = runner.run(planner.at(now), labels, lambda at: planner.at(now, at))
    for table in ran.plan.tables:
        for step in table.pairs:
            planner.engine.release_pair(step, forget=True)
    return ran.results[0], next(iter(ran.compared.values()), None)
