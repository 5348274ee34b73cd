"""What a rule's state amounts to at a position: the numbers that a verdict is made of.

They are sums over rows, so a run that reads changes adds what the changes weigh. Kept as JSON with
the rule's progress, they are committed by the same write that moves it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal

Measured = bool | int | float | str | Decimal | date | datetime | None


@dataclass(frozen=True, slots=True)
class KeyTotals:
    """Open violations of a rule.

    `hits` counts keys, `occurrences` the rows behind them, `excess` the rows that are too many (of
    a repeated key all but one).
    """

    hits: int = 0
    occurrences: int = 0
    excess: int = 0

    def __add__(self, other: KeyTotals) -> KeyTotals:
        return KeyTotals(
            self.hits + other.hits,
            self.occurrences + other.occurrences,
            self.excess + other.excess,
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """One rule's numbers.

    `rows` are all rows of the table, `scope` those its filter lets through, `bad` those that
    violate it, `elements` the bad elements in them; `measures` are the numbers of a measuring rule
    by name. `keys` are its open violations; `is_capped` if not all of them are stored.
    """

    rows: int = 0
    scope: int = 0
    bad: int = 0
    elements: int = 0
    measures: Mapping[str, Measured] = field(default_factory=dict)
    keys: KeyTotals = KeyTotals()
    is_capped: bool = False

    def __add__(self, other: Standing) -> Standing:
        """Both together; measures are added by name, where one has none it counts as 0."""
        names = {**self.measures, **other.measures}
        return Standing(
            rows=self.rows + other.rows,
            scope=self.scope + other.scope,
            bad=self.bad + other.bad,
            elements=self.elements + other.elements,
            measures={
                name: _number(self.measures.get(name)) + _number(other.measures.get(name))
                for name in names
            },
            keys=self.keys + other.keys,
            is_capped=self.is_capped or other.is_capped,
        )

    def capped_at(self, most: int | None) -> Standing:
        """The same, marked if its violations are more than may be stored.

        The mark stays while changes come on top: what was not stored is not stored later.
        """
        return replace(self, is_capped=self.is_capped or is_too_many(self.keys.hits, most))

    def fits_again(self, most: int | None) -> bool:
        """Whether not all violations are stored that could be by now."""
        return self.is_capped and not is_too_many(self.keys.hits, most)

    def to_json(self) -> str:
        fields = {
            "rows": self.rows,
            "scope": self.scope,
            "bad": self.bad,
            "elements": self.elements,
            "keys": [self.keys.hits, self.keys.occurrences, self.keys.excess],
            "measures": {name: _tagged(value) for name, value in self.measures.items()},
            "capped": self.is_capped,
        }
        return json.dumps(fields, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Standing:
        fields = json.loads(text)
        return cls(
            rows=int(fields["rows"]),
            scope=int(fields["scope"]),
            bad=int(fields["bad"]),
            elements=int(fields["elements"]),
            measures={name: _untagged(value) for name, value in fields["measures"].items()},
            keys=KeyTotals(*map(int, fields["keys"])),
            is_capped=bool(fields.get("capped", False)),
        )


def is_too_many(hits: int, most: int | None) -> bool:
    return most is not None and hits > most


def _number(value: Measured) -> int:
    """A count to be added; only whole numbers are ever added up."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a count")
    return value


def _tagged(value: Measured) -> list[str] | int | bool | str | None:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, Decimal):
        return ["decimal", str(value)]
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    return ["date", value.isoformat()]


def _untagged(value: object) -> Measured:
    if isinstance(value, list):
        kind, text = str(value[0]), str(value[1])
        if kind == "float":
            return float.fromhex(text)
        if kind == "decimal":
            return Decimal(text)
        return datetime.fromisoformat(text) if kind == "datetime" else date.fromisoformat(text)
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ValueError(f"{value!r} is not a measure that was kept")
