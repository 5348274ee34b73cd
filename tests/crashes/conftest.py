"""Processes that a crash test starts over and over."""

from __future__ import annotations

import pytest
from drivers import ready_drivers


@pytest.fixture(scope="module")
def drivers(spark):
    with ready_drivers(spark) as found:
        yield found
