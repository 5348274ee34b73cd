"""The session that a command uses: started by us and then stopped, or found and left alone."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from lakeproof.config import SessionSettings
from lakeproof.engines.spark.session import local_session
from lakeproof.errors import EngineUnavailableError, short_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT_PORT = 15002
_CONNECT_SECONDS = 10.0


def is_lakehouse_missing(settings: SessionSettings) -> bool:
    """Whether a session of these settings would make a new lakehouse in a folder of its own."""
    is_embedded = settings.use == "embedded" and not settings.remote
    return is_embedded and not Path(settings.warehouse).expanduser().is_dir()


@contextmanager
def open_session(settings: SessionSettings) -> Iterator[SparkSession]:
    """The session of these settings; stopped at the end only if this call started it.

    `remote` outweighs `use`. A provided session (`use = "provided"`) is never stopped, even if
    Spark had to make it from its own defaults: whoever provides the surroundings owns it.
    """
    was_there = _has_session()
    if settings.remote:
        session = _remote_session(settings.remote)
    elif settings.use == "provided":
        session = _provided_session()
    else:
        session = local_session(settings.warehouse)
    is_ours = not was_there and (bool(settings.remote) or settings.use != "provided")
    try:
        yield session
    finally:
        if is_ours:
            session.stop()


@contextmanager
def open_session_on(master: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session on this Spark master with these settings; stopped at the end if it is new.

    Catalogs and jars are those of the settings and of Spark's own defaults. A master that does
    not answer is given up by Spark itself, after a minute.
    """
    was_there = _has_session()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("lakeproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as problem:
        raise EngineUnavailableError(
            f"no session on the Spark master {master}: {short_message(problem)}"
        ) from problem
    try:
        yield session
    finally:
        if not was_there:
            session.stop()


def _has_session() -> bool:
    """Whether this process has a session already, made by whatever thread."""
    try:
        from pyspark.sql import SparkSession
        from pyspark.sql.utils import is_remote
    except ImportError as problem:
        raise EngineUnavailableError(
            "pyspark is not installed. Next: pip install 'lakeproof[spark,delta,iceberg]', or run "
            "where Spark provides it"
        ) from problem
    if is_remote():
        return SparkSession.getActiveSession() is not None
    from pyspark import SparkContext

    # The public getActiveSession() only knows sessions made in the calling thread.
    return SparkContext._active_spark_context is not None  # noqa: SLF001


def _provided_session() -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        return SparkSession.builder.getOrCreate()
    except Exception as problem:
        raise EngineUnavailableError(
            f"no Spark session is provided here and none could be made: {short_message(problem)}. "
            "Next: run under spark-submit, or set [session] use = 'embedded'"
        ) from problem


def _remote_session(address: str) -> SparkSession:
    from pyspark.sql import SparkSession

    _require_listener(address)
    try:
        return SparkSession.builder.remote(address).getOrCreate()
    except Exception as problem:
        raise EngineUnavailableError(
            f"the Spark Connect server at {address_for_people(address)} cannot be used: "
            f"{short_message(problem)}"
        ) from problem


def address_for_people(address: str) -> str:
    """Host and port only: what follows them in a Connect address may hold a token."""
    return address.split("/;", 1)[0]


def _require_listener(address: str) -> None:
    """Knock before the client does: it would go on trying for ten minutes.

    Where a proxy is set, the client may reach what we cannot, so nothing is asked.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or CONNECT_PORT
    except ValueError as problem:
        raise EngineUnavailableError(
            f"{address_for_people(address)!r} is not a Spark Connect address: {problem}"
        ) from problem
    if parts.scheme != "sc" or not host or {"http", "https", "grpc"} & getproxies().keys():
        return
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except OSError as problem:
        raise EngineUnavailableError(
            f"no Spark Connect server answers at {host}:{port}: {problem.strerror or problem}. "
            "Next: start it, or mend its address: --remote, [session] remote, or in Airflow the "
            "connection's host"
        ) from problem
