"""The suite of the simulator: real rules of the catalogue, and what each means in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from memory_table import MemoryTable, Row

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.canonical import encode_key
from lakeproof.model.column import Column
from lakeproof.model.rule import Rule
from lakeproof.model.suite import QualityCheck
from lakeproof.model.weighing import WeighKind

ORDERS, CODES = "memory.shop.orders", "memory.shop.codes"


class Order(NamedTuple):
    """A row of the checked table: `id` names it to people and may repeat all the same."""

    id: int
    a: int | None
    b: str | None
    ref: int | None
    value: int | None
    flag: bool


class Code(NamedTuple):
    """A row of the table that orders refer to; a code may be there twice."""

    code: int | None
    note: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """A rule in Python. `key` gives None for a row that has no part in the rule's keys.

    `kind` is how the rule runs on changes; None is a rule that is always read whole.
    """

    rule: Rule
    kind: WeighKind | None
    scope: Callable[[Row], bool]
    violates: Callable[[Row], bool]
    key: Callable[[Row], str | None]
    forbids_null: bool = False

    def is_bad_by_null(self, key: str) -> bool:
        return self.forbids_null and ":null" in key


def orders_table() -> MemoryTable:
    types = ("bigint", "int", "string", "int", "int", "boolean")
    names = Order._fields
    return MemoryTable(ORDERS, tuple(map(Column, names, types)))


def codes_table() -> MemoryTable:
    return MemoryTable(CODES, (Column("code", "int"), Column("note", "int")))


def everything(_row: Row) -> bool:
    return True


def nothing(_row: Row) -> bool:
    return False


def no_key(_row: Row) -> None:
    return None


@cache
def row_key(row: Row) -> str:
    return encode_key({"id": row[0]})


@cache
def _pair_key(row: Row) -> str:
    return encode_key({"a": row[1], "b": row[2]})


@cache
def code_key(code: object) -> str:
    return encode_key({"ref": code})


def _whole_pair(row: Row) -> str | None:
    return None if row[1] is None or row[2] is None else _pair_key(row)


def _reference(row: Row) -> str | None:
    return None if row[3] is None else code_key(row[3])


def parent_key(row: Row) -> str | None:
    return None if row[0] is None else code_key(row[0])


_CHECKS = {
    "value_present": (
        QualityCheck("value_present", "not_null", ORDERS, "value", filter="flag"),
        WeighKind.ROW,
        lambda row: row[5],
        lambda row: row[5] and row[4] is None,
        row_key,
    ),
    "small": (
        QualityCheck("small", "range", ORDERS, "value", {"max_value": 7}, tolerance=0.5),
        WeighKind.ROW,
        everything,
        lambda row: row[4] is not None and row[4] > 7,
        row_key,
    ),
    "pair_once": (
        QualityCheck("pair_once", "uniqueness", ORDERS, ["a", "b"]),
        WeighKind.UNIQUE,
        everything,
        nothing,
        _whole_pair,
    ),
    "pair_is_key": (
        QualityCheck(
            "pair_is_key", "unique_key", ORDERS, ["a", "b"], {"nulls": "forbid"}, filter="flag"
        ),
        WeighKind.UNIQUE,
        lambda row: row[5],
        nothing,
        _pair_key,
    ),
    "code_known": (
        QualityCheck(
            "code_known",
            "foreign_key",
            ORDERS,
            "ref",
            {"references": CODES, "referenced_columns": "code"},
        ),
        WeighKind.REFERENCE,
        everything,
        nothing,
        _reference,
    ),
    "enough": (
        QualityCheck("enough", "row_count_range", ORDERS, params={"min_count": 3, "max_count": 9}),
        WeighKind.COUNT,
        everything,
        nothing,
        no_key,
    ),
    "asked_for": (
        QualityCheck(
            "asked_for",
            "custom_sql",
            ORDERS,
            params={"sql": f"SELECT * FROM {ORDERS} WHERE value = 3"},
        ),
        None,
        everything,
        lambda row: row[4] == 3,
        row_key,
    ),
}
RULE_KEYS = tuple(_CHECKS)


@cache
def meaning_of(rule_key: str) -> Meaning:
    check, kind, scope, violates, key = _CHECKS[rule_key]
    config = Config()
    rules = rules_of([check], config)
    assert isinstance(rules[0], Rule), rules[0]
    return Meaning(rules[0], kind, scope, violates, key, forbids_null=rule_key == "pair_is_key")


@cache
def meanings() -> dict[str, Meaning]:
    """Every rule's meaning by rule_id."""
    return {meaning_of(name).rule.rule_id: meaning_of(name) for name in RULE_KEYS}
