"""Inputs as a caller names them, opened and pinned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from lakeproof.accounting.manifest import ManifestInput
from lakeproof.accounting.storage import storage_for
from lakeproof.model.accounting import KeyUniqueness, Level

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeproof.engines.spark.accounting.inputs import AccountedInput, PinnedInput

Dataset: TypeAlias = "str | os.PathLike[str] | DataFrame"
"""A path, a table's name, or a DataFrame."""


@dataclass(frozen=True, slots=True)
class DeclaredInput:
    """An input before it is opened. An empty `format` is found out."""

    name: str
    dataset: Dataset
    format: str = ""
    schema: StructType | str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """The dataset as the caller called it; a frame has no name but the input's."""
        if isinstance(self.dataset, str | os.PathLike):
            return os.fspath(self.dataset)
        return self.name


@dataclass(frozen=True, slots=True)
class OpenedInput:
    """An input whose files or version are pinned."""

    declared: DeclaredInput
    pinned: PinnedInput

    def for_manifest(self) -> ManifestInput:
        """What the manifest keeps of it; refuses a key that the input does not have."""
        from lakeproof.engines.spark.accounting.source_keys import key_columns

        key = key_columns(self.pinned.schema, self.declared.key)
        declared = self.declared
        return ManifestInput(declared.name, self.pinned.position, key, declared.called)

    def account(self, salt: str, level: Level, uniqueness: KeyUniqueness) -> AccountedInput:
        """Take the sums of its keys, in one pass."""
        from lakeproof.engines.spark.accounting.inputs import account_input

        return account_input(
            self.pinned,
            self.declared.key,
            salt=salt,
            level=level,
            uniqueness=uniqueness,
            name=self.declared.name,
        )


def open_all(declared: Sequence[DeclaredInput], spark: SparkSession) -> dict[str, OpenedInput]:
    """Pin all inputs, by name; refuses a session whose sums cannot be relied on."""
    from lakeproof.engines.spark.accounting.commitments import ensure_sums_raise

    ensure_sums_raise(spark)
    return {item.name: open_declared(item, spark) for item in declared}


def open_declared(declared: DeclaredInput, spark: SparkSession) -> OpenedInput:
    """Pin the input as it stands now."""
    from lakeproof.engines.spark.accounting.inputs import open_input

    dataset = declared.dataset
    if isinstance(dataset, os.PathLike):
        dataset = os.fspath(dataset)
    pinned = open_input(
        spark,
        dataset,
        format=declared.format,
        schema=declared.schema,
        options=declared.options,
        storage=storage_for(dataset if isinstance(dataset, str) else "", spark),
    )
    return OpenedInput(declared, pinned)
