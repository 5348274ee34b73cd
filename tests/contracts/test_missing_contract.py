"""A contract that is not where it was looked for."""

from __future__ import annotations

import pytest

from lakeproof.contracts.loading import load_contract
from lakeproof.errors import ContractError


def test_a_relative_path_is_told_with_the_place_that_was_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContractError) as told:
        load_contract("contracts/orders.yaml")
    assert str(told.value) == (
        f"contracts/orders.yaml: no such file ({tmp_path / 'contracts' / 'orders.yaml'}). "
        "There is no folder contracts either."
    )
