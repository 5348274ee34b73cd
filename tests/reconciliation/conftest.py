from __future__ import annotations

import pytest

from spark_settings import INTERPRETED, under


@pytest.fixture(scope="module")
def interpreted(spark):
    """Without compiled Java, which is most of the time of a run over a hundred rows."""
    with under(spark, INTERPRETED):
        yield
