"""Which target a table has, by its format and by what the caller wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeproof.engines.spark.pinning import read_head
from lakeproof.engines.spark.problems import unreadable_table
from lakeproof.engines.spark.promotion.delta_target import (
    CLONE,
    VIEW,
    DeltaTarget,
    kind_for,
    require_view_kept,
)
from lakeproof.engines.spark.promotion.iceberg_branch import IcebergBranch
from lakeproof.engines.spark.promotion.iceberg_main import IcebergMain
from lakeproof.engines.spark.promotion.snapshots import MAIN, branch_named, branch_part
from lakeproof.engines.spark.promotion.target import Target
from lakeproof.errors import ConfigError, EngineUnavailableError, PromotionError
from lakeproof.model.names import TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "AUDIT",
    "AUTO",
    "DELTA_KINDS",
    "MODES",
    "TRUSTED",
    "branch_named",
    "branch_part",
    "target_named",
    "target_of",
]

TRUSTED, AUDIT = "trusted", "audit"
MODES = (TRUSTED, AUDIT)
AUTO = "auto"
DELTA_KINDS = (AUTO, VIEW, CLONE)


def target_of(
    spark: SparkSession, table: TableName, mode: str, branch: str, delta_as: str
) -> Target:
    """The table's target; ConfigError for what its format cannot do."""
    if mode not in MODES:
        raise ConfigError(f"mode {mode!r} is not one of {', '.join(MODES)}")
    if delta_as not in DELTA_KINDS:
        raise ConfigError(f"delta_as {delta_as!r} is not one of {', '.join(DELTA_KINDS)}")
    branch = branch or mode
    if branch == MAIN:
        raise ConfigError("main is what writers write or what is published, not a branch to name")
    format_name = _format_of(spark, table)
    if format_name == "iceberg":
        made = IcebergBranch if mode == TRUSTED else IcebergMain
        return made(spark, table, branch)
    if format_name != "delta":
        raise ConfigError(
            f"{table} is a {format_name}: only Iceberg and Delta have a history. Name the tables "
            "to promote"
        )
    if mode == AUDIT:
        raise ConfigError(f"{table} is a Delta table, which has no branches. Use mode {TRUSTED}")
    shown = TableName((*table.parts[:-1], f"{table.short}_{branch}"))
    kind = kind_for(spark, shown) if delta_as == AUTO else delta_as
    if delta_as == VIEW:
        require_view_kept(spark, shown)
    return DeltaTarget(spark, table, shown, kind)


def target_named(spark: SparkSession, table: TableName, name: TableName, delta_as: str) -> Target:
    """The target of this name, as a record has it: the mode and branch that give it."""
    if name.folded == table.folded:
        return target_of(spark, table, AUDIT, "", delta_as)
    if len(name.parts) > len(table.parts):
        branch = branch_named(name.short)
    else:
        branch = name.short.removeprefix(f"{table.short}_")
    return target_of(spark, table, TRUSTED, branch, delta_as)


def _format_of(spark: SparkSession, table: TableName) -> str:
    try:
        head = read_head(spark, table)
    except Exception as problem:
        told = unreadable_table(spark, table, problem)
        if isinstance(told, EngineUnavailableError):
            raise told from problem
        raise PromotionError(f"nothing to promote: {told}") from problem
    if head.branch_of is not None:
        raise ConfigError(
            f"{table} is a branch of {head.branch_of}: name the table, and with mode {AUDIT} its "
            "branch"
        )
    return head.format
