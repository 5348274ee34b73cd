"""What a store says of itself to people."""

from __future__ import annotations

import pytest

from lakeproof.config import StoreSettings
from lakeproof.errors import EngineUnavailableError
from lakeproof.state import open_store
from lakeproof.state.reading import Question, SparkReader
from lakeproof.state.staging import StagingStore

NOWHERE = StoreSettings(namespace="never_made")
NOWHERE_IN_DELTA = StoreSettings("delta", "spark_catalog", "never_made")


@pytest.mark.parametrize("settings", [NOWHERE, NOWHERE_IN_DELTA])
def test_a_store_that_was_never_made_is_told_without_the_text_of_spark(spark, settings):
    reader = SparkReader(open_store(spark, settings))
    with pytest.raises(EngineUnavailableError) as told:
        reader.ask(Question("results"))
    assert str(told.value) == (
        f"no results yet in {open_store(spark, settings).description}: nothing was kept there. "
        "Next: lakeproof store init, or a run that keeps its results"
    )


def test_staged_results_are_not_said_to_be_in_the_tables(spark):
    store = StagingStore(spark, NOWHERE, stage=None, run_id="the-run")
    assert store.description == "their stage, not yet in iceberg tables in iceberg.never_made"
