"""Contracts over generated tables: every metric with every operator in both units.

Each question (a metric with its arguments on a property or an object) is asked with all eight
operators and both units, with bounds at, below and above the number that the oracle counts, so
that the ends of every comparison are met. Names differ from physical names.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction

from generated_tables import CASE, KEY_SETS, TYPES

from oracle.odcs import OPERATORS, PATTERNS, RANGES, Expected, Row, Switches, Table, expect

TEXT = "ünï😀"
BINARY = "bin'ary"
NAMES = {column: f"p{number}" for number, column in enumerate(TYPES)}
"""Property names by physical names."""

STRAY = [None, "", "N/A", "a", "A ", -1, 0, True, "2024-03-09", 0.1]
"""What lists of missing values hold in the wild, whatever the column's type."""
UNITS = ({}, {"unit": "rows"}, {"unit": "percent"})


@dataclass(frozen=True)
class Asked:
    """A rule as the contract has it, where it stands, and what it must answer."""

    raw: dict[str, object]
    owner: str
    column: str
    expected: Expected


@dataclass
class ContractMaker:
    """Asks everything of each table; `cases` are the tables, each by its rows."""

    pools: dict[str, list[object]]
    cases: Sequence[Sequence[Row]]
    switches: Switches
    chance: random.Random
    asked: list[Asked] = field(default_factory=list)

    def ask(self) -> list[Asked]:
        for number, rows in enumerate(self.cases):
            named = [{NAMES[column]: row[column] for column in TYPES} for row in rows]
            table = Table({NAMES[column]: kind for column, kind in TYPES.items()}, named)
            self._ask_table(f"t{number}", table)
        return self.asked

    def contract(self) -> dict[str, object]:
        """The contract of all that was asked."""
        objects = []
        for number in range(len(self.cases)):
            owner = f"t{number}"
            mine = [one for one in self.asked if one.owner == owner]
            properties = [
                {
                    "name": name,
                    "physicalName": column,
                    "quality": [one.raw for one in mine if one.column == name],
                }
                for column, name in NAMES.items()
            ]
            quality = [one.raw for one in mine if not one.column]
            objects.append({"name": owner, "properties": properties, "quality": quality})
        kind = {"apiVersion": "v3.2.0", "kind": "DataContract", "version": "1", "id": "generated"}
        return {**kind, "status": "active", "schema": objects}

    def _ask_table(self, owner: str, table: Table) -> None:
        columns = [TEXT, *self.chance.sample(sorted({*TYPES} - {CASE, TEXT}), 2)]
        for column in columns:
            for question in self._of_column(column):
                self._ask_all(owner, NAMES[column], table, question)
        for keys in self.chance.sample(KEY_SETS, 2):
            named = {"properties": [NAMES[key] for key in keys]}
            self._ask_all(owner, "", table, {"metric": "duplicateValues", "arguments": named})
        self._ask_all(owner, self.chance.choice(["", NAMES["x"]]), table, {"metric": "rowCount"})
        for column, question in self._illegal():
            self._ask_all(owner, column, table, question)
        for rule in self._broken():
            self._add(owner, NAMES["x"], table, rule)

    def _of_column(self, column: str) -> Iterator[dict[str, object]]:
        """Each metric of a property, with arguments that fit the column."""
        yield {self.chance.choice(["metric", "rule"]): "nullValues"}
        yield {"metric": "duplicateValues"}
        listed = self.chance.sample(STRAY, 4)
        listed += self.chance.choices(self._arguments(column) or [None], k=2)
        arguments = self.chance.choice([{"missingValues": listed}, {"missingValues": [None]}, {}])
        yield {"metric": "missingValues", "arguments": arguments}
        valid = self.chance.choices(self._arguments(column), k=3) if column != BINARY else []
        arguments = {"validValues": [*valid, self.chance.choice([None, valid[0]])]} if valid else {}
        if column == TEXT:
            pattern = {"pattern": self.chance.choice(sorted(PATTERNS))}
            arguments = self.chance.choice([arguments, pattern, {**arguments, **pattern}])
        if arguments:
            yield {"type": "library", "metric": "invalidValues", "arguments": arguments}

    def _illegal(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Questions that the standard does not have, whatever the operator."""
        yield "", {"metric": "nullValues"}
        yield "", {"metric": "missingValues", "arguments": {"missingValues": [None]}}
        yield "", {"metric": "invalidValues", "arguments": {"validValues": [1]}}
        yield "", {"metric": "duplicateValues"}
        yield NAMES["x"], {"metric": "invalidValues"}

    def _broken(self) -> Iterator[dict[str, object]]:
        """Operators that are none, or that cannot hold."""
        yield {"metric": "nullValues"}
        yield {"metric": "nullValues", "unit": "apples", "mustBe": 0}
        yield {"metric": "nullValues", "unit": "percent", "mustBeLessThan": 100.5}
        yield {"metric": "nullValues", "unit": "percent", "mustBeBetween": [-1, 5]}
        yield {"metric": "nullValues", "mustBeBetween": [5, 1]}
        yield {"metric": "nullValues", "mustNotBeBetween": [2, 2]}

    def _ask_all(self, owner: str, column: str, table: Table, question: dict[str, object]) -> None:
        """One question with every operator in every unit, and once with two operators."""
        for unit in UNITS:
            plain = {**question, **unit}
            found = expect({**plain, "mustBe": 0}, column, table, self.switches).number
            bounds = self._bounds(found, is_percent=unit.get("unit") == "percent")
            for operator in OPERATORS:
                self._add(owner, column, table, {**plain, operator: self._bound(operator, bounds)})
            both = self.chance.sample(OPERATORS, 2)
            terms = {operator: self._bound(operator, bounds) for operator in both}
            self._add(owner, column, table, {**plain, **terms})

    def _bounds(self, found: Fraction | None, *, is_percent: bool) -> list[float]:
        """The number itself, if it can be written, and numbers on both sides of it."""
        number = found or Fraction(0)
        near = [number, number - 1, number + 1, number + Fraction(1, 2), Fraction(0)]
        if is_percent:
            near = [min(max(one, Fraction(0)), Fraction(100)) for one in near]
        return sorted({float(one) for one in near if Fraction(str(float(one))) == one} | {0.0, 7.5})

    def _bound(self, operator: str, bounds: list[float]) -> object:
        if operator in RANGES:
            return [_written(one) for one in sorted(self.chance.sample(bounds, 2))]
        return _written(self.chance.choice(bounds))

    def _add(self, owner: str, column: str, table: Table, rule: dict[str, object]) -> None:
        raw = {"id": f"r{len(self.asked)}", **rule}
        expected = expect(raw, column, table, self.switches)
        self.asked.append(Asked(raw, owner, column, expected))

    def _arguments(self, column: str) -> list[object]:
        """Values of the column in the words of JSON, where it has them."""
        written = [_in_json(value) for value in self.pools[column]]
        kept = [value for value in written if value is not None]
        fallback: object = {TEXT: "a", "flag": True, "day`s": "2024-03-09"}.get(column, 0)
        fallback = {"ts": "2024-03-10T07:00:00+00:00", 'n"tz': "2024-03-10T02:30:00"}.get(
            column, fallback
        )
        return [] if column == BINARY else kept or [fallback]


def _written(number: float) -> float | int:
    return int(number) if number == int(number) else number


def _in_json(value: object) -> object:
    """The value as JSON has it; None where it has no word for it."""
    if isinstance(value, Decimal):
        if value == value.to_integral_value() and abs(value) < 2**63:
            return int(value)
        return float(value) if Decimal(repr(float(value))) == value else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, str):
        # `${name}` is a variable wherever it stands.
        return None if "${" in value and "}" in value else value
    return None if isinstance(value, bytes) else value
