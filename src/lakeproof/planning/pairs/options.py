"""The arguments of a comparison of rows, as binding uses them; columns by their folded names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakeproof.checks.checksum_reconciliation import SAMPLE_PARTS
from lakeproof.checks.kinds import Arguments
from lakeproof.checks.literals import exact_decimal
from lakeproof.model.column import folded
from lakeproof.model.pairing import (
    ColumnTolerance,
    DuplicatePolicy,
    HashAlgorithm,
    Method,
    NullKeyPolicy,
)


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What a rule asks for. `method` is None where the plan chooses.

    `may_lack_columns`: only the columns that both tables have are compared.
    """

    keys: tuple[str, ...]
    key_casts: Mapping[str, str]
    excluded: tuple[str, ...]
    metadata_patterns: tuple[str, ...]
    tolerances: Mapping[str, ColumnTolerance]
    text_functions: Mapping[str, tuple[str, ...]]
    unordered: frozenset[str]
    float_precision: int | None
    timestamp_precision: str
    assume_timezone: str
    algorithm: HashAlgorithm
    duplicates: DuplicatePolicy
    null_keys: NullKeyPolicy
    method: Method | None
    sample_parts: int
    row_limit: int | None
    may_lack_columns: bool = False

    @property
    def by_column(self) -> dict[str, Sequence[str]]:
        """The columns that each parameter names, which must be there."""
        return {
            "key_cast": tuple(self.key_casts),
            "column_tolerances": tuple(self.tolerances),
            "normalize": tuple(self.text_functions),
            "unordered_arrays": tuple(self.unordered),
        }


def options_of(arguments: Arguments) -> CompareOptions:
    """What the check has read, or its default: a comparison of keys alone has but a few."""
    found: Mapping[str, Any] = arguments
    sample, method = found.get("sample"), found.get("method", "auto")
    return CompareOptions(
        keys=tuple(found["key_columns"]),
        key_casts=_by_folded(found.get("key_cast")),
        excluded=tuple(found.get("exclude_columns") or ()),
        metadata_patterns=tuple(found.get("metadata_patterns") or ()),
        tolerances={
            name: _tolerance(given)
            for name, given in _by_folded(found.get("column_tolerances")).items()
        },
        text_functions=_by_folded(found.get("normalize")),
        unordered=frozenset(map(folded, found.get("unordered_arrays") or ())),
        float_precision=found.get("float_precision"),
        timestamp_precision=found.get("timestamp_precision") or "",
        assume_timezone=found.get("assume_timezone") or "",
        algorithm=HashAlgorithm(found.get("hash_algorithm", HashAlgorithm.XXHASH64)),
        duplicates=DuplicatePolicy(found.get("duplicate_policy", DuplicatePolicy.MULTISET)),
        null_keys=NullKeyPolicy(found.get("null_keys", NullKeyPolicy.COUNT)),
        method=None if method == "auto" else Method(method),
        sample_parts=SAMPLE_PARTS
        if sample is None
        else round(exact_decimal(sample) * SAMPLE_PARTS),
        row_limit=found.get("limit"),
        may_lack_columns=found.get("schema") == "common",
    )


def _by_folded(given: Mapping[str, Any] | None) -> dict[str, Any]:
    return {folded(name): value for name, value in (given or {}).items()}


def _tolerance(given: Mapping[str, object]) -> ColumnTolerance:
    texts = {name: str(exact_decimal(value)) for name, value in given.items()}
    return ColumnTolerance(**texts)
