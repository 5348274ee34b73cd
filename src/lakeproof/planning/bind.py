"""One rule bound to its table: its value found, its types tried, its SQL written."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.counted_rows import counting_query, is_counting
from lakeproof.checks.kinds import (
    ColumnCheck,
    KeyCheck,
    MeasureCheck,
    PairCheck,
    QueryCheck,
    RelatedCheck,
    RowCheck,
)
from lakeproof.checks.plug_in import PlugInCheck
from lakeproof.checks.sql_value import SqlValue
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.user_sql import QueryText, TableReference, parse_predicate, parse_query
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError
from lakeproof.model.column import Column, TypeFamily, folded
from lakeproof.model.names import TableName, quote
from lakeproof.model.rule import Rule
from lakeproof.planning.fuse import not_pushed_down, within
from lakeproof.planning.key_sql import key_step
from lakeproof.planning.linear import measurement
from lakeproof.planning.pairs.binding import bind_pair
from lakeproof.planning.pairs.steps import PairStep
from lakeproof.planning.places import (
    Place,
    any_element,
    bad_elements,
    find_place,
    observed_sql,
)
from lakeproof.planning.plan import (
    CallStep,
    KeyStep,
    Measurement,
    MeasureStep,
    QueryStep,
    Tally,
    ValueStep,
)
from lakeproof.planning.related import Pin, RelatedBinder, listed
from lakeproof.planning.tables import STAND_IN, PinnedTable, TableReader

DIALECT = "spark"

Bound = (
    Tally | KeyStep | QueryStep | MeasureStep | ValueStep | CallStep | PairStep | list[Measurement]
)


@dataclass(frozen=True, slots=True)
class RuleBinder:
    """Binds rules to columns. `pin` gives a table by the name that a rule uses for it.

    `resolve` completes such a name.
    """

    reader: TableReader
    pin: Pin
    now: datetime
    resolve: Callable[[TableName], TableName]

    def scope_of(self, pinned: PinnedTable, rule: Rule) -> str:
        """The rule's filter as it stands in SQL; '' if it has none."""
        if not rule.filter:
            return ""
        return self.vetted_scope(pinned, rule.filter, "filter")

    def vetted_scope(self, pinned: PinnedTable, condition: str, where: str) -> str:
        """A user's condition as it may stand in a WHERE clause, after it was found harmless."""
        columns = self._vetted(pinned, condition, where)
        return not_pushed_down(condition) if any(map(_holds_floats, columns)) else condition

    def bind(  # noqa: PLR0911 (one for each shape of check)
        self, pinned: PinnedTable, rule: Rule, scope: str, number: int
    ) -> Bound:
        """What the rule adds to the plan of its table; `number` makes its aliases unique."""
        check = find_check(rule.check).for_arguments(rule.arguments)
        if isinstance(check, PairCheck):
            return bind_pair(self, pinned, rule, scope)
        places = [find_place(pinned, name) for name in rule.columns]
        if isinstance(check, RowCheck):
            return self._tally(pinned, rule, check, places, scope, f"rule_{number}")
        if isinstance(check, QueryCheck):
            return self._user_query(pinned, rule, check.query(rule.arguments), scope)
        if isinstance(check, SqlValue):
            return self._value(pinned, rule, check, scope, f"rule_{number}")
        if isinstance(check, PlugInCheck):
            return _call(pinned, rule, scope)
        _refuse_elements(rule, places)
        columns = [place.column for place in places]
        if isinstance(check, KeyCheck):
            key = self.reader.key_sql(pinned, columns)
            nulls = check.nulls(rule.arguments)
            return key_step(pinned, rule.rule_id, columns, scope, key, nulls)
        if isinstance(check, MeasureCheck):
            return self._measures(pinned, rule, check, columns, scope, f"rule_{number}")
        if isinstance(check, RelatedCheck):
            related = RelatedBinder(self.reader, self.pin, pinned)
            return related.bind(rule, check, places, scope)
        raise CheckDefinitionError(f"check {rule.check!r} has a shape that cannot be planned")

    def _vetted(self, pinned: PinnedTable, condition: str, where: str) -> list[Column]:
        """The columns of a user's condition, after it was found harmless."""
        names = parse_predicate(condition).columns
        columns = [find_column(pinned, name, where) for name in names]
        self.reader.ensure_predicate(pinned, condition)
        return columns

    def _tally(
        self,
        pinned: PinnedTable,
        rule: Rule,
        check: RowCheck,
        places: Sequence[Place],
        scope: str,
        alias: str,
    ) -> Tally:
        condition = check.condition(rule.arguments)
        vetted = self._vetted(pinned, condition, "sql") if condition else []
        shown = [*places, *(Place(column, column) for column in vetted)]
        if not isinstance(check, ColumnCheck):
            _refuse_elements(rule, places)
        columns = [place.column for place in places]
        violates = check.row_violates(columns, rule.arguments, self.now).sql(DIALECT)
        if any(map(_holds_floats, vetted)):
            violates = not_pushed_down(violates)
        observed = observed_sql(pinned, shown)
        if not places or not places[0].loops:
            return Tally(rule.rule_id, alias, violates, scope, observed)
        place = places[0]
        hidden = pinned.is_sensitive(place.root.name)
        return Tally(
            rule_id=rule.rule_id,
            alias=alias,
            violates=any_element(place, violates),
            scope=scope,
            elements=bad_elements(place, violates, observed, is_hidden=hidden),
        )

    def _measures(
        self,
        pinned: PinnedTable,
        rule: Rule,
        check: MeasureCheck,
        columns: Sequence[Column],
        scope: str,
        alias: str,
    ) -> MeasureStep | list[Measurement]:
        condition, expression = check.condition(rule.arguments), check.expression(rule.arguments)
        if condition:
            self._vetted(pinned, condition, "sql")
        if expression:
            type_text = self.reader.expression_type(pinned, expression)
            columns = [*columns, Column(expression, type_text, sql=expression)]
        found = check.measures(columns, rule.arguments)
        own = check.needs_own_action(rule.arguments)
        only = f" FILTER (WHERE {within(scope)})" if scope and not own else ""
        taken = [
            measurement(
                Measurement(rule.rule_id, name, f"{alias}_{name}", f"{sql.sql(DIALECT)}{only}"),
                found,
                columns[0] if columns else None,
                only,
            )
            for name, sql in found.items()
        ]
        if not own:
            return taken
        items = ",\n       ".join(f"{item.sql} AS {item.alias}" for item in taken)
        where = f"\nWHERE {within(scope)}" if scope else ""
        return MeasureStep(
            rule_id=rule.rule_id,
            scope=scope,
            measurements=tuple(taken),
            sql=f"SELECT {items}\nFROM {pinned.relation}{where}",
            timeout_seconds=rule.timeout_seconds,
        )

    def _user_query(self, pinned: PinnedTable, rule: Rule, text: str, scope: str) -> QueryStep:
        self.reader.ensure_query(text)
        query = parse_query(text)
        sql = query.with_tables(lambda found: self._relation(found, pinned, scope))
        key = self.reader.query_key_sql(sql, pinned, self._keys_to_hide(pinned, query))
        return QueryStep(
            rule_id=rule.rule_id,
            what="query",
            scope=scope,
            sql=listed(f"SELECT {key} AS violation_key, '' AS observed FROM (\n{sql}\n)"),
            timeout_seconds=rule.timeout_seconds,
        )

    def _value(
        self, pinned: PinnedTable, rule: Rule, check: SqlValue, scope: str, alias: str
    ) -> ValueStep:
        text = check.query(rule.arguments)
        sql = self._pinned_query(text, pinned, scope)
        # Over a frame nothing is run, and there is no statement to ask for columns.
        if pinned.relation:
            check.require_one_value(self.reader.query_columns(sql))
        counts = f"SELECT * FROM (\n{sql}\n) AS query(value) LIMIT 2"
        taken = (
            Measurement(rule.rule_id, "rows", f"{alias}_rows", "count(*)"),
            Measurement(rule.rule_id, "value", f"{alias}_value", "any_value(value)"),
        )
        items = ", ".join(f"{item.sql} AS {item.alias}" for item in taken)
        is_bad = rule.comparison is not None or check.counts_bad_rows(rule.arguments)
        return ValueStep(
            rule_id=rule.rule_id,
            scope=scope,
            measurements=taken,
            sql=f"SELECT {items}\nFROM ({counts})",
            timeout_seconds=rule.timeout_seconds,
            rows_sql=self._counted_rows(text, pinned, scope) if is_bad and pinned.relation else "",
            may_show_secret=self._may_show_secret(text, pinned),
        )

    def _may_show_secret(self, text: str, pinned: PinnedTable) -> bool:
        """Whether a table of the query has sensitive columns; a count shows nothing of them."""
        named = (self.pin(TableName(table.parts)) for table in read_query(text).query.tables)
        return any(table.sensitive for table in (pinned, *named)) and not is_counting(text)

    def _pinned_query(self, text: str, pinned: PinnedTable, scope: str) -> str:
        """The query with every table where the run reads it, or where its own AS OF says."""
        travelling = read_query(text)
        self.reader.ensure_query(travelling.query.text)
        return travelling.query.with_tables(
            lambda found: self._relation(
                found, pinned, scope, travelling.clauses.get(found.end, "")
            )
        )

    def _counted_rows(self, text: str, pinned: PinnedTable, scope: str) -> str:
        """SQL that lists by key the rows which the query counts; '' if it does not count rows."""
        counting = counting_query(text)
        rows = (
            counting.rows_of(lambda found: self.pin(TableName(found.parts)).table == pinned.table)
            if counting
            else ""
        )
        if not rows:
            return ""
        try:
            sql = self._pinned_query(rows, pinned, scope)
            key = self.reader.query_key_sql(sql, pinned)
        except (CheckDefinitionError, UnsafeSqlError):
            # A semi join, for one, has no columns of its right side. The value stands without rows.
            return ""
        return listed(f"SELECT {key} AS violation_key, '' AS observed FROM (\n{sql}\n)")

    def _keys_to_hide(self, pinned: PinnedTable, query: QueryText) -> tuple[str, ...]:
        """The key columns, if one of them may hold what a column of the query must not show.

        What the query calls like a key may be anything; so may a column of a joined table.
        """
        tables = [pinned, *(self.pin(TableName(table.parts)) for table in query.tables)]
        secret = {folded(name) for table in tables for name in table.sensitive}
        doubtful = secret | {folded(name) for name in query.given_names} if secret else set()
        return pinned.key_columns if doubtful & set(map(folded, pinned.key_columns)) else ()

    def _relation(
        self, reference: TableReference, checked: PinnedTable, scope: str, as_of: str = ""
    ) -> str:
        """SQL that reads a query's table; `as_of` is the query's own time travel."""
        found = self.pin(TableName(reference.parts))
        if as_of and found.format == STAND_IN:
            raise CheckDefinitionError(
                f"{reference.parts[-1]} is a DataFrame or files: there is no history for {as_of}. "
                "Name a table that has one"
            )
        relation = f"{found.table.sql} {as_of}" if as_of else found.relation
        called = "" if reference.alias else f" AS {quote(reference.parts[-1])}"
        if found.table == checked.table and scope:
            return f"(SELECT * FROM {relation} WHERE {within(scope)}){called}"
        has_no_name = relation.startswith("(") or found.format == STAND_IN
        return f"{relation}{called}" if has_no_name else relation


def find_column(pinned: PinnedTable, name: str, where: str = "column_name") -> Column:
    """The column or field of that name, or an error that names the nearest ones."""
    return find_place(pinned, name, where).column


def _call(pinned: PinnedTable, rule: Rule, scope: str) -> CallStep:
    if not pinned.relation:
        raise CheckDefinitionError(
            "a plug-in judges the table as a whole. Check the table that the frame becomes"
        )
    return CallStep(
        rule_id=rule.rule_id,
        rule=rule,
        relation=pinned.relation,
        scope=scope,
        view=f"_lakeproof_called_{uuid.uuid4().hex[:12]}",
        timeout_seconds=rule.timeout_seconds,
    )


def _holds_floats(column: Column) -> bool:
    """Whether floating point numbers stand in the column, or anywhere inside it."""
    inside = [*column.fields, *(part for part in (column.element, column.map_key) if part)]
    return column.family is TypeFamily.FLOAT or any(map(_holds_floats, inside))


def _refuse_elements(rule: Rule, places: Sequence[Place]) -> None:
    for place in places:
        if place.loops:
            raise CheckDefinitionError(
                f"check {rule.check!r} as it stands here judges whole rows, and "
                f"{place.column.name!r} has many values in one row. Checks of one value, such as "
                "not_null, range or accepted_values with at most 1,000 values, take elements"
            )
