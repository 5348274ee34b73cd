"""Ledgers over a few lines of JSON, as a person would keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from lakeproof.accounting.adjoint import (
    Requirement,
    errors_with_adjoint,
    explode_with_adjoint,
    filter_with_adjoint,
    group_by_with_adjoint,
)
from lakeproof.accounting.ledger import AccountingLedger
from lakeproof.model.accounting import AdjointType, OutputPartition, PartitionType

SCHEMA = "id STRING, n INT, tags ARRAY<STRING>"


def lines_of(*records: Mapping[str, object] | str) -> list[str]:
    """A text is a line as it is."""
    return [one if isinstance(one, str) else json.dumps(one) for one in records]


def numbered(*ids: str, n: int = 1) -> list[str]:
    return lines_of(*({"id": one, "n": n} for one in ids))


def open_ledger(spark, folder: Path, lines: Sequence[str], **options) -> AccountingLedger:
    """A ledger over these lines by `id`, with its input summed."""
    dataset = folder / "input"
    dataset.mkdir(parents=True)
    (dataset / "records.json").write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    ledger = declare_ledger(spark, folder, dataset, **options)
    ledger.initialize_input("id")
    return ledger


def declare_ledger(spark, folder: Path, dataset, **options) -> AccountingLedger:
    given = {"input_format": "json", "schema": SCHEMA, **options}
    return AccountingLedger("small-run", dataset, folder / "run", spark, **given)


class Flow:
    """A pipeline of steps, each of which hands its partitions to the ledger."""

    def __init__(self, ledger: AccountingLedger, frame=None) -> None:
        self.ledger = ledger
        self.frame = ledger.input_frame() if frame is None else frame

    def demand(self, *conditions: str, name: str = "check", **options) -> Flow:
        asked = [Requirement(f"rule_{at}", one) for at, one in enumerate(conditions)]
        return self._next(errors_with_adjoint, asked, name, options)

    def where(self, condition: str, name: str = "wanted", **options) -> Flow:
        return self._next(filter_with_adjoint, condition, name, options)

    def explode(self, column: str = "tags", name: str = "apart", **options) -> Flow:
        return self._next(explode_with_adjoint, column, name, options)

    def group(self, *columns: str, name: str = "sums", **options) -> Flow:
        config = self.ledger.adjoint(name, **options)
        result = group_by_with_adjoint(
            self.frame, list(columns), ["count(*) AS lines"], config=config
        )
        self.ledger.add_result(result)
        return Flow(self.ledger, result.output)

    def keep(self, place: Path, name: str = "rest", *, sources=("",), sink: str = "") -> None:
        self.frame.write.parquet(str(place))
        for source in sources:
            self.ledger.add_partition(output_at(place, name, source=source, sink=sink))

    def _next(self, helper, asked, name: str, options) -> Flow:
        result = helper(self.frame, asked, config=self.ledger.adjoint(name, **options))
        self.ledger.add_result(result)
        return Flow(self.ledger, result.output)


def output_at(place: Path, name: str, **options) -> OutputPartition:
    return OutputPartition(
        PartitionType.OUTPUT,
        "what is left",
        None,
        AdjointType.PassThrough,
        str(place),
        morphism_id=name,
        **options,
    )


def stored(directory: Path, place: str) -> list[dict[str, object]]:
    """The rows of one of the run's Parquet tables."""
    files = sorted((Path(directory) / place).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]


def errors_in(directory: Path) -> list[dict[str, object]]:
    return [
        json.loads(line) | {"error_type": file.parent.name.removeprefix("error_type=")}
        for file in sorted((Path(directory) / "errors").glob("error_type=*/*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
