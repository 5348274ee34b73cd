"""One use of a check over imaginary columns, and how to spell nested ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeproof.model.column import Column


@dataclass(frozen=True)
class Sample:
    """The table's columns with their types, the parameters, a filter.

    `columns` names those that the rule is about, where they are not all. Of two tables, `source`
    are the other one's columns, and `values` the types of aggregates.
    """

    types: Mapping[str, str | Column]
    params: Mapping[str, object] = field(default_factory=dict)
    filter: str | None = None
    columns: Sequence[str] | None = None
    source: Mapping[str, str | Column] = field(default_factory=dict)
    values: Sequence[str] = ()

    @property
    def table_columns(self) -> tuple[Column, ...]:
        return _columns(self.types)

    @property
    def source_columns(self) -> tuple[Column, ...]:
        return _columns(self.source)

    @property
    def rule_columns(self) -> list[str]:
        return list(self.types if self.columns is None else self.columns)


def _columns(types: Mapping[str, str | Column]) -> tuple[Column, ...]:
    return tuple(
        Column(name, kind) if isinstance(kind, str) else replace(kind, name=name)
        for name, kind in types.items()
    )


def array_of(element: str | Column) -> Column:
    inner = Column("element", element) if isinstance(element, str) else element
    return Column("", f"array<{inner.type_text}>", element=inner)


def map_of(key: str, value: str | Column) -> Column:
    inner = Column("value", value) if isinstance(value, str) else value
    return Column("", f"map<{key},{inner.type_text}>", element=inner, map_key=Column("key", key))


def struct_of(**fields: str) -> Column:
    parts = ",".join(f"{name}:{kind}" for name, kind in fields.items())
    inner = tuple(Column(name, kind) for name, kind in fields.items())
    return Column("", f"struct<{parts}>", fields=inner)
