"""A home of Airflow for each test file."""

from __future__ import annotations

from pathlib import Path

import pytest
from airflow_home import AirflowHome, require_environment


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every home begins with: migrating takes longer than most tests."""
    require_environment()
    return AirflowHome(tmp_path_factory.mktemp("migrated"), "").migrated().database


@pytest.fixture(scope="module")
def airflow(migrated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> AirflowHome:
    """Its tasks start Spark themselves, on a lakehouse in a folder."""
    folder = tmp_path_factory.mktemp("airflow")
    return AirflowHome(folder / "home", str(folder / "lakehouse")).with_copy_of(migrated_database)
