"""How many records of a run may be errors before it is stopped."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from lakeproof.errors import LedgerError
from lakeproof.model.printable import counted

EARLY_ROWS: Final = 10_000
EARLY_SAMPLES_MAX: Final = 100
"""How many error records a run writes that its first rows already stop."""


@dataclass(frozen=True, slots=True)
class ErrorThresholds:
    """Limits on error records: a share of the input, a number, or both; a run may meet them.

    The early breaker judges the first `early_rows` rows by `early_rate`, which is `max_rate` if not
    given: so many errors so soon are a fault of the set-up, not of records. An input with fewer
    rows has no early part, and is judged as a whole.
    """

    max_rate: float | None = None
    max_errors: int | None = None
    early_rows: int = EARLY_ROWS
    early_rate: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_rate", "early_rate"):
            rate = getattr(self, name)
            if rate is not None and not (_is_number(rate) and 0 <= rate <= 1):
                raise LedgerError(f"{name} is a share from 0 to 1 (0.05 is 5 %), not {rate!r}")
        for name in ("max_errors", "early_rows"):
            count = getattr(self, name)
            is_open = count is None and name == "max_errors"
            if not is_open and not (type(count) is int and count >= 0):
                raise LedgerError(f"{name} is a number of records, 0 or more, not {count!r}")
        if self.max_rate is None and self.max_errors is None and self.early_rate is None:
            raise LedgerError(
                "ErrorThresholds without a limit would stop nothing. Give max_rate, max_errors or "
                "early_rate, or no thresholds at all"
            )

    @classmethod
    def default(cls) -> ErrorThresholds:
        """5 % or 10,000 errors."""
        return cls(max_rate=0.05, max_errors=10_000)

    @classmethod
    def strict(cls) -> ErrorThresholds:
        """1 % or 100 errors."""
        return cls(max_rate=0.01, max_errors=100)

    @classmethod
    def permissive(cls) -> ErrorThresholds:
        """20 % or 100,000 errors."""
        return cls(max_rate=0.2, max_errors=100_000)

    @property
    def is_early(self) -> bool:
        """Whether there is anything to judge early."""
        return self.early_rows > 0 and self._early_rate is not None

    def breach(self, errors: int, records: int) -> str:
        """By what the whole input is over a limit; '' if it is not."""
        over = []
        if self.max_errors is not None and errors > self.max_errors:
            over.append(f"at most {self.max_errors:,} may be")
        if self.max_rate is not None and _is_over(errors, records, self.max_rate):
            over.append(f"at most {_percent(self.max_rate)} may be")
        return f"{_told(errors, records)}; {', and '.join(over)}" if over else ""

    def early_breach(self, errors: int, rows: int) -> str:
        """By what the first rows are over the limit; '' if they are not, or are not that many."""
        rate = self._early_rate
        if not self.is_early or rate is None or rows < self.early_rows:
            return ""
        if not _is_over(errors, rows, rate):
            return ""
        return (
            f"STRUCTURAL: among the first {counted(rows, 'row')}, {_told(errors, rows)}; "
            f"at most {_percent(rate)} may be. Check schema, format and requirements"
        )

    @property
    def _early_rate(self) -> float | None:
        return self.max_rate if self.early_rate is None else self.early_rate


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_over(errors: int, records: int, rate: float) -> bool:
    # In decimals: 29 of 100 are not more than 0.29, which is less than that as a float.
    return errors > Decimal(str(rate)) * records


def _told(errors: int, records: int) -> str:
    share = f" ({_percent(errors / records)})" if records else ""
    verb = "is an error" if errors == 1 else "are errors"
    return f"{errors:,} of {counted(records, 'record')} {verb}{share}"


def _percent(rate: float) -> str:
    """`5 %`, `0.25 %`; a small share is never shown as 0."""
    return f"{Decimal(f'{rate * 100:.3g}'):f} %"


def thresholds_of(given: ErrorThresholds | str | None) -> ErrorThresholds | None:
    """Limits as they are, or the preset of that name."""
    presets = {
        "default": ErrorThresholds.default,
        "strict": ErrorThresholds.strict,
        "permissive": ErrorThresholds.permissive,
    }
    if given is None or isinstance(given, ErrorThresholds):
        return given
    if given not in presets:
        raise LedgerError(
            f"thresholds is {given!r}; it may be ErrorThresholds(...) or {', '.join(presets)}"
        )
    return presets[given]()
