"""A comparison of rows, or of keys alone, bound to both tables."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace

from lakeproof.model.column import TypeFamily, folded
from lakeproof.model.pairing import Method, NullKeyPolicy
from lakeproof.model.printable import counted
from lakeproof.model.rule import Rule
from lakeproof.planning.pairs.columns import ColumnBinder, ColumnPairs
from lakeproof.planning.pairs.hashing import BoundColumn, Hashing
from lakeproof.planning.pairs.options import CompareOptions, options_of
from lakeproof.planning.pairs.scopes import PairScopes, partition_scope, positions_read
from lakeproof.planning.pairs.steps import CompareStep, Side
from lakeproof.planning.pairs.types import leaves
from lakeproof.planning.tables import PinnedTable, TableReader

_KEYS_ONLY = "key_parity"
_NTZ = TypeFamily.TIMESTAMP_NTZ
_ZONED = frozenset({TypeFamily.TIMESTAMP, _NTZ})
_KEEP_FILES = frozenset({"iceberg", "delta"})


def bind_compare(
    rule: Rule, target: PinnedTable, source: PinnedTable, reader: TableReader, scopes: PairScopes
) -> CompareStep:
    """The step that compares the two tables by their key."""
    options = options_of(rule.arguments)
    as_sets = rule.check == _KEYS_ONLY
    binder = ColumnBinder(source, target, options)
    binder.ensure_known()
    keys = binder.keys()
    pairs = ColumnPairs() if as_sets else binder.columns(rule.columns)
    hashing = Hashing(
        keys, tuple(pairs.bound), options.algorithm, reader.text_sql, options.sample_parts
    )
    sides = (
        hashing.side("source", source, scopes.source),
        hashing.side("target", target, scopes.target),
    )
    method, reason = _method(options, keys, sides, as_sets=as_sets)
    columns = tuple(bound.pair for bound in pairs.bound)
    step = CompareStep(
        rule_id=rule.rule_id,
        source=sides[0],
        target=sides[1],
        keys=tuple(bound.pair for bound in keys),
        columns=columns,
        algorithm=options.algorithm,
        duplicates=options.duplicates,
        null_keys=options.null_keys,
        method=method,
        method_reason=reason,
        view=f"_lakeproof_pair_{uuid.uuid4().hex[:12]}",
        row_limit=options.row_limit,
        as_sets=as_sets,
        shares_files=method is Method.CELLS and _may_share_files(options, sides),
        timeout_seconds=rule.timeout_seconds,
        notes={
            "source_sql": sides[0].sql,
            "target_sql": sides[1].sql,
            "key_columns": [bound.pair.name for bound in keys],
            "columns": [column.name for column in columns],
            "excluded_columns": pairs.excluded,
            "normalization": {
                bound.pair.name: _normalization(bound, options) for bound in (*keys, *pairs.bound)
            },
            "positions": positions_read(source, target),
            "planned_method": str(method),
            "method_reason": reason,
            "schema_differences": [asdict(one) for one in pairs.differences],
            "partition_scope": partition_scope(rule),
            "sample": rule.arguments.get("sample"),
            "limit": options.row_limit,
        },
    )
    return replace(step, notes={**step.notes, "plan": _plan_text(step)})


def _method(
    options: CompareOptions,
    keys: tuple[BoundColumn, ...],
    sides: tuple[Side, Side],
    *,
    as_sets: bool,
) -> tuple[Method, str]:
    """How to compare, and why so."""
    if as_sets:
        return Method.HASH_JOIN, "keys are compared as sets"
    if options.method is not None:
        return options.method, "the rule asks for it"
    source, target = (side.pinned for side in sides)
    is_same = source.table_id == target.table_id and source.location == target.location
    is_one = is_same and source.position == target.position is not None
    if not is_one:
        return Method.CELLS, "sums of row hashes show whether and where the tables differ"
    if sides[0].where != sides[1].where:
        return Method.CELLS, "one snapshot on both sides, but with different filters"
    nullable = any(bound.type.nullable for bound in keys)
    must_count = (options.null_keys is NullKeyPolicy.FAIL and nullable) or any(
        bound.is_castable for bound in keys
    )
    if must_count or options.row_limit is not None:
        return Method.CELLS, "one snapshot on both sides, of which single keys must be looked at"
    return Method.SNAPSHOT, f"both sides are {source.position} of one table"


def _may_share_files(options: CompareOptions, sides: tuple[Side, Side]) -> bool:
    """Whether a file that both sides have adds the same rows to both, and all of them."""
    formats = {side.pinned.format for side in sides}
    return (
        len(formats) == 1
        and formats <= _KEEP_FILES
        and all(side.pinned.position is not None and not side.where for side in sides)
        and options.row_limit is None
    )


def _normalization(bound: BoundColumn, options: CompareOptions) -> str:
    """The type that a column is compared under, and what of its values does not count."""
    pair, rounding = bound.pair, bound.rounding
    told = [bound.type.type_text, *options.text_functions.get(folded(pair.name), ())]
    families = {leaf.family for leaf in leaves(bound.type)}
    if TypeFamily.FLOAT in families and rounding.float_precision is not None:
        told.append(f"floats at {counted(rounding.float_precision, 'decimal place')}")
    if families & _ZONED and options.timestamp_precision:
        told.append(f"timestamps cut to {options.timestamp_precision}")
    if (
        _NTZ
        in {leaf.family for own in (pair.source, pair.target) for leaf in leaves(own)} - families
    ):
        told.append(f"TIMESTAMP_NTZ in {options.assume_timezone}")
    if rounding.is_unordered:
        told.append("in any order")
    if pair.tolerance:
        absolute, relative = pair.tolerance.absolute, pair.tolerance.relative
        near = [absolute, f"{relative} of the source's value" if relative else ""]
        told.append(f"within {' or '.join(filter(None, near))}")
    return ", ".join(told)


def _plan_text(step: CompareStep) -> str:
    """The comparison in words, a line for each thing that was decided."""
    sides = [
        f"{side.name}: {side.pinned.table}"
        + (f" at {side.pinned.position}" if side.pinned.position else "")
        + (", of which some rows" if side.where else "")
        for side in (step.source, step.target)
    ]
    keys = ", ".join(column.name for column in step.keys)
    compared = "the keys alone" if step.as_sets else counted(len(step.columns), "column")
    lines = [*sides, f"key: {keys}", f"compared: {compared}"]
    if not step.as_sets:
        lines.append(f"row hash: {step.algorithm}; duplicates: {step.duplicates}")
    return "\n".join([*lines, f"method: {step.method} ({step.method_reason})"])
