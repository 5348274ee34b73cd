"""The tests' own Spark session as a Spark Connect server, so that a client starts in a second."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(spark) -> Iterator[str]:
    """The address of a Connect server in the JVM of this classic session."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    jvm = spark._jvm
    settings = jvm.org.apache.spark.SparkEnv.get().conf()
    settings.set("spark.connect.grpc.binding.address", "127.0.0.1")
    settings.set("spark.connect.grpc.binding.port", str(port))
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(spark.sparkContext._jsc.sc())
    try:
        yield f"sc://127.0.0.1:{port}"
    finally:
        nothing = jvm.scala.Option.empty()
        service.stop(nothing, nothing)
