"""The partition that a run looks at, given to the rules that can be narrowed to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import PairCheck
from lakeproof.checks.pair_parameters import partition_text
from lakeproof.errors import ConfigError, LakeproofError
from lakeproof.model.nearest import nearest
from lakeproof.model.outcome import PARTITION
from lakeproof.model.rule import RejectedRule, Rule

Value: TypeAlias = str | int | Decimal | date | datetime | bool
Partition: TypeAlias = Value | Mapping[str, Value]
"""A value for every rule that has a partition_column, or one for each such column."""


def in_partition(
    rules: Sequence[Rule | RejectedRule], partition: Partition
) -> list[Rule | RejectedRule]:
    """The rules with the partition among their arguments.

    It is part of their logic: what is open in one partition is not resolved by a run over another.
    A rejected rule may be the one that has the column; its own error is what is to be told then.
    """
    columns = {column for rule in rules if (column := _partition_column(rule))}
    is_hidden = any(_may_hide_one(rule) for rule in rules)
    asked = list(partition) if isinstance(partition, Mapping) else []
    for name in asked:
        near = nearest(name, sorted(columns))
        if name not in columns and (near or not is_hidden):
            known = ", ".join(near or sorted(columns))
            hint = f"Known: {known}" if known else "No rule has a partition_column"
            raise ConfigError(f"partition {name!r}: no rule has that partition_column. {hint}")
    if not columns and not is_hidden:
        raise ConfigError("a partition was given, and no rule has a partition_column")
    return [_narrowed(rule, partition) for rule in rules]


def _partition_column(rule: Rule | RejectedRule) -> str:
    return str(rule.arguments.get("partition_column") or "") if isinstance(rule, Rule) else ""


def _may_hide_one(rule: Rule | RejectedRule) -> bool:
    """Whether a partition_column was lost with what could not be read."""
    if isinstance(rule, Rule):
        return False
    try:
        return isinstance(find_check(rule.check), PairCheck)
    except LakeproofError:  # whatever check was meant
        return True


def _narrowed(rule: Rule | RejectedRule, partition: Partition) -> Rule | RejectedRule:
    column = _partition_column(rule)
    value = partition.get(column) if isinstance(partition, Mapping) else partition
    if isinstance(rule, RejectedRule) or not column or value is None:
        return rule
    text = partition_text(value)
    logic = replace(rule.logic, arguments={**rule.logic.arguments, "partition": text})
    return replace(
        rule,
        rule_id=logic.rule_id,
        logic=logic,
        arguments={**rule.arguments, "partition": text},
        # Told with the result: what one partition failed is not mended by another that passes.
        declared={**rule.declared, PARTITION: f"{column}={text}"},
    )
