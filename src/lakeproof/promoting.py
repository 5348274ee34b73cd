"""The facade of promotion: the kept results of a run, the books beside them, and the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.accounting.zero_loss import Books, books_at, check_result_of
from lakeproof.config import Config, StoreSettings
from lakeproof.engines.spark.promotion.choosing import (
    AUDIT,
    AUTO,
    TRUSTED,
    branch_named,
    branch_part,
    target_named,
    target_of,
)
from lakeproof.errors import NothingSelectedError, PromotionError
from lakeproof.gating.promotion import Promoter
from lakeproof.gating.promotion_audit import Audit, audit_of, tables_hint
from lakeproof.gating.promotion_outcome import PromotionOutcome
from lakeproof.gating.promotion_telling import Route
from lakeproof.model.names import TableName
from lakeproof.model.promotion import PromotionRecord
from lakeproof.state import open_store
from lakeproof.state.kept_runs import LATEST, promotions_of
from lakeproof.state.reading import SparkReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def promote(  # noqa: PLR0913 (each is a word that users know; all but two are keywords)
    spark: SparkSession,
    run_id: str = LATEST,
    *,
    tables: str | Sequence[str] = (),
    mode: str = TRUSTED,
    branch: str = "",
    delta_as: str = AUTO,
    ledger: Books | str | Path | None = None,
    store: StoreSettings | str | None = None,
    config: Config | None = None,
    dag_run_id: str = "",
    clock: Callable[[], datetime] | None = None,
) -> PromotionOutcome:
    """Let the trusted layer show exactly what the run has read, if its gate is open.

    The gate is decided again from the results that the store has of the run (`latest`: the newest
    with results of these tables), all of them: a run is passed as a whole. `ledger` is as in
    `gate`; books that do not balance close it. A closed gate moves nothing: `outcome.ok` is False,
    `outcome.raise_for_status()` raises. `tables` are those to promote, all of the run if none are
    named.

    `mode` `"trusted"`: the run has read the table itself, and the Iceberg branch `trusted` is set
    to the snapshot that it read; of a Delta table, the view `<table>_trusted` to the version, or a
    shallow clone of that name where the catalog keeps no views (`delta_as` `"view"` or `"clone"`
    chooses). `branch` gives another name. `mode` `"audit"`: the run has read the branch `audit` (or
    `branch`) of an Iceberg table, and main is fast-forwarded to it.

    Repeating a promotion changes nothing. NothingSelectedError if no such run, or no result of
    such a table, is kept; PromotionError if what was read cannot be promoted.
    """
    layer = _Layer(spark, mode, branch, delta_as, config or Config())
    promoter = layer.promoter(store, dag_run_id, clock)
    beside = () if ledger is None else (check_result_of(books_at(ledger, spark)),)
    try:
        routes = layer.routes(tables)
    except PromotionError as problem:
        raise PromotionError(f"{problem}{tables_hint(promoter.reader, run_id)}") from problem
    audit = audit_of(promoter.reader, run_id, [one.target.checked for one in routes], beside)
    return promoter.promote(routes or layer.routes_of(audit), audit)


def rollback(  # noqa: PLR0913 (as promote)
    spark: SparkSession,
    run_id: str = "",
    *,
    tables: str | Sequence[str] = (),
    mode: str = TRUSTED,
    branch: str = "",
    delta_as: str = AUTO,
    store: StoreSettings | str | None = None,
    config: Config | None = None,
    dag_run_id: str = "",
    clock: Callable[[], datetime] | None = None,
) -> PromotionOutcome:
    """Take a promotion back: the trusted layer shows again what it showed before.

    With `run_id`, the promotion of that run, of all its tables if none are named, wherever it was
    promoted to unless `branch` says one; if it is taken back already, nothing changes. Without, the
    last one of each table that stands. What was taken back is not promoted to the same target
    again, by no run: the table needs another commit. NothingSelectedError if there is no such
    promotion; PromotionError if what was shown before has expired, or if something else than the
    promotion has moved the target since.
    """
    layer = _Layer(spark, mode, branch, delta_as, config or Config())
    promoter = layer.promoter(store, dag_run_id, clock)
    kept = promotions_of(promoter.reader, run_id) if run_id else []
    if not (tables or kept):
        raise NothingSelectedError(
            f"no promotion of run {run_id!r} is kept" if run_id else "name the tables, or the run"
        )
    routes = [] if branch else layer.routes_recorded(kept, tables)
    return promoter.rollback(
        routes or layer.routes(tables or [str(one.table) for one in kept]), run_id
    )


@dataclass(frozen=True, slots=True)
class _Layer:
    """Where trusted rows are read, as the caller wants it."""

    spark: SparkSession
    mode: str
    branch: str
    delta_as: str
    settings: Config

    def promoter(
        self,
        store: StoreSettings | str | None,
        dag_run_id: str,
        clock: Callable[[], datetime] | None,
    ) -> Promoter:
        chosen = self.settings.store_in(store) if isinstance(store, str) else store
        kept = open_store(self.spark, chosen or self.settings.store)
        return Promoter(kept, SparkReader(kept), clock or _utc_now, dag_run_id)

    def routes(self, tables: str | Sequence[str]) -> list[Route]:
        return self._routes(self._names(tables))

    def routes_recorded(
        self, kept: Iterable[PromotionRecord], tables: str | Sequence[str]
    ) -> list[Route]:
        """Where these tables were promoted to; all of them if none are named."""
        wanted = {name.folded for name in self._names(tables)}
        found = {(one.table, TableName.parse(one.target)) for one in kept}
        return [
            Route(table, target_named(self.spark, table, target, self.delta_as))
            for table, target in sorted(found, key=str)
            if not wanted or table.folded in wanted
        ]

    def routes_of(self, audit: Audit) -> list[Route]:
        """Of every table that the run has read; in audit mode, of those whose branch it has."""
        found = audit.tables_checked()
        if not found:
            raise NothingSelectedError(f"run {audit.run_id!r} has no results of any table")
        if self.mode == AUDIT:
            branch = self.branch or AUDIT
            audited = [one for one in found if one.short == branch_part(branch)]
            if not audited:
                raise NothingSelectedError(_without_branch(audit.run_id, branch, found))
            found = [TableName(one.parts[:-1]) for one in audited]
        return self._routes(found)

    def _names(self, tables: str | Sequence[str]) -> list[TableName]:
        names = [tables] if isinstance(tables, str) else tables
        catalog, namespace = self.settings.default_catalog, self.settings.default_namespace
        return [TableName.parse(name).resolve(catalog, namespace) for name in names]

    def _routes(self, tables: Iterable[TableName]) -> list[Route]:
        return [
            Route(table, target_of(self.spark, table, self.mode, self.branch, self.delta_as))
            for table in dict.fromkeys(tables)
        ]


def _without_branch(run_id: str, branch: str, tables: Sequence[TableName]) -> str:
    named = sorted({branch_named(one.short) for one in tables} - {one.short for one in tables})
    hint = f". Name the branch: --branch {' or '.join(named)}" if named else ""
    return (
        f"run {run_id!r} has no results of a branch {branch}. It has results of: "
        f"{', '.join(map(str, tables))}{hint}"
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)
