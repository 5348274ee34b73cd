"""The format of a partition's files, where nobody says it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AdjointType, FileDigest, OutputPartition
from lakeproof.model.places import format_of_packed


def stored_format(partition: OutputPartition, files: Sequence[FileDigest]) -> str:
    """As given, else as the files' endings say: error records are JSON lines, the rest Parquet."""
    if partition.format:
        return partition.format.lower()
    is_error = partition.adjoint_type is AdjointType.ErrorRecords
    default = "json" if is_error else "parquet"
    found = sorted({format_of_packed(file.path) or default for file in files})
    if len(found) > 1:
        raise LedgerError(
            f"partition {partition.name}: {partition.adjoint_location} holds files of several "
            f"formats ({', '.join(found)}). Name one by `format`, or keep them apart"
        )
    return found[0] if found else default
