"""Rows that recipes of text take for equal: every hash algorithm tells them apart."""

from __future__ import annotations

import pytest
from planted_facts import COLLISIONS, FACTS, table_sql

from lakeproof.model.pairing import HashAlgorithm
from lakeproof.reconciliation import ChecksumReconciliationCheck
from reconciliation.listed_keys import compared_keys

pytestmark = pytest.mark.usefixtures("interpreted")


def test_five_collisions_are_planted():
    assert len(COLLISIONS) == 5
    assert not any(fact.equal for fact in COLLISIONS)


@pytest.mark.parametrize("algorithm", list(HashAlgorithm))
@pytest.mark.parametrize("method", ["cells", pytest.param("hash_join", marks=pytest.mark.slow)])
def test_every_algorithm_finds_the_planted_collisions(spark, algorithm, method):
    check = ChecksumReconciliationCheck(
        spark.sql(table_sql(FACTS, "source")),
        spark.sql(table_sql(FACTS, "target")),
        key_columns=["fact"],
        hash_algorithm=algorithm.value,
        method=method,
    )
    result, keys = compared_keys(spark, check)
    assert result.metadata["method"] == method
    found = {name for (name,), one in keys.items() if one.kind == "changed"}
    assert {fact.name for fact in COLLISIONS} <= found
    assert found == {fact.name for fact in FACTS if not fact.equal}
