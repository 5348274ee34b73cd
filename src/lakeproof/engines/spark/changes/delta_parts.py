"""A range of a Delta feed in parts, between which the columns of the table were altered.

Delta reads a range by the columns of its last version, and refuses it where a column was renamed,
dropped or widened on the way. Each part is read by its own columns; which of them a present column
is, is known by its physical name. Only commits that do nothing else end a part: what a commit both
alters and writes cannot be read by one set of columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.columns import exact_type
from lakeproof.engines.spark.statistics.delta_log import describing_commits, read_log
from lakeproof.model.names import quote
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_ASIDE = frozenset(
    {
        "comment",
        "CURRENT_DEFAULT",
        "delta.columnMapping.id",
        "delta.columnMapping.nested.ids",
        "delta.identity.highWaterMark",
        "delta.typeChanges",
        _PHYSICAL_NAME,
    }
)
"""What a column's metadata say that no value of it hangs on, and what is told beside."""

_NULLABLE = frozenset({"nullable", "containsNull", "valueContainsNull"})
_WIDTHS = ("byte", "short", "integer", "long")

_Field = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FeedPart:
    """Commits that are read together; `selected` makes the present columns of theirs."""

    first: int
    last: int
    selected: str


@dataclass(frozen=True, slots=True)
class AlteredRange:
    """The parts of a range, where they begin, and which present columns are not what they were.

    `altered`, `widened` and `added` are those of `Reading`.
    """

    parts: Sequence[FeedPart]
    at: tuple[int, ...]
    altered: frozenset[str]
    widened: frozenset[str]
    added: frozenset[str]


def altered_range(
    spark: SparkSession, pinned: PinnedTable, start: int, end: int
) -> AlteredRange | None:
    """The commits after `start` up to `end` in parts; None where the log does not tell them."""
    try:
        mark, parts = _schemas(spark, pinned.location, start, end)
    except Exception:  # noqa: BLE001 (whoever may not read the log has a gap, as without parts)
        return None
    if len(parts) <= 1:
        return None
    present = parts[-1].fields
    if [field["name"] for field in present] != [column.name for column in pinned.columns]:
        return None
    schema = spark.sql(f"SELECT * FROM {pinned.relation}").schema
    types = {field.name: exact_type(field.dataType) for field in schema.fields}
    kinds = {field["name"]: _change_of(field, [mark, *parts]) for field in present}

    def columns(wanted: str) -> frozenset[str]:
        return frozenset(name for name, kind in kinds.items() if kind == wanted)

    return AlteredRange(
        parts=[
            FeedPart(part.first, part.last, _selected(present, part.fields, types))
            for part in parts
            if part.first <= part.last
        ],
        at=tuple(part.first for part in parts[1:]),
        altered=columns(_ALTERED) | (_names(mark.fields) - _names(present)),
        widened=columns(_WIDENED),
        added=columns(_ADDED),
    )


@dataclass(frozen=True, slots=True)
class _Schema:
    """The columns by which commits are read: those of the last of them."""

    first: int
    last: int
    fields: Sequence[_Field]


def _schemas(
    spark: SparkSession, location: str, start: int, end: int
) -> tuple[_Schema, Sequence[_Schema]]:
    """The columns at the mark, and of each part.

    There is no part if a commit both alters what columns are and moves rows.
    """
    fields = read_log(spark, location, start).fields
    mark = _Schema(start, start, fields)
    found: list[_Schema] = []
    first = start + 1
    for commit in describing_commits(spark, location, start + 1, end):
        if not _goes_on(fields, commit.fields):
            if commit.moves_files:
                return mark, ()
            found.append(_Schema(first, commit.version - 1, fields))
            first = commit.version
        fields = commit.fields
    return mark, [*found, _Schema(first, end, fields)]


def _goes_on(before: Sequence[_Field], after: Sequence[_Field]) -> bool:
    """Whether every column is still there as it was; more may have come."""
    by_identity = {_identity(field): _bare(field) for field in after}
    return all(by_identity.get(_identity(field)) == _bare(field) for field in before)


_SAME, _WIDENED, _ALTERED, _ADDED = "same", "widened", "altered", "added"


def _change_of(field: _Field, schemas: Sequence[_Schema]) -> str:
    """What has become of a column since the mark.

    It must have been there all the time: what was away and is back has lost what it was meanwhile.
    """
    at_mark = _by_identity(schemas[0].fields, field)
    if field["name"] not in _names(schemas[0].fields):
        return _ADDED
    if at_mark is None or at_mark["name"] != field["name"]:
        return _ALTERED
    found = _SAME
    for part in schemas:
        then = _by_identity(part.fields, field)
        if then is None:
            return _ALTERED
        before, now = _meaning(then), _meaning(field)
        if before == now:
            continue
        if {**before, "type": ""} != {**now, "type": ""} or not _is_wider(then, field):
            return _ALTERED
        found = _WIDENED
    return found


def _is_wider(then: _Field, field: _Field) -> bool:
    """Whether both are whole numbers, of which every value of one is one of the other."""
    widths = [one["type"] for one in (then, field)]
    if not all(isinstance(width, str) and width in _WIDTHS for width in widths):
        return False
    return _WIDTHS.index(widths[0]) <= _WIDTHS.index(widths[1])


def _selected(present: Sequence[_Field], fields: Sequence[_Field], types: Mapping[str, str]) -> str:
    """The present columns out of those of a part; NULL where they were not there.

    A column with parts that were altered is NULL too, and so is a number that was too wide for the
    present type: no rule that reads such a column goes on.
    """
    items = []
    for field in present:
        then, name = _by_identity(fields, field), field["name"]
        value = "NULL" if then is None or _has_other_parts(then, field) else quote(then["name"])
        if then is None or _meaning(then)["type"] != _meaning(field)["type"]:
            value = f"try_cast({value} AS {types[name]})"
        items.append(f"{value} AS {quote(name)}")
    return ", ".join(items)


def _has_other_parts(then: _Field, field: _Field) -> bool:
    is_nested = any(isinstance(one["type"], dict) for one in (then, field))
    return is_nested and _meaning(then)["type"] != _meaning(field)["type"]


def _names(fields: Sequence[_Field]) -> frozenset[str]:
    return frozenset(field["name"] for field in fields)


def _by_identity(fields: Sequence[_Field], wanted: _Field) -> _Field | None:
    found = (field for field in fields if _identity(field) == _identity(wanted))
    return next(found, None)


def _identity(field: _Field) -> str:
    """The name under which its values lie in files; a table without column mapping has no other."""
    return str((field.get("metadata") or {}).get(_PHYSICAL_NAME, field["name"]))


def _meaning(field: _Field) -> dict[str, Any]:
    """What its values hang on: not its own name, nor whether there may be NULLs."""
    bare = _bare(field, without=_NULLABLE)
    return {key: value for key, value in bare.items() if key != "name"}


def _bare(part: Any, without: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 (JSON)
    """A piece of a schema without what its values do not hang on, each field with its identity."""
    if isinstance(part, list):
        return [_bare(one, without) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _bare(one, without) for key, one in _plain(part) if key not in without}
    return {**found, "identity": _identity(part)} if "metadata" in part else found


def _plain(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in part.items():
        is_metadata = key == "metadata" and isinstance(value, dict)
        kept = {k: v for k, v in value.items() if k not in _ASIDE} if is_metadata else value
        yield key, kept
