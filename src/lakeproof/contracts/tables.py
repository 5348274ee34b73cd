"""Where each object of a contract is: a table, files, a DataFrame, or nowhere that we can read.

What the caller says comes first, then the contract's server. Nothing is guessed: an object whose
server is no place that Spark reads has a `problem`, and each of its rules says it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from lakeproof.config import Config
from lakeproof.contracts.contract import Contract, Object, Server, custom_properties
from lakeproof.contracts.files import FILE_SERVERS, FileSource, file_source
from lakeproof.contracts.placeholders import (
    RESERVED,
    TABLE_NAMES,
    fill,
    placeholders_in,
    without_values,
)
from lakeproof.errors import CheckDefinitionError, ContractError
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest

HELD = "contract"
"""The catalog part in the name of what has no table: files, DataFrames."""

_NO_WORD = re.compile(r"[^\w-]")
CUSTOM = "custom"
DATAFRAME = "dataframe"


@dataclass(frozen=True, slots=True)
class _CatalogServer:
    """A type of server whose tables a Spark catalog has; `catalog` where the server names none.

    '' stands for the configured default.
    """

    namespace_key: str
    catalog: str = ""


# Hive, Impala and Glue are metastores: Spark has their tables in its own catalog.
_CATALOG_SERVERS: Mapping[str, _CatalogServer] = {
    "iceberg": _CatalogServer("namespace"),
    "databricks": _CatalogServer("schema"),
    "delta": _CatalogServer("schema", "spark_catalog"),
    "hive": _CatalogServer("database", "spark_catalog"),
    "impala": _CatalogServer("database", "spark_catalog"),
    "glue": _CatalogServer("database", "spark_catalog"),
}


@dataclass(frozen=True, slots=True)
class TablePlace:
    """One object's place. `source` is there for files; then `table` only names them.

    `problem` says why there is none that we can read. `why` says what decided it.
    """

    object: Object
    table: TableName
    source: FileSource | None = None
    problem: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller says of places: tables and DataFrames by the objects' names, and a server.

    `are_assumed`: nothing is read, so that an object which is nowhere yet is no problem.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    frames: Collection[str] = ()
    server: str = ""
    are_assumed: bool = False


def places_of(
    contract: Contract, given: Given, config: Config, variables: Mapping[str, str]
) -> dict[str, TablePlace]:
    """The place of every object, by the object's name."""
    tables = {_known_object(contract, name).name: table for name, table in given.tables.items()}
    frames = {_known_object(contract, name).name for name in given.frames}
    server, why = chosen_server(contract, given.server)
    places: dict[str, TablePlace] = {}
    for owner in contract.objects:
        if owner.name in frames:
            place = TablePlace(owner, held_name(contract, owner), why="given as a DataFrame")
        elif owner.name in tables:
            place = _given_table(owner, tables[owner.name], config)
        else:
            place = _place(contract, owner, server, why, _Names(owner, server, config, variables))
        if given.are_assumed and place.problem:
            place = replace(place, problem="", why=f"no table yet: {place.problem}")
        places.setdefault(owner.name, place)  # of two that share a name, the first has it
    return places


def other_places(contract: Contract, given: Given, config: Config) -> dict[str, TablePlace]:
    """The places that were given to names which no object of the contract has."""
    found: dict[str, TablePlace] = {}
    for name, table in given.tables.items():
        if contract.object_named(name) is None:
            found[name] = _given_table(Object(name, name, "", {}), table, config)
    for name in given.frames:
        if contract.object_named(name) is None:
            owner = Object(name, name, "", {})
            found[name] = TablePlace(owner, held_name(contract, owner), why="given as a DataFrame")
    return found


def held_name(contract: Contract, owner: Object) -> TableName:
    """The name of an object that has no table: what its rules and bad rows are known by.

    It does not hold the path, so that they stay the same when the files move. Nor is it the
    physical name: two objects may share that one, and not their rows.
    """
    name = (owner.name or owner.physical_name).replace("${", "{")  # `names.quote` says why
    # An id may be a URN, and SQL rules take a name with a colon for a path.
    return TableName((HELD, _NO_WORD.sub("_", contract.id), name))


def _known_object(contract: Contract, name: str) -> Object:
    found = contract.object_named(name)
    if found is None:
        names = [one.name for one in contract.objects]
        near = nearest(name, names) or names
        told = f" Its objects: {', '.join(near)}." if near else ""
        raise ContractError(f"the contract has no object {name!r} to give a table to.{told}")
    return found


def chosen_server(contract: Contract, name: str) -> tuple[Server | None, str]:
    """The server of that name, else the contract's first, and why it is the one."""
    if name:
        found = [one for one in contract.servers if one.name == name]
        if not found:
            names = [one.name for one in contract.servers]
            told = f" Its servers: {', '.join(nearest(name, names) or names)}." if names else ""
            raise ContractError(f"the contract has no server {name!r}.{told}")
        return found[0], f"server {name}, as asked"
    if not contract.servers:
        return None, "the contract names no server"
    first = contract.servers[0]
    others = len(contract.servers) - 1
    told = f", the first of {others + 1}: --server NAME takes another" if others else ""
    return first, f"server {first.name} ({first.type}){told}"


def _given_table(owner: Object, text: str, config: Config) -> TablePlace:
    try:
        named = _whole(TableName.parse(text))
    except CheckDefinitionError as problem:
        raise ContractError(f"the table given for {owner.name!r}: {problem}") from problem
    table = named.resolve(config.default_catalog, config.default_namespace)
    return TablePlace(owner, table, why="given by the caller")


@dataclass(frozen=True, slots=True)
class _Names:
    """An object's names with everything around it that they may need to be whole."""

    owner: Object
    server: Server | None
    config: Config
    variables: Mapping[str, str]

    def of_server(self, key: str) -> str:
        """What the server says under that key, with `{model}` and variables; '' if nothing."""
        value = self.server.raw.get(key) if self.server is not None else None
        if value is None or value == "":
            return ""
        reserved = dict.fromkeys(TABLE_NAMES, self.physical)
        return fill(str(value), reserved=reserved, variables=self.variables)

    def shown(self, source: FileSource) -> str:
        """The files as the contract writes them: what variables hold is not told."""
        raw = self.server.raw if self.server is not None else {}
        written = str(raw.get("path") or raw.get("location"))
        if placeholders_in(f"{written}{self.owner.physical_name}") - RESERVED:
            return f"{source.format} files at {written}"
        return str(source)

    @property
    def physical(self) -> str:
        written = self.owner.physical_name or self.owner.name
        return fill(written, reserved={}, variables=self.variables)

    def table(self, catalog: str, namespace: str) -> TableName:
        """A physical name may bring its own namespace and catalog; it is completed otherwise."""
        own = TableName.parse(self.physical)
        return _whole(
            own.resolve(
                catalog or self.config.default_catalog, namespace or self.config.default_namespace
            )
        )


def _whole(table: TableName) -> TableName:
    """The name, if nothing in it still waits to be filled in: Spark would do that by itself."""
    if any("${" in part for part in table.parts):
        raise CheckDefinitionError(
            "its table's name still holds ${ after variables. Write a name, or ${VARIABLE}"
        )
    return table


def _place(
    contract: Contract, owner: Object, server: Server | None, why: str, names: _Names
) -> TablePlace:
    try:
        return _served(contract, owner, server, why, names)
    except CheckDefinitionError as problem:
        written = (owner.physical_name, owner.name, server.raw if server is not None else {})
        told = without_values(str(problem), written, names.variables)
        return TablePlace(owner, held_name(contract, owner), problem=told, why=why)


def _served(
    contract: Contract, owner: Object, server: Server | None, why: str, names: _Names
) -> TablePlace:
    held = held_name(contract, owner)
    if server is None or not server_kind(server):
        told = "by its physical name, with the default catalog and namespace"
        return TablePlace(owner, names.table("", ""), why=f"{why}: {told}")
    kind = server_kind(server)
    has_path = bool(server.raw.get("path") or server.raw.get("location"))
    if kind == DATAFRAME:
        raise CheckDefinitionError(
            f"{owner.name} is a DataFrame by its server {server.name}, and none was given. Pass "
            f"tables={{{owner.name!r}: df}}, or --table {_example(owner)}"
        )
    if kind in FILE_SERVERS or (kind in {"delta", "glue", CUSTOM} and has_path):
        source = file_source(kind, names.of_server)
        return TablePlace(owner, held, source, why=f"{why}: {names.shown(source)}")
    if kind in _CATALOG_SERVERS:
        return TablePlace(owner, _catalog_table(kind, names), why=why)
    raise CheckDefinitionError(
        f"a server of type {kind!r} is not read by Lakeproof. Name the table as Spark has "
        f"it: --table {_example(owner)}"
    )


def server_kind(server: Server) -> str:
    """The server's type; of a custom one its `customType`, by which exports name others too."""
    custom = custom_properties(server.raw.get("customProperties"))
    is_custom = server.type.lower() == CUSTOM and isinstance(custom.get("customType"), str)
    return str(custom["customType"] if is_custom else server.type).lower()


def _catalog_table(kind: str, names: _Names) -> TableName:
    known = _CATALOG_SERVERS[kind]
    keys = dict.fromkeys((known.namespace_key, "schema", "database", "namespace"))
    namespace = next((found for key in keys if (found := names.of_server(key))), "")
    return names.table(names.of_server("catalog") or known.catalog, namespace)


def _example(owner: Object) -> str:
    return f"{owner.name}=catalog.schema.{owner.physical_name or owner.name}"
