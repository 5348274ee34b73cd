"""Which columns of an Iceberg table are not what they were, by their ids.

Iceberg reads every file by the ids of the columns that are asked for, old ones too: a changelog
that is read by the columns of today has each value where it belongs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeproof.engines.spark.changes.pinned_source import READABLE, gap
from lakeproof.engines.spark.columns import columns_of
from lakeproof.engines.spark.flavour import is_connect
from lakeproof.engines.spark.pinning import table_of
from lakeproof.model.reading import Readable, Reading
from lakeproof.planning.tables import PinnedTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ASIDE = frozenset({"doc", "write-default", "required", "element-required", "value-required"})
"""What a schema says of a column that no value in it hangs on."""

_NAME_MAPPING = "schema.name-mapping.default"
"""Where files without ids are read by names, and these may have gone from one id to another."""

_Field = Mapping[str, Any]


def columns_since(spark: SparkSession, pinned: PinnedTable, start: int) -> Reading:
    """What has become of the columns since a snapshot: nothing, a split, or a gap.

    Schemas are told by their ids: a column that was dropped and added again has the same name, and
    none of the values. Which columns are others nobody can tell on Connect, where the schemas are
    out of reach: a gap.
    """
    loaded = None if is_connect(spark) else _loaded(spark, table_of(pinned))
    if loaded is None:
        then, now = _logged_ids(spark, table_of(pinned), start)
    else:
        then, now = loaded.snapshot(start).schemaId(), loaded.schema().schemaId()
    is_same = _has_same_types(spark, pinned, start) if then is None else then == now
    if is_same:
        return READABLE
    split = None if loaded is None else _split(spark, pinned, loaded, start)
    return split or gap("schema_changed", f"its columns changed after snapshot {start}")


def _loaded(spark: SparkSession, table: str) -> Any:  # noqa: ANN401 (Iceberg's own object)
    iceberg = spark._jvm.org.apache.iceberg.spark.Spark3Util  # type: ignore[union-attr]  # noqa: SLF001
    return iceberg.loadIcebergTable(spark._jsparkSession, table)  # noqa: SLF001


def _logged_ids(spark: SparkSession, table: str, start: int) -> tuple[int | None, int]:
    """The schemas of a snapshot, if it is a recent one, and of the table's head."""
    rows = spark.sql(
        "SELECT latest_snapshot_id AS snapshot_id, latest_schema_id AS schema_id "
        f"FROM {table}.metadata_log_entries ORDER BY timestamp"
    ).collect()
    known: Mapping[int, int] = {row["snapshot_id"]: row["schema_id"] for row in rows}
    return known.get(start), rows[-1]["schema_id"]


def _has_same_types(spark: SparkSession, pinned: PinnedTable, start: int) -> bool:
    """Whether the columns of a snapshot look like the present ones; where there are no ids."""
    then = spark.sql(f"SELECT * FROM {table_of(pinned)} VERSION AS OF {start}").schema
    return {(column.name, column.type_text) for column in columns_of(then)} == {
        (column.name, column.type_text) for column in pinned.columns
    }


def _split(
    spark: SparkSession,
    pinned: PinnedTable,
    loaded: Any,  # noqa: ANN401 (Iceberg's own object)
    start: int,
) -> Reading | None:
    """Which columns are not what they were; None where files do not tell them by their ids.

    A snapshot that is older than the table's schema is read by other columns than its changelog.
    """
    assert pinned.position is not None  # noqa: S101 (who asks has looked)
    ids = [loaded.snapshot(place).schemaId() for place in (start, pinned.position.value)]
    if None in ids or ids[1] != loaded.schema().schemaId() or _NAME_MAPPING in loaded.properties():
        return None
    parser = spark._jvm.org.apache.iceberg.SchemaParser  # type: ignore[union-attr]  # noqa: SLF001
    schemas = [json.loads(parser.toJson(loaded.schemas().get(number))) for number in ids]
    then, now = (schema["fields"] for schema in schemas)
    if [field["name"] for field in now] != [column.name for column in pinned.columns]:
        return None
    widened = {field["name"] for field in now if _is_widened(field, then)}
    before, after = ({field["name"] for field in fields} for fields in (then, now))
    other = {field["name"] for field in now if _bare(field) not in _bare(then)}
    return Reading(
        Readable.SPLIT,
        reason=f"its columns changed after snapshot {start}",
        altered=frozenset((other & before) - widened | before - after),
        widened=frozenset(widened),
        added=frozenset(after - before),
    )


def _is_widened(field: _Field, then: Sequence[_Field]) -> bool:
    """Whether an INT has become a BIGINT, and nothing else of it is new."""
    return field["type"] == "long" and _bare({**field, "type": "int"}) in _bare(then)


def _bare(part: Any) -> Any:  # noqa: ANN401 (JSON)
    """A piece of a schema without what no value hangs on."""
    if isinstance(part, list):
        return [_bare(one) for one in part]
    if isinstance(part, dict):
        return {key: _bare(one) for key, one in part.items() if key not in _ASIDE}
    return part
