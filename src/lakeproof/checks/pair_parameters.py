"""Parameters that comparisons of two tables share: declared, strictly read, and hashed alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from lakeproof.checks.bounds import NUMBER
from lakeproof.checks.kinds import Arguments, PairCheck
from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.type_text import canonical_type
from lakeproof.checks.user_sql import canonical_sql, parse_aggregate, parse_predicate
from lakeproof.errors import CheckDefinitionError, UnsafeSqlError
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.pairing import EmptyPolicy, NullKeyPolicy
from lakeproof.model.places import place_named

NAMES = (str, list, tuple)
"""The Python types that names of columns may come in; a text is one name."""
_EXPONENT_MAX = 400
_KEY_TYPES = (
    *("tinyint", "smallint", "int", "bigint"),
    *("decimal", "float", "double", "string", "binary", "boolean"),
    *("date", "timestamp", "timestamp_ntz"),
)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_DIGITS_MAX = 38

SCOPE: Final = (
    Parameter(
        "source_table",
        (str,),
        "what the checked table, the target, is held against: a table, or the path of files",
        required=True,
    ),
    Parameter(
        "where_clause", (str,), "which rows of the source; `filter` says which of the target"
    ),
    Parameter("partition_column", (str,), "the column of both tables that a run is narrowed by"),
    Parameter(
        "partition",
        (str, bool, int, Decimal, date),
        "its value, which the run gives; without one, the full tables are compared",
    ),
)
"""Which rows are held against each other; part of every comparison."""

TOLERANCE: Final = (
    Parameter(
        "tolerance", NUMBER, "how far a number may be off, as a share of the source's", default=0.0
    ),
    Parameter("absolute_tolerance", NUMBER, "how far it may be off; satisfying either is enough"),
)
"""For checks whose tolerance decides what is bad."""

GROUP_BY: Final = Parameter(
    "group_by", NAMES, "columns of both tables; without them there is one group", default=()
)
KEY_COLUMNS: Final = Parameter(
    "key_columns", NAMES, "the columns by which rows are known on both sides", required=True
)
KEY_CAST: Final = Parameter(
    "key_cast",
    (Mapping,),
    "types to read key columns as where the two tables differ: {column: type}; a value that "
    "cannot be read so is counted, and fails",
)
NULL_KEYS: Final = Parameter(
    "null_keys",
    (str,),
    "a NULL in a key: `count` compares it like any value, `fail` makes it a mismatch",
    default=NullKeyPolicy.COUNT.value,
)
ON_EMPTY: Final = Parameter(
    "on_empty",
    (str,),
    "a filter, partition or sample that selects nothing on both sides: `warn` passes with a "
    "warning, or skips if it is a partition; `fail`, `pass`",
    default=EmptyPolicy.WARN.value,
)
OUTPUT_TABLE: Final = Parameter(
    "output_table",
    (str,),
    "a table that every difference is written to, in place of those of an earlier run",
)


def read_scope(check: str, arguments: Arguments) -> dict[str, object]:
    """The arguments of `SCOPE`, as they are used."""
    place_named(str(arguments["source_table"]))
    where = arguments["where_clause"]
    column, partition = arguments["partition_column"], arguments["partition"]
    if column is not None:
        require_text(check, "partition_column", column)
    elif partition is not None:
        raise CheckDefinitionError(
            f"check {check!r} has partition {partition!r} without a partition_column"
        )
    return {
        "source_table": arguments["source_table"],
        "where_clause": None if where is None else _read_condition(check, str(where)),
        "partition_column": column,
        "partition": None if partition is None else partition_text(partition),
    }


def partition_text(value: object) -> str:
    """A partition's value as text: the shell, a file and Python mean the same partition."""
    return value.isoformat() if isinstance(value, date) else str(value)


def _read_condition(check: str, where: str) -> str:
    text = require_text(check, "where_clause", where).strip()
    try:
        return parse_predicate(text).text
    except UnsafeSqlError as problem:
        raise UnsafeSqlError(f"where_clause {text!r}: {problem}") from problem


def read_tolerance(check: str, arguments: Arguments) -> dict[str, object]:
    """The arguments of `TOLERANCE`."""
    share, most = arguments["tolerance"], arguments["absolute_tolerance"]
    if not _is_amount(share) or exact_decimal(share) > 1:
        raise CheckDefinitionError(
            f"tolerance of check {check!r} must be a share from 0 to 1, got {share!r}"
        )
    if most is not None and not _is_amount(most):
        raise CheckDefinitionError(
            f"absolute_tolerance of check {check!r} must be a number of 0 or more, got {most!r}"
        )
    return {"tolerance": share, "absolute_tolerance": most}


def read_aggregate(check: str, parameter: str, given: object) -> str:
    """One aggregate over the rows of a table."""
    text = require_text(check, parameter, given)
    try:
        return parse_aggregate(text).text
    except UnsafeSqlError as problem:
        raise UnsafeSqlError(f"{parameter} {text!r}: {problem}") from problem


def read_key(check: str, arguments: Arguments) -> dict[str, object]:
    """The arguments of `KEY_COLUMNS`, `KEY_CAST`, `NULL_KEYS`, `ON_EMPTY` and `OUTPUT_TABLE`."""
    keys = read_names(check, "key_columns", arguments["key_columns"])
    if not keys:
        raise CheckDefinitionError(f"check {check!r} needs one key column at least")
    casts = read_by_column(check, "key_cast", arguments["key_cast"], _key_type)
    _require_keys(check, "key_cast", casts, keys)
    if arguments["output_table"] is not None:
        TableName.parse(str(arguments["output_table"]))
    return {
        "key_columns": keys,
        "key_cast": casts,
        "null_keys": read_word(check, "null_keys", arguments["null_keys"], NullKeyPolicy),
        "on_empty": read_empty(check, arguments),
        "output_table": arguments["output_table"],
    }


def read_empty(check: str, arguments: Arguments) -> str:
    """The argument of `ON_EMPTY`."""
    return read_word(check, "on_empty", arguments["on_empty"], EmptyPolicy)


def read_names(check: str, parameter: str, given: object) -> tuple[str, ...]:
    """Names of columns, each once: to a table, `ID` and `id` are one column."""
    names = (given,) if isinstance(given, str) else tuple(given or ())  # type: ignore[arg-type]
    seen: set[str] = set()
    for name in names:
        folded = require_text(check, parameter, name).lower()
        if folded in seen:
            raise CheckDefinitionError(
                f"parameter {parameter!r} of check {check!r} names {name!r} twice"
            )
        seen.add(folded)
    return tuple(str(name) for name in names)


def read_word(check: str, parameter: str, given: object, allowed: Iterable[str]) -> str:
    """One of the allowed words; another one is refused with the nearest."""
    known = [str(word) for word in allowed]
    word = str(given)
    if word not in known:
        near = nearest(word, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} is {word!r}.{hint} "
            f"Known: {', '.join(known)}."
        )
    return word


def read_by_column(
    check: str, parameter: str, given: object, read: Callable[[object], object]
) -> dict[str, object]:
    """A mapping by column, each value as `read` gives it."""
    mapping: Mapping[object, object] = given or {}  # type: ignore[assignment]
    names = read_names(check, parameter, tuple(mapping))
    return {name: read(mapping[name]) for name in names}


def read_amount(check: str, what: str, given: object) -> object:
    """A number of 0 or more."""
    if not _is_amount(given):
        raise CheckDefinitionError(
            f"{what} of check {check!r} must be a number of 0 or more, got {given!r}"
        )
    return given


def require_text(check: str, parameter: str, given: object) -> str:
    """The text, which is not blank."""
    if not isinstance(given, str) or not given.strip():
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} must be a text that is not empty, "
            f"got {given!r}"
        )
    return given


class TwoTableCheck(PairCheck):
    """A comparison whose parameters are those of this module, and hashed alike."""

    def identity(self, arguments: Arguments) -> Arguments:
        """What is not its default, in one spelling.

        Without defaults, a parameter that a later release adds changes no rule's identity.
        """
        hashed: dict[str, object] = {}
        for parameter in self.parameters:
            name = parameter.name
            spelled = _SPELLINGS.get(name, lambda value: value)
            value = _spelled(spelled, arguments[name])
            if name not in _NOT_LOGIC and value != _spelled(spelled, parameter.default):
                hashed[name] = value
        return hashed


def _require_keys(check: str, parameter: str, names: Iterable[str], keys: Sequence[str]) -> None:
    folded = {key.lower() for key in keys}
    for name in names:
        if name.lower() not in folded:
            near = nearest(name, keys) or keys
            raise CheckDefinitionError(
                f"parameter {parameter!r} of check {check!r} names {name!r}, which is no key "
                f"column. Nearest: {', '.join(near)}."
            )


def _key_type(given: object) -> str:
    """A type that a key can have, in Spark's spelling; it stands in a statement, so no other."""
    try:
        found = canonical_type(str(given))
    except ValueError:
        found = ""
    digits = _DECIMAL.fullmatch(found)
    fits = digits is None or int(digits[2]) <= int(digits[1]) <= _DIGITS_MAX
    if not fits or found.partition("(")[0] not in _KEY_TYPES:
        raise CheckDefinitionError(
            f"key_cast to {given!r}: a key is read as one of {', '.join(_KEY_TYPES)}"
        )
    return found


def _spelled(spelled: Callable[[object], object], value: object) -> object:
    return None if value is None else spelled(value)


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, NUMBER):
        return False
    number = exact_decimal(value)
    # As a fraction, 1E999999 would fill the memory.
    return number.is_finite() and number >= 0 and abs(number.adjusted()) <= _EXPONENT_MAX


def _sorted_names(names: object) -> list[str]:
    """Columns are the same in whatever order and case they are named."""
    given: Sequence[str] = (names,) if isinstance(names, str) else names  # type: ignore[assignment]
    return sorted(name.lower() for name in given)


def _by_folded_name(mapping: object) -> dict[str, object] | None:
    """None if nothing is said of any column, as by default."""
    pairs: Mapping[str, object] = mapping  # type: ignore[assignment]
    return {name.lower(): value for name, value in pairs.items()} or None


def _sql(text: object) -> str:
    return canonical_sql(str(text))


def _folded(name: object) -> str:
    return str(name).lower()


def _sorted_aggregates(aggregates: object) -> list[dict[str, object]]:
    given: Sequence[Mapping[str, object]] = aggregates  # type: ignore[assignment]
    spelled = [
        {name: _SPELLINGS.get(name, str)(value) for name, value in one.items() if value is not None}
        for one in given
    ]
    return sorted(spelled, key=lambda one: str(one["name"]))


_NOT_LOGIC = frozenset({"method", "on_empty", "output_table"})
"""How it is found, what is made of nothing, and where it goes: none decides which keys are bad.

The hash does: which rows collide, and so pass as equal, is its own.
"""

_SPELLINGS: Final[dict[str, Callable[[object], object]]] = {
    "where_clause": _sql,
    "expression": _sql,
    "source_expression": _sql,
    "target_expression": _sql,
    "partition_column": _folded,
    "aggregate_column": _folded,
    "target_column": _folded,
    "aggregates": _sorted_aggregates,
    "key_columns": _sorted_names,
    "group_by": _sorted_names,
    "unordered_arrays": _sorted_names,
    "exclude_columns": _sorted_names,
    "metadata_patterns": _sorted_names,
    "key_cast": _by_folded_name,
    "column_tolerances": _by_folded_name,
    "normalize": _by_folded_name,
}
