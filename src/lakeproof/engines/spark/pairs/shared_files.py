"""Two tables without the data files that both of them have.

Branches, clones and consecutive versions have most of their files in common, and a file that is
on both sides makes no difference between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from lakeproof.engines.spark.chosen_files import (
    NotPossibleError,
    OpenTable,
    files_of,
    opened_table,
    relation_of,
    require_choosable,
)
from lakeproof.engines.spark.flavour import Java
from lakeproof.errors import short_message
from lakeproof.model.printable import counted
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Listed: TypeAlias = "Sequence[tuple[str, Java]]"


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """What is left to compare of two tables, and why it is that.

    Each relation is SQL for a FROM clause. As multisets of rows they differ exactly as the tables
    do; `shared_rows` rows of `shared_files` files are in neither. Where nothing can be left out
    they are the tables themselves. `reason` says it in words. Call `release` after the last read.
    """

    source_relation: str
    target_relation: str
    reason: str
    shared_files: int = 0
    shared_rows: int = 0
    everything_is_shared: bool = False
    held: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def release(self) -> None:
        """Forget the files that were chosen; the relations cannot be read any more."""
        self.held.close()


def without_shared_files(
    spark: SparkSession, source: PinnedTable, target: PinnedTable
) -> SharedFiles:
    """The two tables without the files that both have; reads metadata only.

    A file is shared only if its rows are certain to be the same on both sides: the same path and
    partition, no deleted rows on either side, and tables that read files in the same way.
    """
    try:
        _require_alike(spark, source, target)
        return _left_to_compare(opened_table(spark, source), opened_table(spark, target))
    except NotPossibleError as problem:
        reason = str(problem)
    except Exception as problem:  # noqa: BLE001 (it only saves reading: compared in full instead)
        reason = f"their files cannot be told apart here: {short_message(problem)}"
    return SharedFiles(source.relation, target.relation, reason)


def _require_alike(spark: SparkSession, source: PinnedTable, target: PinnedTable) -> None:
    for pinned in (source, target):
        require_choosable(spark, pinned)
    if source.format != target.format:
        raise NotPossibleError(
            f"they are of different formats, {source.format} and {target.format}"
        )


def _left_to_compare(source: OpenTable, target: OpenTable) -> SharedFiles:
    if not source.reads_like(target):
        raise NotPossibleError("their columns, column ids or partitions are not the same")
    of_source, of_target = files_of(source), files_of(target)
    shared = dict(_shared(source, target, of_source, of_target))
    if not shared:
        raise NotPossibleError("no data file is on both sides")
    rows = sum(shared.values())
    with ExitStack() as held:
        return SharedFiles(
            relation_of(source, _remaining(of_source, shared), held),
            relation_of(target, _remaining(of_target, shared), held),
            f"{counted(len(shared), 'data file')} with {counted(rows, 'row')} on both sides",
            shared_files=len(shared),
            shared_rows=rows,
            everything_is_shared=len(of_source) == len(of_target) == len(shared),
            held=held.pop_all(),
        )


def _shared(
    source: OpenTable, target: OpenTable, of_source: _Listed, of_target: _Listed
) -> Iterator[tuple[str, int]]:
    """The paths of the shared files with the number of their rows.

    A table may list a file twice, and has its rows twice then; such a file is left where it is.
    """
    occurrences = Counter(path for path, _ in of_source), Counter(path for path, _ in of_target)
    counterparts = dict(of_target)
    for path, entry in of_source:
        if all(counts[path] == 1 for counts in occurrences):
            whole = source.whole(entry)
            if whole is not None and whole == target.whole(counterparts[path]):
                yield path, whole.rows


def _remaining(listed: _Listed, shared: Mapping[str, int]) -> list[Java]:
    return [entry for path, entry in listed if path not in shared]
