"""What the configuration says of a table, by whatever name it is called there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lakeproof.config import Config, TableSettings
from lakeproof.model.names import TableName
from lakeproof.planning.read_mode import AUTO


def full_name(config: Config, name: str) -> TableName:
    """The table's name with the default catalog and namespace where it has none."""
    return TableName.parse(name).resolve(config.default_catalog, config.default_namespace)


def table_settings(config: Config, table: TableName) -> TableSettings:
    """What is said of the table; of its entries the first that says a thing, all that hide.

    Letter case does not matter, since some catalogs have none: to hide too much does no harm.
    """
    found = [
        settings
        for name, settings in config.tables.items()
        if _folded(full_name(config, name)) == _folded(table)
    ]
    key = next((settings.key for settings in found if settings.key), ())
    hidden = dict.fromkeys(name for settings in found for name in settings.sensitive)
    return TableSettings(
        key=key,
        sensitive=tuple(hidden),
        mode=next((settings.mode for settings in found if settings.mode != AUTO), AUTO),
        watermark=next((settings.watermark for settings in found if settings.watermark), None),
        statistics=all(settings.statistics for settings in found),
    )


def with_keys(config: Config, keys: Mapping[str, Sequence[str]]) -> Config:
    """The configuration with the keys that a call names before those of the file."""
    given = {
        name: replace(
            table_settings(config, full_name(config, name)),
            key=(key,) if isinstance(key, str) else tuple(key),
        )
        for name, key in keys.items()
    }
    kept = {name: settings for name, settings in config.tables.items() if name not in given}
    return replace(config, tables={**given, **kept})


def _folded(table: TableName) -> tuple[str, ...]:
    return tuple(part.casefold() for part in table.parts)
