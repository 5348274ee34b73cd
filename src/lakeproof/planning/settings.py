"""What the configuration says of a table, by whatever name it is called there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lakeproof.config import Config, TableSettings
from lakeproof.model.names import TableName


def full_name(config: Config, name: str) -> TableName:
    """The table's name with the default catalog and namespace where it has none."""
    return TableName.parse(name).resolve(config.default_catalog, config.default_namespace)


def table_settings(config: Config, table: TableName) -> TableSettings:
    """Key and sensitive columns of the table; the first entry's key, every entry's columns.

    Letter case does not matter, since some catalogs have none: to hide too much does no harm.
    """
    found = [
        settings
        for name, settings in config.tables.items()
        if _folded(full_name(config, name)) == _folded(table)
    ]
    key = next((settings.key for settings in found if settings.key), ())
    hidden = dict.fromkeys(name for settings in found for name in settings.sensitive)
    return TableSettings(key, tuple(hidden))


def with_keys(config: Config, keys: Mapping[str, Sequence[str]]) -> Config:
    """The configuration with the keys that a call names before those of the file."""
    given = {
        name: TableSettings(
            (key,) if isinstance(key, str) else tuple(key),
            table_settings(config, full_name(config, name)).sensitive,
        )
        for name, key in keys.items()
    }
    kept = {name: settings for name, settings in config.tables.items() if name not in given}
    return replace(config, tables={**given, **kept})


def _folded(table: TableName) -> tuple[str, ...]:
    return tuple(part.casefold() for part in table.parts)
