"""A contract with wrong values anywhere is exported or refused; nothing else comes out."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakeproof.contracts.export import export_contract
from lakeproof.contracts.loading import load_contract
from lakeproof.errors import ContractError

SMALL = {
    "schema": [
        {
            "name": "t",
            "quality": [
                {"type": "sql", "query": "SELECT 1", "mustBe": 1},
                {"code": "countCheck", "type": "reconciliation", "toolName": "x"},
                {"type": "custom", "engine": "soda", "implementation": {"type": "row_count"}},
            ],
            "properties": [
                {
                    "name": "a",
                    "logicalType": "array",
                    "enum": [{"value": "x"}],
                    "items": {"logicalType": "string", "logicalTypeOptions": {"minLength": 1}},
                    "relationships": [{"to": "t.a"}],
                    "quality": [
                        {
                            "metric": "nullValues",
                            "mustBe": 0,
                            "unit": "rows",
                            "customProperties": [],
                        },
                        {"code": "required", "parameters": {"tolerance": 1}},
                        {"type": "missing_count", "missing_values": ["-"], "must_be": 0},
                    ],
                }
            ],
        }
    ],
    "servers": [{"server": "s", "type": "hive", "host": "h", "database": "d"}],
    "slaProperties": [{"property": "latency", "value": 1}],
}
DAMAGE = st.sampled_from([3, "abc", None, True, [], {}, ["x"], {"min": 3}, [{"a": 1}], [["x"]]])


def places_in(value):
    """Every (container, key) of a value, at any depth."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys if isinstance(value, (dict, list)) else ():
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places_in(value[key])


@given(st.lists(st.tuples(st.integers(0, 10_000), DAMAGE), min_size=1, max_size=3))
@example([(0, 3)])
@settings(max_examples=150, deadline=None)
def test_a_damaged_contract_is_exported_or_refused(damages):
    value = deepcopy(SMALL)
    for number, damage in damages:
        every = list(places_in(value))
        holder, key = every[number % len(every)]
        holder[key] = deepcopy(damage)
    try:
        export_contract(load_contract(value))
    except ContractError as problem:
        assert str(problem)  # noqa: PT017 - both ways are fine
