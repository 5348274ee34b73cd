"""A rule that judges a row by other rows, bound to the tables that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lakeproof.checks.kinds import RelatedCheck
from lakeproof.checks.matching import column_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily
from lakeproof.model.names import TableName
from lakeproof.model.rule import Rule
from lakeproof.planning.fuse import within
from lakeproof.planning.keyed_rows import by_number, is_number, keyed_rows
from lakeproof.planning.places import Place, column_sql, find_place, observed_sql
from lakeproof.planning.plan import ParentSide, QueryStep
from lakeproof.planning.tables import PinnedTable, TableReader

Pin = Callable[[TableName], PinnedTable]

_ALONG_THE_TABLE = "it judges a row by its neighbours"
_LOOKED_UP = "its values are looked up in a list or another table"
_HIDDEN_THERE = "the column that it refers to is declared sensitive there"
_NESTED_KEY = "its key holds values that have parts"


@dataclass(frozen=True, slots=True)
class RelatedBinder:
    """Binds one such rule to the checked table. `pin` gives a table by the rule's name for it."""

    reader: TableReader
    pin: Pin
    checked: PinnedTable

    def bind(
        self, rule: Rule, check: RelatedCheck, places: Sequence[Place], filtered: str
    ) -> QueryStep:
        """The step that lists its bad rows; `filtered` is the rule's filter, '' if it has none."""
        pinned = self.checked
        columns = [place.column for place in places]
        lookup = _Lookup(self.reader, self.pin, pinned, within(filtered) or "true")
        violates = check.row_violates(columns, rule.arguments, lookup)
        if check.is_windowed:
            where = f" WHERE {within(filtered)}" if filtered else ""
            bad = (
                f"SELECT * FROM (SELECT *, ({violates}) AS _lakeproof_bad "
                f"FROM {pinned.relation}{where})\nWHERE _lakeproof_bad"
            )
        else:
            bad = f"SELECT * FROM {pinned.relation}\nWHERE {within(filtered, violates)}"
        key, observed = pinned.key_sql, observed_sql(pinned, places)
        if check.keyed_by_columns:
            key, observed = self.reader.key_sql(pinned, columns), "''"
        step = QueryStep(
            rule_id=rule.rule_id,
            what=rule.check,
            scope=filtered,
            sql=listed(f"SELECT {key} AS violation_key, {observed} AS observed FROM (\n{bad}\n)"),
            timeout_seconds=rule.timeout_seconds,
            violates=f"({lookup.scope}) AND ({violates})",
            key_sql=key,
            why_whole=_ALONG_THE_TABLE if check.is_windowed else _LOOKED_UP,
        )
        return self._with_parent(step, rule, check, columns)

    def _with_parent(
        self, step: QueryStep, rule: Rule, check: RelatedCheck, columns: Sequence[Column]
    ) -> QueryStep:
        """The step with both sides by key, where the rule refers to a key of another table."""
        referred = check.refers_to(rule.arguments)
        if referred is None:
            return step
        table, names = referred
        parent = self.pin(TableName.parse(table))
        theirs = [column_of(parent.columns, name, table) for name in names]
        if not _meet_by_text(columns, theirs):
            return replace(step, why_whole=_NESTED_KEY)
        renamed = [
            replace(other, name=column.name, path=other.path or (other.name,))
            for column, other in zip(columns, theirs, strict=True)
        ]
        # A value is hidden in the key of either side, or the two would never meet.
        roots = {column.name: (column.path or (column.name,))[0] for column in columns}
        hidden = {name for name, root in roots.items() if self.checked.is_sensitive(root)}
        secret = frozenset(other.path[0] for other in renamed if other.name in hidden)
        if any(other.path[0] in secret for other in renamed if other.name not in hidden):
            return replace(step, why_whole=_NESTED_KEY)
        if any(parent.is_sensitive(other.path[0]) for other in renamed if other.name not in hidden):
            return replace(step, why_whole=_HIDDEN_THERE)
        masked = replace(parent, sensitive=secret)
        own = keyed_rows(self.checked, columns, step.scope, step.key_sql)
        others = keyed_rows(masked, renamed, "", self.reader.key_sql(masked, renamed))
        if is_number(own, columns) and is_number(others, renamed):
            own, others = by_number(own, columns[0]), by_number(others, renamed[0])
        return replace(step, rows=own, parent=ParentSide(pinned=parent, rows=others))


def _meet_by_text(columns: Sequence[Column], theirs: Sequence[Column]) -> bool:
    """Whether equal values have equal canonical texts on both sides."""
    return not any(one.family is TypeFamily.OTHER or one.is_collated for one in (*columns, *theirs))


def listed(keyed: str) -> str:
    """Bad rows by key; several with one key are one row."""
    return (
        "SELECT violation_key, count(*) AS occurrences, count(*) AS excess, "
        f"min(observed) AS observed\nFROM ({keyed})\nGROUP BY violation_key"
    )


@dataclass(frozen=True, slots=True)
class _Lookup:
    """`checks.kinds.Lookup` over the tables of this run."""

    reader: TableReader
    pin: Pin
    checked: PinnedTable
    scope: str

    @property
    def key(self) -> str:
        return self.checked.key_sql

    def column(self, name: str) -> str:
        place = find_place(self.checked, name, "params")
        if place.loops:
            raise CheckDefinitionError(f"params: {name!r} has many values in one row")
        return column_sql(place.column)

    def table(self, name: str) -> tuple[str, tuple[Column, ...]]:
        found = self.pin(TableName.parse(name))
        if not found.relation:
            raise CheckDefinitionError(
                f"it refers to {found.table}, for which the frame stands. Check the table itself"
            )
        return found.relation, found.columns

    def values(self, values: Sequence[str], type_text: str) -> str:
        return self.reader.values_relation(values, type_text)
