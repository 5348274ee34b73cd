"""Which columns of two tables are compared with which, and under what type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from decimal import Decimal
from fnmatch import fnmatchcase

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column, TypeFamily, folded
from lakeproof.model.names import quote
from lakeproof.model.nearest import nearest
from lakeproof.planning.pairs.hashing import BoundColumn
from lakeproof.planning.pairs.options import CompareOptions
from lakeproof.planning.pairs.steps import PairColumn
from lakeproof.planning.pairs.types import (
    common_type,
    converted_sql,
    key_cast_sql,
    key_in_zone_sql,
    key_obstacle,
    loses_digits,
    needs_zone,
    obstacle,
)
from lakeproof.planning.pairs.values import (
    EXACT,
    Rounding,
    equal_sql,
    normalized_text_sql,
    require_sortable,
    rounded_sql,
    tolerance_obstacle,
)
from lakeproof.planning.tables import PinnedTable

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """A column that the two tables do not have alike.

    `difference` is `missing_in_source`, `incompatible` (both leave a column uncompared),
    `compared_as_double` or `only_in_source`. A type is '' where the column is not there.
    """

    column: str
    difference: str
    source: str
    target: str
    detail: str

    @property
    def is_left_out(self) -> bool:
        """Whether a column of the target is not compared for it."""
        return self.difference in {"missing_in_source", "incompatible"}


@dataclass(slots=True)
class ColumnPairs:
    """The columns to compare, and what came of the others."""

    bound: list[BoundColumn] = field(default_factory=list)
    excluded: dict[str, str] = field(default_factory=dict)
    differences: list[SchemaDifference] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ColumnBinder:
    """Pairs the columns of two tables by their names; letter case does not matter."""

    source: PinnedTable
    target: PinnedTable
    options: CompareOptions

    def ensure_known(self) -> None:
        """Refuse a parameter that names a column which neither table has."""
        columns = [*self.target.columns, *self.source.columns]
        for parameter, names in self.options.by_column.items():
            for name in names:
                if self.source.column(name) is None and self.target.column(name) is None:
                    raise CheckDefinitionError(
                        f"{parameter}: no column {name!r} in either table. {_near(name, columns)}"
                    )
        for pattern in self.options.excluded:
            if not any(_matches(column.name, pattern) for column in columns):
                what = "that matches" if _GLOB & set(pattern) else ""
                raise CheckDefinitionError(
                    f"exclude_columns: no column {f'{what} {pattern!r}'.strip()} in either table. "
                    f"{_near(pattern, columns)}"
                )

    def keys(self) -> tuple[BoundColumn, ...]:
        """The key's columns, in the order in which they are named."""
        return tuple(map(self._key, self.options.keys))

    def columns(self, named: Sequence[str]) -> ColumnPairs:
        """The columns to compare, by name: those that are `named`, or all of the target's."""
        found = ColumnPairs()
        keys = set(map(folded, self.options.keys))
        chosen = [_found(self.target, "target", name, "columns") for name in named]
        for target in sorted(chosen or self.target.columns, key=_name):
            if _name(target) in keys:
                continue
            why = self._why_excluded(target.name, is_named=bool(named))
            if why:
                found.excluded[target.name] = why
            else:
                self._add(found, target)
        if not named:
            found.differences += self._only_in_source()
        self._require_compared(found, is_named=bool(named))
        return found

    def _require_compared(self, found: ColumnPairs, *, is_named: bool) -> None:
        """Refuse a comparison that leaves out what was asked for, and would not fail for it."""
        left_out = dict(found.excluded)
        if self.options.may_lack_columns:
            left_out |= {one.column: one.detail for one in found.differences if one.is_left_out}
        if is_named and left_out:
            name, why = next(iter(left_out.items()))
            raise CheckDefinitionError(
                f"columns: {name!r} is asked for, but would not be compared: {why}. Take it out of "
                "columns, or remove what keeps it from being compared"
            )
        would_fail = not self.options.may_lack_columns and any(
            one.is_left_out for one in found.differences
        )
        has_others = len(self.target.columns) > len(self.options.keys)
        if has_others and not found.bound and not would_fail:
            raise CheckDefinitionError(
                f"no column is left to compare in {self.target.table} beside the key. For the "
                "keys alone there is key_parity"
            )

    def _add(self, found: ColumnPairs, target: Column) -> None:
        source = self.source.column(target.name)
        if source is None:
            types = ("", target.type_text)
            common, kind, detail = None, "missing_in_source", "the source has no such column"
        else:
            types = (source.type_text, target.type_text)
            common, kind, detail = _meet(source, target, self.options.assume_timezone)
        if kind:
            found.differences.append(SchemaDifference(target.name, kind, *types, detail))
        if source and common:
            found.bound.append(self._column(source, target, common))

    def _column(self, source: Column, target: Column, common: Column) -> BoundColumn:
        name, options = folded(target.name), self.options
        tolerance = options.tolerances.get(name)
        # A tolerance says itself how near is near enough: beside it, all digits count. Decimals
        # that had to become doubles have lost digits already.
        is_whole = tolerance is not None or _lose_digits(source, target, common)
        rounding = Rounding(
            float_precision=None if is_whole else options.float_precision,
            timestamp_precision=options.timestamp_precision,
            is_unordered=name in options.unordered,
        )
        if rounding.is_unordered:
            require_sortable(common)
        if tolerance and (problem := tolerance_obstacle(common, tolerance)):
            raise CheckDefinitionError(f"column_tolerances: {target.name!r}: {problem}")
        if tolerance and not any(map(Decimal, filter(None, astuple(tolerance)))):
            tolerance = None
        is_rounded = common.family is TypeFamily.FLOAT and rounding.float_precision is not None
        values = [self._value(own, common) for own in (source, target)]
        pair = replace(
            self._pair(source, target, common, values),
            equal_sql=equal_sql(common, rounding, tolerance),
            is_exact=tolerance is None and not is_rounded,
            tolerance=tolerance,
        )
        return BoundColumn(pair, common, rounding)

    def _key(self, name: str) -> BoundColumn:
        source = _found(self.source, "source", name, "key_columns")
        target = _found(self.target, "target", name, "key_columns")
        cast = self.options.key_casts.get(folded(target.name))
        common = Column(target.name, cast) if cast else self._common_key(source, target)
        if problem := key_obstacle(common):
            raise CheckDefinitionError(f"key_columns: {name!r} cannot be a key: {problem}")
        # A key is told by its value, so what does not count is gone before it is one.
        rounding = Rounding(timestamp_precision=self.options.timestamp_precision)
        values, castable = [], []
        for side, own in (("source", source), ("target", target)):
            if not cast or own.type_text == cast:
                value = self._value(own, common)
            elif needs_zone(own, common):
                value = self._key_in_zone(own, common, side)
            else:
                read, is_castable = key_cast_sql(own, cast)
                value = self._normalized(read, common)
                castable.append((side, is_castable))
            values.append(rounded_sql(value, common, rounding))
        return BoundColumn(
            self._pair(source, target, common, values), common, EXACT, tuple(castable)
        )

    def _key_in_zone(self, own: Column, common: Column, side: str) -> str:
        """A local date or time of the key as a moment; the session's zone has no say in it."""
        zone = self.options.assume_timezone
        is_moment = common.family is TypeFamily.TIMESTAMP
        if zone and is_moment and own.family is not TypeFamily.STRING:
            return key_in_zone_sql(own, zone)
        raise CheckDefinitionError(
            f"key_cast: {own.name!r} is {own.type_text.upper()} in the {side} table; as "
            f"{common.type_text.upper()} it would be another value in another zone. "
            f"{_zone_advice(own, common)}"
        )

    def _common_key(self, source: Column, target: Column) -> Column:
        common, kind, detail = _meet(source, target, self.options.assume_timezone)
        if common and not kind:
            return common
        types = [source.type_text, target.type_text]
        example = next((text for text in types if not text.startswith("string")), "string")
        advice = f"Say what to read both as, such as key_cast={{{target.name!r}: {example!r}}}"
        if needs_zone(source, target):
            advice = _zone_advice(source, target)
        raise CheckDefinitionError(
            f"key_columns: {target.name!r} is {source.type_text.upper()} in the source "
            f"{self.source.table} and {target.type_text.upper()} in the target "
            f"{self.target.table}: {detail}. {advice}"
        )

    def _value(self, own: Column, common: Column) -> str:
        value = converted_sql(quote(own.name), own, common, self.options.assume_timezone)
        return self._normalized(value, common)

    def _normalized(self, value: str, common: Column) -> str:
        functions = self.options.text_functions.get(folded(common.name), ())
        if functions and common.family is not TypeFamily.STRING:
            raise CheckDefinitionError(
                f"normalize: {common.name!r} is {common.type_text.upper()}; only texts are "
                "trimmed, folded or composed"
            )
        return normalized_text_sql(value, functions)

    def _pair(
        self, source: Column, target: Column, common: Column, values: Sequence[str]
    ) -> PairColumn:
        is_hidden = self.source.is_sensitive(source.name) or self.target.is_sensitive(target.name)
        return PairColumn(
            name=target.name,
            source=source,
            target=target,
            type_text=common.type_text,
            source_sql=values[0],
            target_sql=values[1],
            equal_sql=equal_sql(common, EXACT, None),
            is_hidden=is_hidden,
        )

    def _why_excluded(self, name: str, *, is_named: bool) -> str:
        for pattern in self.options.excluded:
            if _matches(name, pattern):
                return f"exclude_columns: {pattern}"
        patterns = () if is_named else self.options.metadata_patterns
        found = next((pattern for pattern in patterns if _matches(name, pattern)), None)
        return f"metadata_patterns: {found}" if found else ""

    def _only_in_source(self) -> list[SchemaDifference]:
        return [
            SchemaDifference(
                column.name, "only_in_source", column.type_text, "", "the target has no such column"
            )
            for column in sorted(self.source.columns, key=_name)
            if self.target.column(column.name) is None
            and not self._why_excluded(column.name, is_named=False)
        ]


def _meet(source: Column, target: Column, assume_timezone: str) -> tuple[Column | None, str, str]:
    """The common type, and what is different if that says less than the two do, with the reason."""
    problem = obstacle(source) or obstacle(target)
    common = None if problem else common_type(source, target, assume_timezone)
    if common is None:
        detail = problem or "no type holds the values of both without loss"
        if {source.family, target.family} == {TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMP_NTZ}:
            detail = "which moment a TIMESTAMP_NTZ is, only assume_timezone can say"
        return None, "incompatible", detail
    if _lose_digits(source, target, common):
        detail = "no decimal holds the digits of both, so they are compared as doubles"
        return common, "compared_as_double", detail
    return common, "", ""


def _lose_digits(source: Column, target: Column, common: Column) -> bool:
    return any(loses_digits(own, common) for own in (source, target))


def _zone_advice(one: Column, other: Column) -> str:
    """How a key that is a moment on one side only can be read on both."""
    if TypeFamily.STRING in {one.family, other.family}:
        return "Give one of the tables a view that casts it"
    return (
        f"Give assume_timezone, the zone of the local times, with "
        f"key_cast={{{other.name!r}: 'timestamp'}}"
    )


def _found(pinned: PinnedTable, side: str, name: str, parameter: str) -> Column:
    column = pinned.column(name)
    if column is None:
        raise CheckDefinitionError(
            f"{parameter}: no column {name!r} in the {side} table {pinned.table}. "
            f"{_near(name, pinned.columns)}"
        )
    return column


def _near(name: str, columns: Sequence[Column]) -> str:
    known = list(dict.fromkeys(column.name for column in columns))
    return f"Nearest: {', '.join(nearest(name, known) or known[:5])}."


def _matches(name: str, pattern: str) -> bool:
    return folded(name) == folded(pattern) or fnmatchcase(folded(name), folded(pattern))


def _name(column: Column) -> str:
    return folded(column.name)
