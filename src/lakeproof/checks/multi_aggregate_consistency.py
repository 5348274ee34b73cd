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
    read_word,
    require_text,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.pairing import PairFound
from lakeproof.model.threshold import Threshold

_KEYS = ("name", "expression", "target_column", "target_expression")


class MultiAggregateConsistency(TwoTableCheck):
    """Several columns of the table hold what aggregates over a source give, in each group.

    Each of `aggregates` is a mapping with `name`, `expression` (over the rows of the source),
    `target_column` and, if the table is aggregated in a way of its own, `target_expression`. All
    are taken in one query on each side. What is said of `aggregate_consistency` holds for each
    of them; the check passes only if all of them agree in every group.
    """

    name = "multi_aggregate_consistency"
    holds_tolerance = True
    parameters = (
        *SCOPE,
        Parameter(
            "aggregates",
            (list, tuple),
            "what is compared: {name, expression, target_column} each, and perhaps "
            "target_expression",
            required=True,
        ),
        GROUP_BY,
        *TOLERANCE,
        ON_EMPTY,
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        given: Sequence[object] = arguments["aggregates"]  # type: ignore[assignment]
        aggregates = tuple(_aggregate(self.name, one) for one in given)
        if not aggregates:
            raise CheckDefinitionError(f"check {self.name!r} needs one aggregate at least")
        read_names(self.name, "aggregates", tuple(one["name"] for one in aggregates))
        return {
            **read_scope(self.name, arguments),
            **read_tolerance(self.name, arguments),
            "aggregates": aggregates,
            "group_by": read_names(self.name, "group_by", arguments["group_by"]),
            "on_empty": read_empty(self.name, arguments),
        }

    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        return aggregates_verdict(found, arguments)


def _aggregate(check: str, given: object) -> dict[str, object]:
    if not isinstance(given, Mapping):
        raise CheckDefinitionError(
            f"each of aggregates of check {check!r} is a mapping with name, expression and "
            f"target_column, got {given!r}"
        )
    for key in given:
        read_word(check, "aggregates", key, _KEYS)
    target = given.get("target_expression")
    return {
        "name": require_text(check, "aggregates: name", given.get("name")),
        "expression": read_aggregate(check, "aggregates: expression", given.get("expression")),
        "target_column": require_text(
            check, "aggregates: target_column", given.get("target_column")
        ),
        "target_expression": None
        if target is None
        else read_aggregate(check, "aggregates: target_expression", target),
    }
