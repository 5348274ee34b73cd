from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import Arguments, Verdict
from lakeproof.checks.pair_judging import aggregates_verdict
from lakeproof.checks.pair_parameters import (
    GROUP_BY,
    ON_EMPTY,
    SCOPE,
    TOLERANCE,
    TwoTableCheck,
    read_aggregate,
    read_empty,
    read_names,
    read_scope,
    read_tolerance,
    require_text,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.model.pairing import PairFound
from lakeproof.model.threshold import Threshold


class AggregateConsistency(TwoTableCheck):
    """A column of the table holds what an aggregate over a source gives, in each group.

    With `group_by` the source is grouped, and the table has one row for each group; a group that
    one side lacks is a mismatch, never a zero. Without it, the table's column is summed if the
    source expression is a single SUM or COUNT; for any other the table must have exactly one row,
    or `target_expression` says how it is aggregated.

    NULL equals NULL and is not zero, NaN equals NaN; integers and decimals are compared exactly.
    The tolerance is a share of the source's number, or a number; it is part of the rule, for it
    decides which groups are bad. From 0, any other number is beyond every share, and one side
    without any rows fails whatever is tolerated. `failing_rows` counts numbers that differ,
    `total_rows` all that were compared.
    """

    name = "aggregate_consistency"
    holds_tolerance = True
    parameters = (
        *SCOPE,
        Parameter("aggregate_column", (str,), "the column of the checked table", required=True),
        Parameter(
            "source_expression",
            (str,),
            "SQL over the rows of the source that gives the same number: `SUM(amount)`",
            required=True,
        ),
        GROUP_BY,
        Parameter("target_expression", (str,), "SQL over the checked table, instead of its column"),
        *TOLERANCE,
        ON_EMPTY,
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        name = self.name
        target = arguments["target_expression"]
        return {
            **read_scope(name, arguments),
            **read_tolerance(name, arguments),
            "aggregate_column": require_text(
                name, "aggregate_column", arguments["aggregate_column"]
            ),
            "source_expression": read_aggregate(
                name, "source_expression", arguments["source_expression"]
            ),
            "target_expression": None
            if target is None
            else read_aggregate(name, "target_expression", target),
            "group_by": read_names(name, "group_by", arguments["group_by"]),
            "on_empty": read_empty(name, arguments),
        }

    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        return aggregates_verdict(found, arguments)
