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


def equations_of(
    inputs: Sequence[InputAccounting], partitions: Sequence[OutputPartition]
) -> tuple[Equation, ...]:
    """One equation for each source and each of its sinks, the first input's first.

    A partition without source belongs to the first input, one without sink to every sink.
    """
    first = inputs[0].name
    known = {item.name for item in inputs}
    for part in partitions:
        if part.source and part.source not in known:
            raise LedgerError(
                f"partition {part.name} names the source {part.source!r}; this ledger has "
                f"{', '.join(repr(name) for name in sorted(known))}"
            )
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
