"""The trusted table as an asset that other DAGs can be scheduled on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.sdk import Asset, AssetAlias

from lakeproof.config import Config
from lakeproof.model.names import TableName

if TYPE_CHECKING:
    from lakeproof.gating.promotion_outcome import Promotion

PROMOTED = AssetAlias("lakeproof_promoted")
"""Outlet of promotions. Events are added to it as tables are promoted: a task that promotes
nothing ends well and tells nobody."""


def trusted_asset(table: str, config: Config | None = None) -> Asset:
    """The asset that stands for a table's trusted rows; a short name is completed by the config."""
    settings = config or Config()
    name = TableName.parse(table).resolve(settings.default_catalog, settings.default_namespace)
    return Asset(name=f"trusted {name}", uri=f"x-lakeproof://trusted/{'/'.join(name.parts)}")


def is_news(moved: Promotion) -> bool:
    """Whether the trusted rows of a table are others than its asset has told; asked inside a task.

    A promotion to a branch of another name leaves the trusted rows as they are.
    """
    if not shows_trusted(moved.table, moved.target):
        return False
    is_shown = bool(moved.promoted_by) and moved.after == moved.audited
    return moved.changed or (is_shown and not _is_told(moved))


def shows_trusted(table: str, target: str) -> bool:
    """Whether this target of a promotion is the place where trusted rows are read by default.

    It is the branch `trusted`, the view or clone `<table>_trusted`, or in audit mode the table.
    """
    from lakeproof.engines.spark.promotion.choosing import TRUSTED, branch_part

    name = TableName.parse(table)
    branch = TableName((*name.parts, branch_part(TRUSTED)))
    beside = TableName((*name.parts[:-1], f"{name.short}_{TRUSTED}"))
    return TableName.parse(target) in {name, branch, beside}


def _is_told(moved: Promotion) -> bool:
    """Whether the newest event of the table's asset is of this target at this position."""
    from airflow.sdk.execution_time.context import InletEventsAccessors

    asset = trusted_asset(moved.table)
    told = {"target": moved.target, "position": str(moved.after)}
    newest = InletEventsAccessors([asset])[asset].ascending(False).limit(1)
    return any(told.items() <= (event.extra or {}).items() for event in newest)
