"""One Spark session for all tests that need one, on a lakehouse of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from lakeproof.engines.spark.session import local_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# Several sessions and servers are at work at once.
os.environ.setdefault("SPARK_DRIVER_MEMORY", "2g")

# Of two processes none works alone at the end if the files of minutes come first.
LONG_FILES = (
    "test_histories.py",
    "test_incremental_equals_full.py",
    "test_dag_scenarios.py",
    "test_killed_incremental.py",
    "test_connect.py",
    "test_incremental_runs.py",
    "test_incremental_on_connect.py",
    "test_promotion.py",
    "test_file_statistics.py",
    "test_killed_workers.py",
)


def pytest_configure(config: pytest.Config) -> None:
    # The same examples in every run, so that a red build is red again; HYPOTHESIS_PROFILE=explore
    # looks for new ones.
    settings.register_profile("same", derandomize=True)
    settings.register_profile("explore", print_blob=True)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
    # Warnings are errors here. pyspark leaves the socket over which it collects rows to the
    # garbage collector; that one warning is not ours to mend.
    config.addinivalue_line(
        "filterwarnings", r"ignore:unclosed <socket.socket fd=\d+, family=2, type=1:ResourceWarning"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The embedded lakehouse: catalogs `iceberg` (JDBC on SQLite) and `spark_catalog` (Delta)."""
    session = local_session(
        tmp_path_factory.mktemp("lakehouse"), app_name="lakeproof-tests", cores="2"
    )
    yield session
    session.stop()
