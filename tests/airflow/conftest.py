"""A home of Airflow for each test file."""

from __future__ import annotations

import pytest
from airflow_home import AirflowHome, require_environment


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> AirflowHome:
    """Its tasks start Spark themselves, on a lakehouse in a folder."""
    require_environment()
    folder = tmp_path_factory.mktemp("airflow")
    return AirflowHome(folder / "home", str(folder / "lakehouse")).migrated()
