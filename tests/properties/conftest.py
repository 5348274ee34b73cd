"""Properties are held on code as users' Spark generates it, which `make test` goes without."""

from __future__ import annotations

import pytest

from spark_settings import WITH_GENERATED_CODE, under


@pytest.fixture(scope="module")
def spark(spark):
    with under(spark, WITH_GENERATED_CODE):
        yield spark
