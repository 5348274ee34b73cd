"""Making the state tables, bringing up old ones, refusing those that are not ours to write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lakeproof import faults
from lakeproof.errors import StateSchemaError
from lakeproof.model.names import TableName
from lakeproof.state.access import StateAccess, pause, spark_errors
from lakeproof.state.tables import (
    KIND_PROPERTY,
    SCHEMA_VERSION,
    TABLES,
    VERSION_PROPERTY,
    StateColumn,
)

TRIES_MAX = 3


def create_missing(access: StateAccess) -> None:
    """Every state table is there afterwards, with the version that this release writes."""
    versions = known_versions(access)
    for kind, version in versions.items():
        if version is not None and version < SCHEMA_VERSION:
            _insist(partial(_alter, access, kind))
    missing = [kind for kind, version in versions.items() if version is None]
    if not missing:
        return
    _insist(partial(access.frame, f"CREATE NAMESPACE IF NOT EXISTS {access.namespace.sql}"))
    for kind in missing:
        table, made = TABLES[kind], access.format
        properties = {**made.properties, **made.extremes_of(table.looked_up_by)}
        _insist(partial(access.frame, table.ddl(access.tables[kind], made.name, properties)))
        _version(access, kind)


def _insist(make: Callable[[], object]) -> None:
    """Make what is missing; of two drivers that do so at once one is told.

    By an error, and maybe before the catalog knows of what the other one makes: it tries again.
    """
    for number in range(1, TRIES_MAX + 1):
        try:
            make()
        except spark_errors():
            if number == TRIES_MAX:
                raise
        else:
            return
        pause(number)


def known_versions(access: StateAccess) -> dict[str, int | None]:
    """The schema version of each state table; None for one that is not there."""
    return {kind: _version(access, kind) for kind in TABLES}


def all_exist(access: StateAccess) -> bool:
    """Whether every table is there, in the version that this release reads."""
    return set(known_versions(access).values()) == {SCHEMA_VERSION}


def _alter(access: StateAccess, kind: str) -> None:
    """First the columns that it lacks, then the version that promises them; old rows have NULL."""
    table = access.tables[kind].sql
    missing = _missing_columns(access, kind)
    if missing:
        columns = ", ".join(column.ddl for column in missing)
        access.write(f"ALTER TABLE {table} ADD COLUMNS ({columns})")
    faults.reach("during_upgrade")
    access.write(
        f"ALTER TABLE {table} SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{SCHEMA_VERSION}')"
    )
    access.refresh(kind)


def _missing_columns(access: StateAccess, kind: str) -> list[StateColumn]:
    access.refresh(kind)
    present = set(access.frame(f"SELECT * FROM {access.tables[kind].sql}").columns)
    return [column for column in TABLES[kind].columns if column.name not in present]


def _version(access: StateAccess, kind: str) -> int | None:
    """The table's schema version, None if there is no table; raises if it cannot be used."""
    table = access.tables[kind]
    if not _exists(access, table):
        return None
    properties = {
        str(row["key"]): str(row["value"]) for row in access.read(f"SHOW TBLPROPERTIES {table.sql}")
    }
    version = properties.get(VERSION_PROPERTY, "")
    if not version.isdecimal() or properties.get(KIND_PROPERTY) != kind:
        raise StateSchemaError(
            f"{table} exists, but is not a Lakeproof {kind} table of a known version (its "
            f"{VERSION_PROPERTY} is {version or 'missing'!r}, its {KIND_PROPERTY} "
            f"{properties.get(KIND_PROPERTY, 'missing')!r}; this release writes version "
            f"{SCHEMA_VERSION}). Rename it, or choose another name under [store.tables] or "
            "another namespace under [store]"
        )
    is_iceberg = properties.get("format", "").startswith("iceberg")
    if is_iceberg != (access.format.name == "iceberg"):
        raise StateSchemaError(
            f"{table} is {'an Iceberg' if is_iceberg else 'a Delta'} table, but the store's format "
            f"is {access.format.name}. Set [store] format, or catalog, to what is there"
        )
    if int(version) > SCHEMA_VERSION:
        raise StateSchemaError(
            f"{table} has schema version {version}; this release of Lakeproof knows versions up "
            f"to {SCHEMA_VERSION}. Upgrade Lakeproof, or choose another namespace under [store]"
        )
    return int(version)


def _exists(access: StateAccess, table: TableName) -> bool:
    return access.spark.catalog.tableExists(table.sql)
