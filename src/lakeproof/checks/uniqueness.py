from __future__ import annotations

from collections.abc import Sequence

from lakeproof.checks.kinds import Arguments, KeyCheck, KeyCounts, Verdict


class Uniqueness(KeyCheck):
    """No value occurs twice; with several columns, no combination. NULLs are not values.

    `failing_rows` counts duplicated values. The share held against a tolerance is that of
    surplus rows: those that would have to go for the rest to be unique. In a composite key a
    row with a NULL part is left out.
    """

    name = "uniqueness"
    dimension = "uniqueness"

    def judge(
        self, counts: KeyCounts, total: int, columns: Sequence[str], arguments: Arguments
    ) -> Verdict:
        return self.verdict(counts, total, columns, "duplicated")

    def verdict(self, counts: KeyCounts, total: int, columns: Sequence[str], what: str) -> Verdict:
        """The verdict; `what` says how a key is bad."""
        named = ", ".join(columns)
        share = counts.surplus_rows / total if total else 0.0
        if counts.duplicated_values:
            values = "value" if counts.duplicated_values == 1 else "values"
            details = (
                f"{counts.duplicated_values} {what} {values} of {named}: "
                f"{counts.rows_involved} rows involved, {counts.surplus_rows} surplus "
                f"of {total} rows"
            )
        else:
            details = f"no {what} value of {named} in {total} rows"
        return Verdict(
            failing=counts.duplicated_values,
            total=total,
            excess=counts.surplus_rows,
            share=share,
            measure=share,
            details=details,
            measures={
                "duplicated_values": counts.duplicated_values,
                "surplus_rows": counts.surplus_rows,
                "rows_involved": counts.rows_involved,
            },
        )
