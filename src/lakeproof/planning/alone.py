"""Whether a rule reads its own table only."""

from __future__ import annotations

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import PairCheck, QueryCheck
from lakeproof.checks.plug_in import PlugInCheck
from lakeproof.checks.sql_value import SqlValue
from lakeproof.checks.time_travel import read_query
from lakeproof.errors import LakeproofError
from lakeproof.model.rule import Rule


def reads_alone(rule: Rule) -> bool:
    """Whether nothing but the rule's own table, at its pinned position, decides the answer."""
    check = find_check(rule.check).for_arguments(rule.arguments)
    if isinstance(check, PairCheck | PlugInCheck) or check.table_parameters:
        return False
    if not isinstance(check, QueryCheck | SqlValue):
        return True
    try:
        query = read_query(check.query(rule.arguments))
    except LakeproofError:
        return False
    own = [part.casefold() for part in rule.table.parts]
    return not query.clauses and all(
        own[-len(table.parts) :] == [part.casefold() for part in table.parts]
        for table in query.query.tables
    )
