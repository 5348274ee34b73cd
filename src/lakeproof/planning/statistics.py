"""What file statistics decide of a table's scan, as one statement over one row per file.

For each rule and file the statistics say that no row is bad and how many rows count, or that the
file must be read. What they decide in every file is proven. The rest is scanned, over the files
that some rule needs; what the statistics know of the other files is added to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from lakeproof.checks.kinds import column_expression
from lakeproof.checks.literals import text_literal
from lakeproof.checks.moments import moment_number
from lakeproof.model.column import TypeFamily
from lakeproof.planning.plan import Measurement, TablePlan
from lakeproof.planning.possible import (
    ALWAYS,
    TRUE,
    ColumnFacts,
    FileFacts,
    Possible,
    both,
    either,
    parsed_sql,
    path_of,
    possible,
)

_TABLE_ROWS = "table_rows"
_READ = "`_lakeproof_is_read`"


@dataclass(frozen=True, slots=True)
class Decided:
    """What the statistics have decided.

    `values` holds, by alias, what a scan would have found for the rules that are `proven`. `rest`
    is what must be added to a scan of the `files_read` files that the other rules need.
    """

    files: int
    files_read: int
    proven: frozenset[str]
    values: Mapping[str, object]
    rest: Mapping[str, object]
    aggregates: Mapping[str, str]

    def completed(self, scanned: Mapping[str, object]) -> dict[str, object]:
        """What a scan of the whole table would have found, from one of the files read."""
        return {
            alias: _COMBINED[self.aggregates.get(alias, "count")](found, self.rest.get(alias))
            for alias, found in scanned.items()
        }


@dataclass(frozen=True, slots=True)
class StatisticsStep:
    """The statement, and how its one row is read. `needs` has the rules of each `need_` alias.

    `files` is a relation with one row per file, `added` what a file adds to the value of an alias,
    and `aggregates` how that is put together.
    """

    files: str
    path: str
    needs: Mapping[str, frozenset[str]]
    undecidable: frozenset[str]
    of_rule: Mapping[str, frozenset[str]]
    added: Mapping[str, str]
    aggregates: Mapping[str, str]

    @property
    def sql(self) -> str:
        """One row, whatever the number of files."""
        items = ["count(*) AS files", f"count_if({_READ}) AS files_read"]
        items += [f"count_if({alias}) AS {alias}" for alias in self.needs]
        for alias, added in self.added.items():
            items.append(self._value(alias, added, f"{alias}_all"))
            if not self.undecidable:
                items.append(self._value(alias, f"if({_READ}, NULL, {added})", f"{alias}_rest"))
        return "SELECT " + ",\n       ".join(items) + f"\nFROM {self.files}"

    @property
    def read_paths_sql(self) -> str:
        """The files that must be read."""
        return f"SELECT {self.path} AS path FROM {self.files} WHERE {_READ}"

    def sample_sql(self, files: int, seed: int, *, is_unread: bool, after: str = "") -> str:
        """So many files to look into, others for another seed; only such as are not read.

        With `after` those that follow this one.
        """
        place = f"xxhash64({self.path}, {seed}L)"
        among = [f"NOT {_READ}"] if is_unread else []
        if after:
            last = text_literal(after).sql("spark")
            left_off = f"xxhash64({last}, {seed}L)"
            among.append(f"({place} > {left_off} OR {place} = {left_off} AND {self.path} > {last})")
        where = f" WHERE {' AND '.join(among)}" if among else ""
        order = f"ORDER BY {place}, {self.path} LIMIT {files}"
        return f"SELECT {self.path} AS path FROM {self.files}{where} {order}"

    def values_sql(self, rule_ids: Iterable[str], paths: Sequence[str]) -> str:
        """What the statistics say of some files only, for rules that are proven."""
        aliases = sorted({alias for name in rule_ids for alias in self.of_rule[name]})
        items = [self._value(alias, self.added[alias], alias) for alias in aliases]
        names = ", ".join(text_literal(path).sql("spark") for path in paths)
        return f"SELECT {', '.join(items)} FROM {self.files} WHERE {self.path} IN ({names})"

    def _value(self, alias: str, added: str, name: str) -> str:
        """A count of nothing is 0, a sum of nothing NULL."""
        aggregate = self.aggregates[alias]
        found = f"coalesce(sum({added}), 0)" if aggregate == "count" else f"{aggregate}({added})"
        return f"{found} AS `{name}`"

    def read(self, row: Mapping[str, object]) -> Decided:
        needed = {
            name
            for alias, rule_ids in self.needs.items()
            if _count(row.get(alias))
            for name in rule_ids
        }
        proven = frozenset(self.of_rule) - needed - self.undecidable
        aliases = {alias for name in proven for alias in self.of_rule[name]}
        return Decided(
            files=_count(row["files"]),
            files_read=_count(row["files"] if self.undecidable else row["files_read"]),
            proven=proven,
            values={alias: row[f"{alias}_all"] for alias in aliases},
            rest={} if self.undecidable else {a: row[f"{a}_rest"] for a in self.aggregates},
            aggregates=self.aggregates,
        )


def mentioned_columns(plan: TablePlan) -> frozenset[tuple[str, ...]]:
    """The columns, and parts of columns, that the rules of a plan's scan name."""
    texts = [scope.filter for scope in plan.scan.scopes]
    texts += [tally.violates for tally in plan.scan.tallies if not tally.elements]
    texts += [taken.sql for taken in plan.scan.measurements]
    return frozenset(path for text in texts for path in _paths_in(text))


def _paths_in(text: str) -> Iterable[tuple[str, ...]]:
    parsed = parsed_sql(text)
    for node in parsed.find_all(exp.Dot, exp.Column) if parsed is not None else ():
        path = path_of(node)
        if path:
            yield path


def statistics_step(plan: TablePlan, facts: FileFacts) -> StatisticsStep | None:
    """The statement for the rules of a plan's scan; None if it could decide none of them."""
    draft = _Draft(plan, facts)
    for rule_id in dict.fromkeys(rule.rule_id for rule in plan.rules):
        draft.add(rule_id)
    return draft.step() if len(draft.undecidable) < len(draft.of_rule) else None


@dataclass(slots=True)
class _Draft:
    plan: TablePlan
    facts: FileFacts
    needs: dict[str, set[str]] = field(default_factory=dict)
    undecidable: set[str] = field(default_factory=set)
    of_rule: dict[str, frozenset[str]] = field(default_factory=dict)
    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By alias: the aggregate, and what one file adds to it."""

    def add(self, rule_id: str) -> None:
        rows = self.facts.live_rows
        scope, alias = self._scope(rule_id)
        need = both(scope.true, either(scope.not_true, f"{rows} IS NULL"))
        self.known[_TABLE_ROWS] = ("count", rows)
        if alias:
            self.known[alias] = ("count", f"if({scope.true}, {rows}, 0)")
        aliases = {alias, _TABLE_ROWS} - {""}
        for tally in self.plan.scan.tallies:
            if tally.rule_id == rule_id:
                bad = self._possible(tally.violates, rule_id)
                need = either(need, TRUE if tally.elements else both(scope.true, bad.true))
                self.known[tally.alias] = ("count", "0")
                aliases.add(tally.alias)
        for taken in self.plan.scan.measurements:
            if taken.rule_id == rule_id:
                aggregate, added, missing = self._measured(taken, scope)
                need = either(need, missing)
                self.known[taken.alias] = (aggregate, added)
                aliases.add(taken.alias)
        self.of_rule[rule_id] = frozenset(aliases)
        # Without the rows of every file nothing is known of the table's rows.
        need = either(need, f"{rows} IS NULL")
        if need == TRUE:
            self.undecidable.add(rule_id)
        else:
            self.needs.setdefault(need, set()).add(rule_id)

    def step(self) -> StatisticsStep:
        named = {f"need_{at}": need for at, need in enumerate(self.needs)}
        flags = ", ".join(f"{need} AS {alias}" for alias, need in named.items())
        is_read = either(*named)
        files = (
            f"(SELECT *, {TRUE if self.undecidable else is_read} AS {_READ}\n"
            f"FROM (SELECT *, {flags} FROM {self.facts.relation}))"
        )
        return StatisticsStep(
            files=files,
            path=self.facts.path,
            needs={alias: frozenset(self.needs[need]) for alias, need in named.items()},
            undecidable=frozenset(self.undecidable),
            of_rule=self.of_rule,
            added={alias: added for alias, (_, added) in self.known.items()},
            aggregates={alias: aggregate for alias, (aggregate, _) in self.known.items()},
        )

    def _scope(self, rule_id: str) -> tuple[Possible, str]:
        for scope in self.plan.scan.scopes:
            if rule_id in scope.rule_ids:
                return self._possible(scope.filter, rule_id), scope.alias
        return ALWAYS, ""

    def _possible(self, condition: str, rule_id: str) -> Possible:
        return possible(condition, self.facts, is_clocked=rule_id in self.plan.clocked)

    def _measured(self, taken: Measurement, scope: Possible) -> tuple[str, str, str]:
        """The aggregate, what a file adds to it, and when the file must be read for it."""
        unknown = "sum", "CAST(NULL AS BIGINT)", TRUE
        found = parsed_sql(taken.sql)
        if found is None:
            return unknown
        of = found.this if isinstance(found, exp.Filter) else found
        if isinstance(of, exp.Max | exp.Min) and not of.expressions:
            return self._extreme(of, scope) or unknown
        if isinstance(of, exp.Count) and not of.expressions:
            return self._counted(of, scope) or unknown
        return self._summed(of, scope, taken.rule_id) or unknown

    def _extreme(self, of: exp.Expr, scope: Possible) -> tuple[str, str, str] | None:
        column = self._column_in(of.this)
        if column is None:
            return None
        is_max = isinstance(of, exp.Max)
        bound = column.high if is_max else column.low
        value = _with_bound(of.this, column, bound)
        if value is None:
            return None
        doubt = either(
            scope.not_true,
            f"NOT coalesce({column.is_exact}, false)",
            f"NOT coalesce({self._is_whole}, false)",
        )
        if column.column.family is TypeFamily.FLOAT:  # which zero; and NaN is above every number
            is_nan = f" OR {column.nans} > 0" if is_max else ""
            doubt = either(doubt, f"coalesce({bound} = 0{is_nan}, true)")
        has_value = f"NOT coalesce({column.nulls} = {self.facts.rows}, false)"
        present = both(scope.true, has_value)
        return "max" if is_max else "min", f"if({present}, {value}, NULL)", both(present, doubt)

    def _counted(self, of: exp.Expr, scope: Possible) -> tuple[str, str, str] | None:
        rows = self.facts.live_rows
        if isinstance(of.this, exp.Star):
            return "count", f"if({scope.true}, {rows}, 0)", both(scope.true, scope.not_true)
        column = self._column_in(of.this)
        if column is None or of.this.sql("spark") != _plain(column):
            return None
        doubt = either(f"{column.nulls} IS NULL", f"NOT coalesce({self._is_whole}, false)")
        added = f"if({scope.true}, {rows} - {column.nulls}, 0)"
        return "count", added, both(scope.true, either(scope.not_true, doubt))

    def _summed(self, of: exp.Expr, scope: Possible, rule_id: str) -> tuple[str, str, str] | None:
        """`sum(CASE WHEN condition THEN 1 ELSE 0 END)`: rows that fulfil the condition."""
        case = of.this if isinstance(of, exp.Sum) else None
        if not isinstance(case, exp.Case) or case.this or len(case.args["ifs"]) != 1:
            return None
        branch, otherwise = case.args["ifs"][0], case.args.get("default")
        if branch.args["true"].sql() != "1" or otherwise is None or otherwise.sql() != "0":
            return None
        rows = self.facts.live_rows
        holds = self._possible(branch.this.sql("spark"), rule_id)
        added = f"if({scope.true} AND {rows} > 0, if({holds.true}, {rows}, 0), NULL)"
        doubt = either(scope.not_true, holds.not_true)
        return "sum", added, both(scope.true, holds.true, doubt)

    @property
    def _is_whole(self) -> str:
        """Whether no row of the file is deleted."""
        return f"{self.facts.live_rows} = {self.facts.rows}"

    def _column_in(self, value: exp.Expr) -> ColumnFacts | None:
        """The one column that an expression is of, if there are statistics of it."""
        paths = {path for node in value.find_all(exp.Dot, exp.Column) if (path := path_of(node))}
        longest = max(paths, key=len, default=())
        return self.facts.of(longest)


def _plain(column: ColumnFacts) -> str:
    return column_expression(column.column).sql("spark")


def _with_bound(value: exp.Expr, column: ColumnFacts, bound: str) -> str | None:
    """The expression at the bound; only for the column itself, and a moment as a number."""
    text = value.sql("spark")
    if text == _plain(column):
        return bound
    if column.column.family.is_moment and text == moment_number(column.column).sql("spark"):
        return text.replace(_plain(column), bound)
    return None


def _count(value: object) -> int:
    return int(str(value or 0))


def _present(values: Iterable[object]) -> Sequence[object]:
    return [value for value in values if value is not None]


def _sum(*values: object) -> object:
    numbers = [int(str(value)) for value in _present(values)]
    return sum(numbers) if numbers else None


def _chosen(choose: Callable[..., object]) -> Callable[..., object]:
    """The least or greatest as Spark has it: NaN is above every number."""

    def chosen(*values: object) -> object:
        found = _present(values)
        return choose(found, key=lambda value: (value != value, value)) if found else None  # noqa: PLR0124

    return chosen


_COMBINED: Mapping[str, Callable[..., object]] = {
    "count": _sum,
    "sum": _sum,
    "min": _chosen(min),
    "max": _chosen(max),
}
