"""Who wants to know how a run's books stand, such as a lineage system."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

from lakeproof.errors import short_message

if TYPE_CHECKING:
    from lakeproof.accounting.document import Ledger
    from lakeproof.accounting.manifest import Manifest
    from lakeproof.model.accounting import AccountingDiscrepancy

UNBALANCED: Final = "ACCOUNTING_INVARIANT_VIOLATED"
BREACHED: Final = "ERROR_THRESHOLD_EXCEEDED"
"""The reasons of a failure."""


class LedgerListener(Protocol):
    """Called when the files of that moment are written: a listener may read them."""

    def started(self, manifest: Manifest) -> None: ...

    def completed(self, ledger: Ledger) -> None: ...

    def failed(self, reason: str, count: int, discrepancy: AccountingDiscrepancy | None) -> None:
        """`count` is that of missing, extra and duplicate records, or of errors over a limit."""
        ...


def tell(
    listeners: Iterable[LedgerListener], call: Callable[[LedgerListener], None]
) -> tuple[str, ...]:
    """Call every listener, and return what went wrong with some.

    A listener never decides anything: books that balance stay balanced if nobody hears of it.
    """
    problems = []
    for listener in listeners:
        try:
            call(listener)
        except Exception as problem:  # noqa: BLE001 - the code of others
            problems.append(f"{type(listener).__name__} failed: {short_message(problem)}")
            logging.getLogger("lakeproof").warning("listener %s", problems[-1])
    return tuple(problems)
