"""The rules of `golden/rule_identity.json` and their ids; as a script, prints them as JSON.

It runs as a script too, so that another version of sqlglot can answer the same questions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlglot

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.names import TableName
from lakeproof.model.rule import Logic, Rule
from lakeproof.model.suite import QualityCheck

GOLDEN = Path(__file__).parent.parent / "golden" / "rule_identity.json"
DOCUMENT: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
PAIRS: list[dict[str, Any]] = DOCUMENT["pairs"]
FROZEN: list[dict[str, Any]] = DOCUMENT["frozen"]

_TAGS: dict[str, Callable[[Any], object]] = {
    "$date": date.fromisoformat,
    "$datetime": datetime.fromisoformat,
    "$decimal": Decimal,
    "$float": float,
    "$set": frozenset,
}


def rule_ids(entry: Mapping[str, Any]) -> list[str]:
    """The ids that an entry's rules have, sorted; empty if it is refused.

    `arguments` stands for a rule's logic below any check; everything else is a QualityCheck that
    differs from the base.
    """
    if "arguments" in entry:
        table = TableName(("iceberg", "lakehouse", "sales"))
        return [Logic(table, "any", 1, ("c",), _typed(entry["arguments"])).rule_id]
    rules = rules_of([QualityCheck(**_typed({**DOCUMENT["base"], **entry}))], Config())
    return sorted({rule.rule_id for rule in rules if isinstance(rule, Rule)})


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        for tag, read in _TAGS.items():
            if list(value) == [tag]:
                return read(value[tag])
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return value


def all_ids() -> dict[str, object]:
    return {
        "sqlglot": sqlglot.__version__,
        "pairs": [[rule_ids(pair["left"]), rule_ids(pair["right"])] for pair in PAIRS],
        "frozen": [rule_ids(entry["rule"]) for entry in FROZEN],
    }


if __name__ == "__main__":
    json.dump(all_ids(), sys.stdout)
