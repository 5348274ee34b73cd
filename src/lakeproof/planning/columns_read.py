"""Which columns of a table a rule may read: never fewer than it does, now and then more.

By the texts in which the rule counts: a column is read wherever its name stands in one of them as
a word, be it in a literal. Where a name need not be written to be read, every column is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lakeproof.model.column import Column, folded
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.shapes import counting_texts, parent_texts

_UNNAMED = re.compile(
    r"""(?:^|[^\s\w)\]}`'"])\s*\*   # a star that multiplies nothing
      | \b(?:distinct|all)\s*\*
      | \b(?:select|identifier)\b
      | --                          # what a comment hides
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Signs of SQL that may read columns without their names."""


def columns_read(plan: TablePlan, rule_id: str) -> frozenset[str]:
    """Columns of the checked table, by its names for them."""
    return named_in(plan.pinned.columns, counting_texts(plan, rule_id))


def parent_columns_read(plan: TablePlan, rule_id: str) -> frozenset[str]:
    """Columns of the table that the rule refers to."""
    parent = plan.parents.get(rule_id)
    return named_in(parent.columns if parent else (), parent_texts(plan, rule_id))


def named_in(columns: Iterable[Column], texts: Iterable[str]) -> frozenset[str]:
    """The columns that these pieces of SQL may read."""
    text = folded("\n".join(texts))
    is_everything = _UNNAMED.search(text) is not None
    return frozenset(
        column.name for column in columns if is_everything or _stands_in(text, column.name)
    )


def _stands_in(text: str, name: str) -> bool:
    """Whether the name is in the text, and not merely inside of a longer word."""
    wanted = {folded(name), folded(name.replace("`", "``"))}
    return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in wanted)
