"""The keys that a failed run names: missing, extra and duplicate ones, read without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from lakeproof.accounting.document import Ledger
from lakeproof.accounting.run_directory import DISCREPANCY_FOLDER
from lakeproof.accounting.storage import LocalStorage, join, local_path
from lakeproof.accounting.without_spark.records.arrow import parquet_rows
from lakeproof.model.accounting import AccountingDiscrepancy, KeyColumn

MISSING: Final = "missing"
EXTRA: Final = "extra"
DUPLICATE: Final = "duplicate"
_KINDS: Final = (MISSING, EXTRA, DUPLICATE)


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key of which not as many records are accounted for as the input has.

    The numbers are None where only a sample of the ledger names it.
    """

    source_key: str
    kind: str
    input_records: int | None = None
    accounted_records: int | None = None
    partitions: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is wrong with it."""
        if self.input_records is None or self.accounted_records is None:
            return f"the run did not balance: it is {self.kind}"
        return (
            f"the run did not balance: it is {self.kind}, {self.input_records:,} in the input and "
            f"{self.accounted_records:,} accounted for"
        )


def missing(ledger: Ledger, limit: int | None = None) -> Iterator[ListedKey]:
    """The keys that a failed run lost: all of them, or samples where no list was written.

    With a limit, the first ones in the order of keys; without, as they are stored.
    """
    found = _keys(ledger, MISSING)
    yield from found if limit is None else nsmallest(limit, found, key=lambda one: one.source_key)


def listed_key(ledger: Ledger, key: str) -> ListedKey | None:
    """What a failed run says of this key, if it names it."""
    return next(
        (one for kind in _KINDS for one in _keys(ledger, kind) if one.source_key == key), None
    )


def names_all_keys(ledger: Ledger) -> bool:
    """Whether a key that is not named is surely accounted for as often as the input has it."""
    found = ledger.discrepancy
    if found is None:
        return ledger.balanced
    counts = {
        MISSING: found.missing_count,
        EXTRA: found.extra_count,
        DUPLICATE: found.duplicate_count,
    }
    return (
        found.keys_named
        and any(counts.values())
        and all(_files(ledger, found, kind) for kind, count in counts.items() if count)
    )


def _keys(ledger: Ledger, kind: str) -> Iterator[ListedKey]:
    found = ledger.discrepancy
    if found is None:
        return
    files = _files(ledger, found, kind)
    for path in files:
        yield from _listed(_folder(ledger, found), path, kind)
    if files:
        return
    if kind == DUPLICATE:
        for key, partitions in found.duplicate_keys.items():
            yield ListedKey(key, kind, partitions=tuple(partitions))
    else:
        samples = found.missing_keys if kind == MISSING else found.extra_keys
        yield from (ListedKey(key, kind) for key in samples)


def _folder(ledger: Ledger, found: AccountingDiscrepancy) -> str:
    return join(ledger.directory, found.lists_location or DISCREPANCY_FOLDER)


def _files(ledger: Ledger, found: AccountingDiscrepancy, kind: str) -> list[str]:
    return [
        file.path
        for file in LocalStorage().files(_folder(ledger, found))
        if f"{kind}_keys.parquet" in file.path.split("/")
    ]


def _listed(folder: str, path: str, kind: str) -> Iterator[ListedKey]:
    names = ("source_key", "input_records", "accounted_records", "partitions")
    columns = [KeyColumn(name, "") for name in names]
    for (key, inputs, accounted, partitions), _ in parquet_rows(
        local_path(folder) / path, path, columns
    ):
        yield ListedKey(
            str(key),
            kind,
            inputs if isinstance(inputs, int) else None,
            accounted if isinstance(accounted, int) else None,
            tuple(map(str, partitions)) if isinstance(partitions, list) else (),
        )
