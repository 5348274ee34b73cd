"""SQL in a contract: a query that returns one value, or a condition on each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeproof.checks.counted_rows import is_counting
from lakeproof.checks.time_travel import read_query
from lakeproof.checks.user_sql import parse_predicate
from lakeproof.contracts.contract import Object, Server
from lakeproof.contracts.dialects import dialect_of, quoted, spark_condition, spark_sql
from lakeproof.contracts.draft import Draft, Placed, Setting, error
from lakeproof.contracts.placeholders import (
    COLUMN_NAMES,
    PLACE_NAMES,
    RESERVED,
    TABLE_NAMES,
    fill,
    fill_sql,
    placeholders_in,
    unset_variables,
    without_values,
)
from lakeproof.errors import CheckDefinitionError, LakeproofError
from lakeproof.model.comparison import Comparison, Unit
from lakeproof.model.names import TableName
from lakeproof.model.value_path import has_elements, read_path


def sql_drafts(placed: Placed, query: object, comparison: Comparison | None) -> list[Draft]:
    """The rule of a query; without operators its value must be true."""
    try:
        return [_query_draft(placed.setting, _text(query, "query"), comparison or Comparison())]
    except LakeproofError as problem:
        return [error(without_values(str(problem), query, placed.setting.variables))]


def predicate_drafts(
    placed: Placed, predicate: object, comparison: Comparison | None
) -> list[Draft]:
    """The rule of a condition that good rows fulfil: raw SQL under the old key `rule`."""
    try:
        return [_predicate_draft(placed.setting, _text(predicate, "rule"), comparison)]
    except LakeproofError as problem:
        return [error(without_values(str(problem), predicate, placed.setting.variables))]


def row_filter(setting: Setting, given: str) -> str:
    """A filter of the contract for Spark: placeholders filled in, read in the server's dialect."""
    names = _Names.of(setting)
    try:
        return spark_condition(names.fill(given), names.dialect)
    except LakeproofError as problem:
        told = without_values(str(problem), given, setting.variables)
        raise CheckDefinitionError(told) from None


def _text(given: object, key: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise CheckDefinitionError(f"{key} must be SQL text, and is {type(given).__name__}")
    return given


def _query_draft(setting: Setting, given: str, comparison: Comparison) -> Draft:
    names = _Names.of(setting)
    filled = names.fill(given)
    found = spark_sql(filled, names.dialect, names.table_of)
    read_query(found.sql)
    if comparison.unit is Unit.PERCENT and not is_counting(found.sql):
        raise CheckDefinitionError(
            "unit percent needs a query that counts rows, such as SELECT count(*) FROM ... "
            "WHERE ...: of anything else it is not known what 100 % are"
        )
    choices, notes = names.shown(given, found.sql)
    if found.other_tables:
        others = ", ".join(found.other_tables)
        choices["other_tables"] = without_values(others, given, setting.variables)
    return Draft(
        check="sql_value",
        params={"sql": found.sql},
        comparison=comparison,
        notes=(*found.notes, *notes),
        choices=choices,
    )


def _predicate_draft(setting: Setting, given: str, comparison: Comparison | None) -> Draft:
    names = _Names.of(setting)
    condition = spark_condition(names.fill(given), names.dialect)
    parse_predicate(condition)
    choices, notes = names.shown(given, condition)
    return Draft(
        check="row_expression",
        params={"expression": condition},
        comparison=comparison,
        notes=("SQL under rule: is read as a condition that every row fulfils", *notes),
        choices=choices,
    )


@dataclass(frozen=True, slots=True)
class _Names:
    """What the names in a rule's SQL mean, and in which dialect they are written."""

    setting: Setting
    server: Server | None
    dialect: str

    @classmethod
    def of(cls, setting: Setting) -> _Names:
        server = setting.server or next(iter(setting.contract.servers), None)
        return cls(setting, server, dialect_of(server, setting.settings.sql_dialect))

    def fill(self, text: str) -> str:
        """The text with its placeholders filled in, quoted where they stand in code."""
        part = self.setting.part
        is_inside = part is not None and has_elements(part.path)
        if is_inside and placeholders_in(text) & set(COLUMN_NAMES):
            raise CheckDefinitionError(
                "${column} has many values in one row here, inside an array or a map. Write the "
                "query with explode() over the column's name"
            )
        plain = self._plain()
        return fill_sql(
            text, names=plain, sql=self._quoted(plain), variables=self.setting.variables
        )

    def table_of(self, parts: tuple[str, ...]) -> TableName | None:
        """The table of the object that a name in the query means."""
        owner = self._object(parts)
        if owner is None:
            return self.setting.given.get(".".join(parts))
        return self.setting.table_of(owner.name)

    def shown(self, given: str, runs: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """Both texts, as results keep them, and the notes about them.

        Values of variables may be secret: a text that holds them is not kept.
        """
        choices = {"sql_dialect": self.dialect, "query": given}
        if placeholders_in(given) - RESERVED:
            told = "its SQL holds values of variables, so only its text before them is kept here"
            return choices, (told,)
        if runs != given.strip().rstrip(";"):
            choices["spark_query"] = runs
        return choices, ()

    def _object(self, parts: tuple[str, ...]) -> Object | None:
        """By the whole name, else by its last part where the server says the ones before it."""
        contract = self.setting.contract
        whole = ".".join(parts)
        places = {value.lower() for value in self._places().values()}
        is_here = all(part.lower() in places for part in parts[:-1])
        for name in (whole, parts[-1]) if is_here else (whole,):
            if found := contract.object_named(name):
                return found
            for owner in contract.objects:  # bare names in SQL do not know letter case
                if name.lower() in {owner.name.lower(), self._known_physical(owner).lower()}:
                    return owner
        return None

    def _physical(self, owner: Object) -> str:
        written = owner.physical_name or owner.name
        return fill(written, reserved={}, variables=self.setting.variables)

    def _known_physical(self, owner: Object) -> str:
        """The same of any object: a fault in the name of another is not this rule's error."""
        is_unset = unset_variables(owner.physical_name, self.setting.variables)
        return owner.physical_name if is_unset else self._physical(owner)

    def _plain(self) -> dict[str, str]:
        """The bare name behind each reserved word that means something here."""
        setting = self.setting
        found = dict(self._places())
        if setting.owner is not None:
            found |= dict.fromkeys(TABLE_NAMES, self._physical(setting.owner))
        if setting.part is not None:
            found |= dict.fromkeys(COLUMN_NAMES, setting.part.path)
        return found

    def _quoted(self, plain: Mapping[str, str]) -> dict[str, str]:
        """The same in the dialect's quotes.

        A table is written as its object's name, which `table_of` finds again whatever its
        physical name holds.
        """
        owner, part = self.setting.owner, self.setting.part
        found = {
            name: quoted((plain[name],), self.dialect) for name in PLACE_NAMES if name in plain
        }
        if owner is not None:
            found |= dict.fromkeys(TABLE_NAMES, quoted((owner.name,), self.dialect))
        if part is not None:
            path = tuple(name for name, _ in read_path(part.path)) or (part.path,)
            found |= dict.fromkeys(COLUMN_NAMES, quoted(path, self.dialect))
        return found

    def _places(self) -> dict[str, str]:
        """What the server says of where its tables are, as far as its variables are set."""
        raw = self.server.raw if self.server is not None else {}
        given = {name: raw.get(name) for name in PLACE_NAMES}
        variables = self.setting.variables
        return {
            name: fill(value, reserved={}, variables=variables)
            for name, value in given.items()
            if isinstance(value, str) and value and not unset_variables(value, variables)
        }
