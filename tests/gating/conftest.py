from __future__ import annotations

import pytest

from gating.trusted_layer import Layer
from spark_settings import for_few_records


@pytest.fixture(scope="module")
def quick(spark):
    """The shared session, quick over few rows."""
    with for_few_records(spark):
        yield spark


@pytest.fixture
def layer(quick, request):
    """A table of the format that the test asks for, Iceberg if it does not, and its layer."""
    return Layer(quick, getattr(request, "param", "iceberg"))
