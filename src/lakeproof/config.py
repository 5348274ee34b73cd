"""`lakeproof.toml` or `[tool.lakeproof]` in pyproject.toml, read strictly.

An unknown key is refused with the nearest known one: a typo must not silently mean "default".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakeproof.config_section import Section
from lakeproof.errors import ConfigError

STATE_TABLES = {
    "results": "_quality_results",
    "violations": "_quality_violations",
    "progress": "_quality_progress",
    "intents": "_quality_intents",
    "key_index": "_quality_key_index",
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
READ_MODES = ("auto", "cdf", "watermark", "snapshot_diff", "snapshot")
"""How a table's changes may be read; `auto` is the best that the table allows."""
NULL_WATERMARKS = ("error", "include", "exclude")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where results and violations are kept. Names may change; columns do not.

    `max_hits_per_rule` bounds the violations that are stored of one rule, not those that are
    counted; without it all are.
    """

    format: str = "iceberg"
    catalog: str = "iceberg"
    namespace: str = "lakehouse"
    lease_seconds: int = 3600
    max_hits_per_rule: int | None = None
    tables: Mapping[str, str] = field(default_factory=lambda: dict(STATE_TABLES))


@dataclass(frozen=True, slots=True)
class WatermarkSettings:
    """A column that grows as rows are added, and how far it is to be trusted.

    Rows may come `lateness_seconds` late (for a number: that many units of it). `nulls` says what
    a row without value is: `error` stops the table, `include` reads it in every run, `exclude`
    leaves it unread. `timezone` is that of moments without zone. Rows that are less than
    `skew_seconds` older than the table's last commit are left to the next run. The short form
    names the column only.
    """

    column: str
    lateness_seconds: float = 0.0
    nulls: str = "error"
    timezone: str = ""
    skew_seconds: float = 0.0
    is_short_form: bool = False


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What is known of one table: its key columns, in the order the user gave them.

    Values of `sensitive` columns are shown nowhere; in a key they stand as a hash. `mode` is how
    its changes are read (`planning.read_mode`). Without `statistics` those of its files decide
    nothing: its rows are always read.
    """

    key: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    mode: str = "auto"
    watermark: WatermarkSettings | None = None
    statistics: bool = True


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
    watermarks_file: str = ""
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
    return _config(document, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror or problem}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: not valid TOML: {problem}") from problem


def _config(document: Mapping[str, object], path: Path) -> Config:
    source = str(path)
    top = Section(
        document,
        source,
        (
            "default_catalog",
            "default_namespace",
            "timeout_seconds",
            "watermarks_file",
            "store",
            "tables",
            "gate",
            "session",
            "contracts",
        ),
    )
    catalog = top.text("default_catalog", "iceberg")
    namespace = top.text("default_namespace", "lakehouse")
    gate = Section(document.get("gate", {}), f"{source}: [gate]", ("fail_on",))
    session = Section(
        document.get("session", {}), f"{source}: [session]", ("use", "warehouse", "remote")
    )
    watermarks_file = top.text("watermarks_file", "")
    return Config(
        default_catalog=catalog,
        default_namespace=namespace,
        timeout_seconds=top.seconds("timeout_seconds"),
        store=_store(document.get("store", {}), f"{source}: [store]", catalog, namespace),
        tables=_tables(document.get("tables", {}), source, watermarks_file),
        gate=GateSettings(gate.text("fail_on", "error", FAIL_ON)),
        session=SessionSettings(
            use=session.text("use", "embedded", SESSIONS),
            warehouse=session.text("warehouse", "lakehouse"),
            remote=session.text("remote", ""),
        ),
        contracts=_contracts(document.get("contracts", {}), f"{source}: [contracts]"),
        watermarks_file=watermarks_file,
        source=source,
    )


def _contracts(value: object, where: str) -> ContractSettings:
    section = Section(
        value, where, (*CONTRACT_CHOICES, "default_engine", "sql_dialect", "severities")
    )
    words = section.value.get("severities", {})
    if not isinstance(words, Mapping):
        raise ConfigError(f"{where}: severities must map a contract's words to ours")
    severities = Section(words, f"{where[:-1]}.severities]", tuple(map(str, words)))
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
    known = ("format", "catalog", "namespace", "lease_seconds", "max_hits_per_rule", "tables")
    section = Section(value, where, known)
    names = Section(section.value.get("tables", {}), f"{where[:-1]}.tables]", tuple(STATE_TABLES))
    format_name = section.text("format", "iceberg", FORMATS)
    if format_name == "delta":
        catalog = CATALOG_OF_FORMAT["delta"]
    return StoreSettings(
        format=format_name,
        catalog=section.text("catalog", catalog),
        namespace=section.text("namespace", namespace),
        lease_seconds=int(section.seconds("lease_seconds") or StoreSettings().lease_seconds),
        max_hits_per_rule=section.count("max_hits_per_rule"),
        tables={kind: names.text(kind, default) for kind, default in STATE_TABLES.items()},
    )


def _tables(value: object, source: str, watermarks_file: str) -> dict[str, TableSettings]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: [tables] must hold one table per checked table")
    _refuse_bare_dots(value, source)
    found = {
        str(name): _table(settings, f'{source}: [tables."{name}"]')
        for name, settings in value.items()
    }
    if not watermarks_file:
        return found
    from lakeproof.watermark_yaml import read_watermarks

    path = Path(source).parent / watermarks_file
    for name, given in read_watermarks(path).items():
        known = found.get(name, TableSettings())
        if known.watermark is not None:
            raise ConfigError(f"{path}: {name!r} has a watermark in {source} too; keep one")
        found[name] = replace(known, watermark=_watermark(given, f"{path}: {name}"))
    return found


def _refuse_bare_dots(tables: Mapping[str, object], source: str) -> None:
    """`[tables.a.b]` is a table in a table to TOML; the name of ours wants quotes."""
    for name, settings in tables.items():
        inside = settings.items() if isinstance(settings, Mapping) else ()
        for key, value in inside:
            if isinstance(value, Mapping) and key != "watermark":
                raise ConfigError(
                    f"{source}: [tables.{name}.{key}]: a name with dots is written in quotes, as "
                    '[tables."catalog.namespace.table"]'
                )


def _table(value: object, where: str) -> TableSettings:
    section = Section(value, where, ("key", "sensitive", "mode", "watermark", "statistics"))
    watermark = section.value.get("watermark")
    return TableSettings(
        key=section.names("key"),
        sensitive=section.names("sensitive"),
        mode=section.text("mode", READ_MODES[0], READ_MODES),
        watermark=None if watermark is None else _watermark(watermark, f"{where}: watermark"),
        statistics=section.flag("statistics", default=True),
    )


def _watermark(value: object, where: str) -> WatermarkSettings:
    if isinstance(value, str) and value.strip():
        return WatermarkSettings(value, is_short_form=True)
    if not isinstance(value, Mapping):
        raise ConfigError(
            f'{where} must be a column\'s name or {{column = "...", allowed_lateness = "1h"}}, '
            f"got {value!r}"
        )
    section = Section(value, where, ("column", "allowed_lateness", "nulls", "timezone", "skew"))
    column = section.text("column", "")
    if not column.strip():
        raise ConfigError(f"{where}: column is missing; name the column that grows")
    if "allowed_lateness" not in section.value:
        raise ConfigError(
            f'{where}: allowed_lateness is missing; write how late rows may come, "2h" or 0'
        )
    return WatermarkSettings(
        column=column,
        lateness_seconds=section.duration_seconds("allowed_lateness"),
        nulls=section.text("nulls", NULL_WATERMARKS[0], NULL_WATERMARKS),
        timezone=section.zone("timezone"),
        skew_seconds=section.duration_seconds("skew"),
    )
