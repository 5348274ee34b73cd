"""Comparisons made by hand, without planning: simple hashes over two queries."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from lakeproof.engines.spark.pairs.rows import PairRows
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm, Method, NullKeyPolicy
from lakeproof.planning.pairs.steps import CompareStep, PairColumn, Side
from lakeproof.planning.tables import PinnedTable


@dataclass(frozen=True)
class Made:
    """A column; `digits` of a number are what counts, and half a unit of the last is forgiven."""

    name: str
    type_text: str
    digits: int | None = None
    is_hidden: bool = False

    def normal(self) -> str:
        """What is hashed: both zeros are one."""
        if self.digits is not None:
            return f"round(`{self.name}`, {self.digits})"
        return f"`{self.name}` + 0D" if self.type_text == "double" else f"`{self.name}`"

    def pair(self) -> PairColumn:
        plain = "to_json(array({source})) <=> to_json(array({target}))"
        near = f"coalesce(abs({{source}} - {{target}}) <= 0.5 * power(10D, -{self.digits}), false)"
        column = Column(self.name, self.type_text)
        return PairColumn(
            name=self.name,
            source=column,
            target=column,
            type_text=self.type_text,
            source_sql=f"`{self.name}`",
            target_sql=f"`{self.name}`",
            equal_sql=plain if self.digits is None else f"({plain} OR {near})",
            is_exact=self.digits is None,
            is_hidden=self.is_hidden,
        )


def made_rows(source_sql, target_sql, keys, columns=(), **choices) -> PairRows:
    """The rows of a step over two queries that return these columns."""
    algorithm = choices.pop("algorithm", HashAlgorithm.XXHASH64)
    castable = choices.pop("castable", "true")
    sides = [
        _side(name, sql, keys, columns, algorithm.words, castable)
        for name, sql in (("source", source_sql), ("target", target_sql))
    ]
    step = CompareStep(
        rule_id="made",
        source=sides[0],
        target=sides[1],
        keys=tuple(key.pair() for key in keys),
        columns=tuple(column.pair() for column in columns),
        algorithm=algorithm,
        duplicates=choices.pop("duplicates", DuplicatePolicy.FAIL),
        null_keys=choices.pop("null_keys", NullKeyPolicy.COUNT),
        method=Method.HASH_JOIN,
        method_reason="",
        view=f"_lakeproof_pair_{uuid.uuid4().hex[:12]}",
        **choices,
    )
    return PairRows(step, sides[0].sql, sides[1].sql)


def all_rows_sql(rows: PairRows) -> str:
    """Every key in question."""
    if rows.step.as_sets:
        return rows.union_sql((*rows.keys, "null_key"))
    return rows.union_sql((*rows.keys, *rows.values, *rows.hashes, "exact_hash", "null_key"))


def _side(name, sql, keys, columns, words, castable) -> Side:
    key = ", ".join(column.normal() for column in keys)
    values = ", ".join(column.normal() for column in columns)
    exact = ", ".join(f"`{column.name}`" for column in columns if column.digits is None)
    selected = [
        *(f"`{column.name}` AS key_{n}" for n, column in enumerate(keys)),
        *(f"`{column.name}` AS value_{n}" for n, column in enumerate(columns)),
        *(f"{_hash(n, key, values)} AS hash_{n}" for n in range(words)),
        f"{_hash(90, exact)} AS exact_hash",
        f"{_hash(91, key)} AS key_hash",
        f"{_hash(92, key)} AS sample_hash",
        f"{' OR '.join(f'`{column.name}` IS NULL' for column in keys)} AS null_key",
        f"{castable} AS is_castable",
    ]
    pinned = PinnedTable(
        table=TableName(("frame", "made", name)),
        table_id=name,
        format="frame",
        position=None,
        columns=(),
        relation=f"({sql})",
        key_columns=(),
        key_sql="",
    )
    return Side(name, pinned, "", f"SELECT {', '.join(selected)} FROM ({sql})")


def _hash(seed, *values) -> str:
    parts = ", ".join(value for value in values if value)
    return f"xxhash64({seed}L, to_json(array(to_json(struct({parts or '1'})))))"
