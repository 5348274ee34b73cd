"""The equations: the records of one source against the partitions that lead to one sink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    NOTHING,
    Account,
    Commitment,
    InputAccounting,
    OutputPartition,
)


@dataclass(frozen=True, slots=True)
class Equation:
    """One source, one sink, and the partitions between them."""

    source: InputAccounting
    sink: str
    partitions: tuple[OutputPartition, ...]

    @property
    def accounted(self) -> Commitment:
        """All partitions together; each must have been measured."""
        return reduce(add, (part.commitment or NOTHING for part in self.partitions), NOTHING)

    @property
    def balances(self) -> bool:
        return self.source.commitment.agrees_with(self.accounted)

    @property
    def account(self) -> Account:
        """The equation as the ledger keeps it."""
        return Account(
            source=self.source.name,
            sink=self.sink,
            input_count=self.source.total_records,
            accounted_count=self.accounted.records,
            balanced=self.balances,
        )


def ensure_source(partition: OutputPartition, inputs: Sequence[str]) -> None:
    """Refuse a partition of an input that the ledger does not have; '' is the first one."""
    if partition.source and partition.source not in inputs:
        raise LedgerError(
            f"partition {partition.name} names the source {partition.source!r}; this ledger has "
            f"{', '.join(map(repr, sorted(inputs)))}. Name one of them, or add the input first"
        )


def equations_of(
    inputs: Sequence[InputAccounting], partitions: Sequence[OutputPartition]
) -> tuple[Equation, ...]:
    """One equation for each source and each of its sinks, the first input's first.

    A partition without source belongs to the first input, one without sink to every sink.
    """
    first = inputs[0].name
    for part in partitions:
        ensure_source(part, [item.name for item in inputs])
    equations = []
    for source in inputs:
        own = [part for part in partitions if (part.source or first) == source.name]
        sinks = list(dict.fromkeys(part.sink for part in own if part.sink)) or [""]
        equations += [
            Equation(source, sink, tuple(part for part in own if part.sink in {"", sink}))
            for sink in sinks
        ]
    return tuple(equations)


def miscounts(
    given: Sequence[OutputPartition], measured: Sequence[OutputPartition]
) -> tuple[str, ...]:
    """Where a count that the caller gave is not what storage holds."""
    return tuple(
        f"partition {before.name}: record_count was given as {before.record_count:,}, and "
        f"{before.adjoint_location} holds {after.record_count:,}"
        for before, after in zip(given, measured, strict=True)
        if before.record_count is not None and before.record_count != after.record_count
    )
