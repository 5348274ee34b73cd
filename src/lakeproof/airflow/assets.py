"""The trusted table as an asset that other DAGs can be scheduled on."""

from __future__ import annotations

from airflow.sdk import Asset, AssetAlias

from lakeproof.config import Config
from lakeproof.model.names import TableName

PROMOTED = AssetAlias("lakeproof_promoted")
"""Outlet of promotions. Events are added to it as tables are promoted: a task that promotes
nothing ends well and tells nobody."""


def trusted_asset(table: str, config: Config | None = None) -> Asset:
    """The asset that stands for a table's trusted rows; a short name is completed by the config."""
    settings = config or Config()
    name = TableName.parse(table).resolve(settings.default_catalog, settings.default_namespace)
    return Asset(name=f"trusted {name}", uri=f"x-lakeproof://trusted/{'/'.join(name.parts)}")


def is_told(asset: Asset, position: str) -> bool:
    """Whether the newest event of the asset is of this position; asked inside a task."""
    from airflow.sdk.execution_time.context import InletEventsAccessors

    newest = InletEventsAccessors([asset])[asset].ascending(False).limit(1)
    return any((event.extra or {}).get("position") == position for event in newest)
