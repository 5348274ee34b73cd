"""Faults in what a run has stored: files are edited, and the oracle's fates alike."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from generated_pipelines import FOREIGN

from oracle.ledger_books import Fate


@dataclass(frozen=True)
class Shelf:
    """Where a partition's rows lie. `key` is the column of its keys, "" where they are not kept."""

    folder: Path
    key: str
    weight: str


def read_table(folder: Path) -> pa.Table:
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    return pa.concat_tables([_read_file(file) for file in files])


def _read_file(path: Path) -> pa.Table:
    """What Spark writes as INT96 is an instant; pyarrow takes it for a time without a zone."""
    file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
    table = file.read()
    instants = {one.path for one in file.schema if one.physical_type == "INT96"}
    for at, name in enumerate(table.column_names):
        if name in instants:
            column = table.column(at).cast(pa.timestamp("us", tz="UTC"))
            table = table.set_column(at, name, column)
    return table


def write_table(folder: Path, table: pa.Table) -> None:
    """In place of the files that are there; Spark's own checksums of them must go too."""
    shutil.rmtree(folder)
    folder.mkdir()
    pq.write_table(table, folder / "part-0.parquet")


def read_rows(folder: Path) -> list[dict[str, object]]:
    """The rows of a Parquet folder, or of the JSON lines below it."""
    if not folder.exists():
        return []
    if any(folder.glob("*.parquet")):
        return read_table(folder).to_pylist()
    return [
        {**json.loads(line), "error_type": file.parent.name.removeprefix("error_type=")}
        for file in sorted(folder.glob("error_type=*/*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def write_rows(folder: Path, rows: Sequence[Mapping[str, object]]) -> None:
    if any(folder.glob("*.parquet")):
        write_table(folder, pa.Table.from_pylist(list(rows), read_table(folder).schema))
        return
    for part in folder.glob("error_type=*"):
        shutil.rmtree(part)
    for row in rows:
        part = folder / f"error_type={row['error_type']}"
        part.mkdir(exist_ok=True)
        line = json.dumps({name: row[name] for name in row if name != "error_type"})
        with (part / "part-0.json").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


# --------------------------------------------------------------------------------------- faults


class Tamperer:
    """Does one fault to one record that some partition keeps by its key.

    Answers the fates as storage tells them afterwards; None where the fault has no place, as a move
    where only one partition has rows.
    """

    def __init__(self, chance: random.Random, shelves: Mapping[str, Shelf]) -> None:
        self.chance = chance
        self.shelves = shelves

    def commit(self, fault: str, fates: Sequence[Fate]) -> list[Fate] | None:
        kept = [one for one in fates if one.row.weight and self.shelves[one.partition].key]
        if not kept:
            return None
        fate = self.chance.choice(kept)
        if fault not in {"copy", "move", "swap"}:
            return self._alone(fault, fate, list(fates))
        others = [one for one in kept if one.partition != fate.partition]
        return (
            self._between(fault, fate, self.chance.choice(others), list(fates)) if others else None
        )

    def _alone(self, fault: str, fate: Fate, fates: list[Fate]) -> list[Fate]:
        forged = replace(fate, row=replace(fate.row, key=FOREIGN))
        added = {"drop": None, "double": fate, "foreign": forged, "replace": forged}[fault]
        is_taken = fault in {"drop", "replace"}
        self._store(fate, added=added, taken=is_taken)
        if is_taken:
            fates.remove(fate)
        return fates if added is None else [*fates, added]

    def _between(self, fault: str, one: Fate, other: Fate, fates: list[Fate]) -> list[Fate]:
        """`one` goes to the partition of `other`, in exchange, or in addition."""
        there = replace(other, row=replace(other.row, key=one.row.key))
        here = replace(one, row=replace(one.row, key=other.row.key))
        if fault == "copy":
            self._store(other, added=there)
            return [*fates, there]
        fates.remove(one)
        if fault == "move":
            self._store(one, taken=True)
            self._store(other, added=there)
            return [*fates, there]
        assert fault == "swap"
        fates.remove(other)
        self._store(one, added=here, taken=True)
        self._store(other, added=there, taken=True)
        return [*fates, here, there]

    def _store(self, fate: Fate, *, added: Fate | None = None, taken: bool = False) -> None:
        """Edit the row of `fate` where it lies; a row that is added looks like it."""
        shelf = self.shelves[fate.partition]
        rows = read_rows(shelf.folder)
        position = next(
            at
            for at, row in enumerate(rows)
            if row[shelf.key] == fate.row.key and row.get(shelf.weight, 1) in {1, None}
        )
        template = rows.pop(position) if taken else rows[position]
        if added is not None:
            rows.append({**template, shelf.key: added.row.key})
        write_rows(shelf.folder, rows)
