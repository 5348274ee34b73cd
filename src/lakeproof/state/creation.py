"""Making the state tables, and refusing those that are not ours to write."""

from __future__ import annotations

from lakeproof.errors import StateSchemaError
from lakeproof.model.names import TableName
from lakeproof.state.access import StateAccess, spark_errors
from lakeproof.state.tables import KIND_PROPERTY, SCHEMA_VERSION, TABLES, VERSION_PROPERTY


def create_missing(access: StateAccess) -> None:
    """Every state table is there afterwards, with a version that this release writes."""
    missing = [kind for kind in TABLES if not _check(access, kind)]
    if not missing:
        return
    access.frame(f"CREATE NAMESPACE IF NOT EXISTS {access.namespace.sql}")
    for kind in missing:
        try:
            access.frame(
                TABLES[kind].ddl(access.tables[kind], access.format.name, access.format.properties)
            )
        except spark_errors():
            # Two drivers may create it at once, and one of them is told so by an error.
            if not _exists(access, access.tables[kind]):
                raise
        _check(access, kind)


def _check(access: StateAccess, kind: str) -> bool:
    """Whether the table exists; raises if it does and cannot be used."""
    table = access.tables[kind]
    if not _exists(access, table):
        return False
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
    return True


def _exists(access: StateAccess, table: TableName) -> bool:
    return access.spark.catalog.tableExists(table.sql)
