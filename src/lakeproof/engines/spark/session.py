"""The embedded lakehouse: one local Spark session with Iceberg and Delta in one folder.

Layout of the folder, which other readers may rely on:

    <warehouse>/catalog.db    SQLite, the Iceberg catalog `iceberg` (PyIceberg opens it too)
    <warehouse>/iceberg/      data and metadata of the Iceberg tables
    <warehouse>/delta/        `spark_catalog`: <table>/ and <database>.db/<table>/
"""

from __future__ import annotations

import logging
import os
import re
import threading
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.engines.spark.jars import jar_files, jar_folder, missing_jars
from lakeproof.engines.spark.java import find_java, java_missing_text, use_java
from lakeproof.engines.spark.machine_memory import driver_memory
from lakeproof.errors import EngineUnavailableError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

ICEBERG_CATALOG = "iceberg"
PYSPARK_SERIES = "4.1"
SHUFFLE_PARTITIONS = 8
COMPILED_CLASSES_MAX = 3000
"""So much of the Java that Spark writes for its statements is kept. A run writes some hundreds of
classes; of Spark's hundred nothing is left when the next run wants the same ones, and half of the
machine is busy compiling them again."""

_JAVA_OPTIONS = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
_COLLECTOR = re.compile(r"-XX:\+Use\w*GC\b")

_EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
# Java says this on every start of Spark 4, before any logging exists that could be told not to.
_LAUNCH_NOISE = b"WARNING: Using incubator modules: jdk.incubator.vector\n"
# pyspark prints a refused statement with its whole Java trace, and then raises it as well.
_TWICE_TOLD_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@dataclass(frozen=True, slots=True)
class LakehouseFolder:
    """Where things lie in an embedded lakehouse."""

    root: Path

    @property
    def catalog_file(self) -> Path:
        return self.root / "catalog.db"

    @property
    def iceberg(self) -> Path:
        return self.root / "iceberg"

    @property
    def delta(self) -> Path:
        return self.root / "delta"


def local_session(
    warehouse: str | Path = "lakehouse",
    *,
    app_name: str = "lakeproof",
    cores: str = "*",
) -> SparkSession:
    """A local Spark session on the lakehouse in this folder, made if it is not there.

    Iceberg tables are `iceberg.<namespace>.<table>`; several processes may commit to them at
    once. Delta tables are `<database>.<table>` of `spark_catalog`. That catalog lives in memory,
    so the tables found in the folder are entered into it when the session starts; one that
    another process creates later is reached by path (delta.`<folder>`) or by the next session.

    If this process already has a session on the same folder, that one is returned. One with
    other settings is neither reused nor stopped: it raises. The driver may use a quarter of the
    machine's memory, 2 to 4 GB, or what SPARK_DRIVER_MEMORY says.
    """
    folder = LakehouseFolder(Path(warehouse).expanduser().resolve())
    _require_pyspark()
    active = _active_session(folder)
    if active is not None:
        return active
    _require_java_and_jars()
    folder.iceberg.mkdir(parents=True, exist_ok=True)
    folder.delta.mkdir(parents=True, exist_ok=True)
    settings = session_settings(folder.root, app_name=app_name, cores=cores)
    session = _start_session(settings)
    _enter_delta_tables(session, folder)
    return session


def session_settings(
    warehouse: str | Path, *, app_name: str = "lakeproof", cores: str = "*"
) -> dict[str, str]:
    """Every Spark setting of the embedded lakehouse, as text; a Connect server takes the same."""
    folder = LakehouseFolder(Path(warehouse).expanduser().resolve())
    iceberg = f"spark.sql.catalog.{ICEBERG_CATALOG}"
    return {
        "spark.app.name": app_name,
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY") or driver_memory(),
        "spark.driver.extraJavaOptions": _java_options(),
        "spark.jars": ",".join(str(file) for file in jar_files()),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": ",".join(_EXTENSIONS),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(SHUFFLE_PARTITIONS),
        # Else Spark makes a task per core of what is large, and waits for the slowest of them.
        "spark.sql.adaptive.coalescePartitions.minPartitionNum": str(SHUFFLE_PARTITIONS),
        "spark.sql.codegen.cache.maxEntries": str(COMPILED_CLASSES_MAX),
        # Numbered by stage, the same class would be another one where a plan has changed elsewhere.
        "spark.sql.codegen.useIdInClassName": "false",
        # Rows are held for one run: to find out how to press them costs as much as to hold them.
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder.delta),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Delta's default of 50 costs seconds on every statement of a small table.
        "spark.databricks.delta.snapshotPartitions": "1",
        iceberg: "org.apache.iceberg.spark.SparkCatalog",
        f"{iceberg}.type": "jdbc",
        f"{iceberg}.uri": _sqlite_address(folder),
        f"{iceberg}.jdbc.schema-version": "V1",
        f"{iceberg}.warehouse": str(folder.iceberg),
    }


def _java_options() -> str:
    """Those of the driver's JVM.

    What counts is how long it takes, not how long it may pause; but two collectors are refused by
    Java, so one that somebody has chosen is left alone.
    """
    logging_as = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
    chosen = " ".join(os.environ.get(name, "") for name in _JAVA_OPTIONS)
    return logging_as if _COLLECTOR.search(chosen) else f"-XX:+UseParallelGC {logging_as}"


def _sqlite_address(folder: LakehouseFolder) -> str:
    # WAL lets readers go on while one process commits; a second writer waits for its turn.
    return f"jdbc:sqlite:{folder.catalog_file}?journal_mode=WAL&busy_timeout=30000"


def _require_pyspark() -> None:
    wanted = f"pyspark {PYSPARK_SERIES} is needed for the embedded lakehouse"
    next_step = "Next: pip install 'lakeproof[spark,delta,iceberg]'"
    try:
        installed = version("pyspark")
    except PackageNotFoundError as error:
        raise EngineUnavailableError(f"{wanted} and is not installed. {next_step}") from error
    if not installed.startswith(f"{PYSPARK_SERIES}."):
        raise EngineUnavailableError(f"{wanted}; {installed} is installed. {next_step}")


def _require_java_and_jars() -> None:
    """Fail with the command to type, and point this process to the Java that fits."""
    java = find_java()
    if java is None:
        raise EngineUnavailableError(java_missing_text())
    missing = missing_jars()
    if missing:
        names = ", ".join(jar.coordinate for jar in missing)
        raise EngineUnavailableError(
            f"Jars missing in {jar_folder()}: {names}."
            " Next: `make setup` in a clone, else `lakeproof doctor --fix`."
        )
    use_java(java, os.environ)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _active_session(folder: LakehouseFolder) -> SparkSession | None:
    """The session of this process if it is one on this folder; None if there is no session."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if is_remote():
        raise EngineUnavailableError(
            "This process speaks Spark Connect, where an embedded session cannot live."
            " Next: pass your own session, or unset SPARK_REMOTE and SPARK_CONNECT_MODE_ENABLED."
        )
    # The public getActiveSession() only knows sessions made in the calling thread.
    if SparkContext._active_spark_context is None:  # noqa: SLF001
        return None
    session = SparkSession.builder.getOrCreate()
    address = session.conf.get(f"spark.sql.catalog.{ICEBERG_CATALOG}.uri", None)
    if address == _sqlite_address(folder):
        return session
    raise EngineUnavailableError(
        f"This process already has a Spark session ({session.sparkContext.appName}) that is not"
        f" the lakehouse {folder.root}. Next: pass that session to Lakeproof as it is, or call"
        " its stop() first, or use another process."
    )


def _start_session(settings: dict[str, str]) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    if SparkContext._gateway is None:  # noqa: SLF001 - a JVM outlives the sessions stopped in it
        try:
            _launch_jvm(conf)
        except PySparkRuntimeError as error:
            raise EngineUnavailableError(
                f"Spark's Java process did not start: {error}. Next: lakeproof doctor"
            ) from error
    else:
        _require_our_classes()
    for name in _TWICE_TOLD_LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _launch_jvm(conf: SparkConf) -> None:
    """Start the Java process with its standard error passed on, less the noise of the start."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    read_end, write_end = os.pipe()
    try:
        gateway = launch_gateway(conf, {"stderr": write_end})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)  # noqa: SLF001
    finally:
        os.close(write_end)
        # Only now: Python warns of a fork beside running threads, and the pipe holds 64 kB.
        threading.Thread(target=_pass_on, args=(read_end,), daemon=True).start()


def _pass_on(read_end: int) -> None:
    with os.fdopen(read_end, "rb") as lines:
        for line in lines:
            if line != _LAUNCH_NOISE:
                os.write(2, line)


def _require_our_classes() -> None:
    """A JVM started earlier for another session cannot take in the jars any more."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark import SparkContext

    jvm = SparkContext._jvm  # noqa: SLF001
    assert jvm is not None, "a gateway without a JVM view"  # noqa: S101
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass("org.apache.iceberg.spark.SparkCatalog")
        loader.loadClass(_EXTENSIONS[0])
    except Py4JJavaError as error:
        raise EngineUnavailableError(
            "An earlier Spark session of this process started Java without the lakehouse's jars."
            " Next: call local_session() in a new process, or before any other session."
        ) from error


def _enter_delta_tables(session: SparkSession, folder: LakehouseFolder) -> None:
    """Enter the Delta tables of the folder into the in-memory `spark_catalog`.

    They are entered as managed tables, as they were created: DROP TABLE removes their files, so
    a dropped table does not come back with the next session. SQL has no words for that over
    files that exist, hence the catalog itself is called.
    """
    for log in sorted(folder.delta.glob("*/_delta_log")):
        _enter_delta_table(session, "default", log.parent)
    for log in sorted(folder.delta.glob("*.db/*/_delta_log")):
        database = log.parent.parent.name.removesuffix(".db")
        session.sql(f"CREATE DATABASE IF NOT EXISTS `{database}`")
        _enter_delta_table(session, database, log.parent)


def _enter_delta_table(session: SparkSession, database: str, location: Path) -> None:
    jvm = session._jvm  # noqa: SLF001
    assert jvm is not None, "only classic sessions are made here"  # noqa: S101
    catalog = jvm.org.apache.spark.sql.catalyst.catalog
    some = jvm.scala.Option.apply
    nowhere = catalog.CatalogStorageFormat.empty()
    address = jvm.java.io.File(str(location)).toURI()
    defaults = [getattr(nowhere, f"copy$default${position}")() for position in range(2, 7)]
    storage = nowhere.copy(some(address), *defaults)
    rest = [getattr(catalog.CatalogTable, f"apply$default${place}")() for place in range(6, 22)]
    table = catalog.CatalogTable(
        jvm.org.apache.spark.sql.catalyst.TableIdentifier(location.name, some(database)),
        catalog.CatalogTableType.MANAGED(),
        storage,
        jvm.org.apache.spark.sql.types.StructType(),  # empty: Delta reads it from its log
        some("delta"),
        *rest,
    )
    entries = session._jsparkSession.sessionState().catalog()  # noqa: SLF001
    entries.createTable(table, True, False)  # ignoreIfExists, validateLocation
