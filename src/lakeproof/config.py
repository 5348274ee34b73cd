"""`lakeproof.toml` or `[tool.lakeproof]` in pyproject.toml, read strictly.

An unknown key is refused with the nearest known one: a typo must not silently mean "default".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lakeproof.errors import ConfigError

STATE_TABLES = {
    "results": "_quality_results",
    "violations": "_quality_violations",
    "progress": "_quality_progress",
    "intents": "_quality_intents",
}
CATALOG_OF_FORMAT = {"iceberg": "iceberg", "delta": "spark_catalog"}
"""The catalog that the embedded lakehouse has for each format."""

FORMATS = tuple(CATALOG_OF_FORMAT)
FAIL_ON = ("warning", "error", "never")
SESSIONS = ("embedded", "provided")
CONTRACT_CHOICES: Mapping[str, tuple[str, ...]] = {
    "duplicates": ("values", "rows", "surplus"),
    "between": ("closed", "open"),
    "null_is_missing": ("always", "listed"),
    "regex": ("find", "full"),
    "empty_percent": ("skip", "pass"),
}
"""How the standard may be read, the default first."""

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where results and violations are kept. Names may change; columns do not."""

    format: str = "iceberg"
    catalog: str = "iceberg"
    namespace: str = "lakehouse"
    lease_seconds: int = 3600
    tables: Mapping[str, str] = field(default_factory=lambda: dict(STATE_TABLES))


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What is known of one table: its key columns, in the order the user gave them.

    Values of `sensitive` columns are shown nowhere; in a key they stand as a hash.
    """

    key: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`fail_on` changes the exit code only, never the decision that is stored."""

    fail_on: str = "error"


@dataclass(frozen=True, slots=True)
class ContractSettings:
    """How contracts are read where the standard leaves a choice, and what they do not say.

    `duplicates`: which number `duplicateValues` is: repeated values, rows that share one, or
    surplus rows. `between`: whether ranges hold their ends. `null_is_missing`: whether NULL counts
    as missing always, or only if listed. `regex`: whether a pattern is found anywhere, or must
    span the text. `empty_percent`: what percent of no rows is. `severities` maps a contract's
    words to ours, beside the built-in ones.
    """

    duplicates: str = "values"
    between: str = "closed"
    null_is_missing: str = "always"
    regex: str = "find"
    empty_percent: str = "skip"
    default_engine: str = ""
    sql_dialect: str = ""
    severities: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Which Spark the command line uses: its own, or one that is provided around it."""

    use: str = "embedded"
    warehouse: str = "lakehouse"
    remote: str = field(default="", repr=False)  # it may hold a token


@dataclass(frozen=True, slots=True)
class Config:
    """Everything configurable, with its defaults."""

    default_catalog: str = "iceberg"
    default_namespace: str = "lakehouse"
    timeout_seconds: float | None = None
    store: StoreSettings = field(default_factory=StoreSettings)
    tables: Mapping[str, TableSettings] = field(default_factory=dict)
    gate: GateSettings = field(default_factory=GateSettings)
    session: SessionSettings = field(default_factory=SessionSettings)
    contracts: ContractSettings = field(default_factory=ContractSettings)
    source: str = "defaults"

    def store_in(self, format_name: str) -> StoreSettings:
        """The store in that format; another format than the configured one has its own catalog."""
        if format_name not in CATALOG_OF_FORMAT:
            raise ConfigError(f"store {format_name!r} is not one of {', '.join(FORMATS)}")
        if format_name == self.store.format:
            return self.store
        catalog = CATALOG_OF_FORMAT[format_name]
        return replace(self.store, format=format_name, catalog=catalog)


def find_config(folder: Path) -> Path | None:
    """`lakeproof.toml` in the folder, else a pyproject.toml that has [tool.lakeproof]."""
    own = folder / "lakeproof.toml"
    if own.is_file():
        return own
    project = folder / "pyproject.toml"
    if project.is_file() and "lakeproof" in _read(project).get("tool", {}):
        return project
    return None


def load_config(path: Path | str) -> Config:
    """The configuration in one file; every problem names the file and the key."""
    path = Path(path)
    document = _read(path)
    if path.name == "pyproject.toml":
        document = document.get("tool", {}).get("lakeproof", {})
    return _config(document, str(path))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror or problem}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from problem


class _Section:
    """One table of the file, taken apart key by key; what is left over is unknown."""

    def __init__(self, value: object, where: str, known: tuple[str, ...]) -> None:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: expected a table, got {type(value).__name__}")
        for key in value:
            if key not in known:
                near = get_close_matches(str(key), known, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ConfigError(
                    f"{where}: unknown key {key!r}.{hint} Known keys: {', '.join(known)}."
                )
        self.value = value
        self.where = where

    def text(self, key: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        found = self.value.get(key, default)
        if not isinstance(found, str):
            raise ConfigError(f"{self.where}: {key} must be a string, got {found!r}")
        if allowed and found not in allowed:
            raise ConfigError(f"{self.where}: {key} = {found!r} is not one of {', '.join(allowed)}")
        if default and not found.strip():
            raise ConfigError(f"{self.where}: {key} must not be empty")
        return found

    def seconds(self, key: str) -> float | None:
        found = self.value.get(key)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, (int, float)) or found <= 0:
            raise ConfigError(f"{self.where}: {key} must be a number above 0, got {found!r}")
        return float(found)

    def names(self, key: str) -> tuple[str, ...]:
        found = self.value.get(key, [])
        if isinstance(found, str):
            found = [found]
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise ConfigError(f"{self.where}: {key} must be a list of column names, got {found!r}")
        return tuple(found)


def _config(document: Mapping[str, object], source: str) -> Config:
    top = _Section(
        document,
        source,
        (
            "default_catalog",
            "default_namespace",
            "timeout_seconds",
            "store",
            "tables",
            "gate",
            "session",
            "contracts",
        ),
    )
    catalog = top.text("default_catalog", "iceberg")
    namespace = top.text("default_namespace", "lakehouse")
    gate = _Section(document.get("gate", {}), f"{source}: [gate]", ("fail_on",))
    session = _Section(
        document.get("session", {}), f"{source}: [session]", ("use", "warehouse", "remote")
    )
    return Config(
        default_catalog=catalog,
        default_namespace=namespace,
        timeout_seconds=top.seconds("timeout_seconds"),
        store=_store(document.get("store", {}), f"{source}: [store]", catalog, namespace),
        tables=_tables(document.get("tables", {}), source),
        gate=GateSettings(gate.text("fail_on", "error", FAIL_ON)),
        session=SessionSettings(
            use=session.text("use", "embedded", SESSIONS),
            warehouse=session.text("warehouse", "lakehouse"),
            remote=session.text("remote", ""),
        ),
        contracts=_contracts(document.get("contracts", {}), f"{source}: [contracts]"),
        source=source,
    )


def _contracts(value: object, where: str) -> ContractSettings:
    section = _Section(
        value, where, (*CONTRACT_CHOICES, "default_engine", "sql_dialect", "severities")
    )
    words = section.value.get("severities", {})
    if not isinstance(words, Mapping):
        raise ConfigError(f"{where}: severities must map a contract's words to ours")
    severities = _Section(words, f"{where[:-1]}.severities]", tuple(map(str, words)))
    choices = {
        name: section.text(name, known[0], known) for name, known in CONTRACT_CHOICES.items()
    }
    return ContractSettings(
        **choices,
        default_engine=section.text("default_engine", ""),
        sql_dialect=section.text("sql_dialect", ""),
        severities={
            str(word).lower(): severities.text(str(word), "", SEVERITIES) for word in words
        },
    )


def _store(value: object, where: str, catalog: str, namespace: str) -> StoreSettings:
    section = _Section(value, where, ("format", "catalog", "namespace", "lease_seconds", "tables"))
    names = _Section(section.value.get("tables", {}), f"{where[:-1]}.tables]", tuple(STATE_TABLES))
    format_name = section.text("format", "iceberg", FORMATS)
    if format_name == "delta":
        catalog = CATALOG_OF_FORMAT["delta"]
    return StoreSettings(
        format=format_name,
        catalog=section.text("catalog", catalog),
        namespace=section.text("namespace", namespace),
        lease_seconds=int(section.seconds("lease_seconds") or StoreSettings().lease_seconds),
        tables={kind: names.text(kind, default) for kind, default in STATE_TABLES.items()},
    )


def _tables(value: object, source: str) -> dict[str, TableSettings]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: [tables] must hold one table per checked table")
    found: dict[str, TableSettings] = {}
    for name, settings in value.items():
        section = _Section(settings, f'{source}: [tables."{name}"]', ("key", "sensitive"))
        found[str(name)] = TableSettings(section.names("key"), section.names("sensitive"))
    return found
