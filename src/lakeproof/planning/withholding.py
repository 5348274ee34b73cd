"""Rules whose numbers must not be told, for a column is declared sensitive."""

from __future__ import annotations

from lakeproof.checks.catalogue import find_check
from lakeproof.model.rule import Rule
from lakeproof.planning.places import find_place
from lakeproof.planning.plan import TablePlan


def is_withheld(rule: Rule, plan: TablePlan) -> bool:
    """Whether the verdict, or what it is made of, may hold a value of a sensitive column.

    An expression may name any column, so one over a table with sensitive columns counts.
    """
    if rule.rule_id in plan.withheld:
        return True
    check, pinned = find_check(rule.check), plan.pinned
    if not pinned.sensitive or not check.may_show_values(rule.arguments):
        return False
    roots = [find_place(pinned, name).root.name for name in rule.columns]
    return (
        not roots
        or bool(check.expression(rule.arguments))
        or any(pinned.is_sensitive(name) for name in roots)
    )
