"""Which columns of an Iceberg table are not what they were, by their ids.

Iceberg reads every file by the ids of the columns that are asked for, old ones too: a changelog
that is read by the columns of today has each value where it belongs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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


def altered_since(spark: SparkSession, pinned: PinnedTable, start: int) -> Reading | None:
    """What has become of the columns since a snapshot; None where nobody can tell.

    On Connect the schemas are out of reach. A snapshot that is older than the table's schema is
    read by other columns than its changelog.
    """
    assert pinned.position is not None  # noqa: S101 (who asks has looked)
    if is_connect(spark):
        return None
    found = _schemas(spark, table_of(pinned), start, pinned.position.value)
    if found is None:
        return None
    then, now = found
    if [field["name"] for field in now] != [column.name for column in pinned.columns]:
        return None
    widened = {field["name"] for field in now if _is_widened(field, then)}
    altered = {field["name"] for field in now if _bare(field) not in _bare(then)} - widened
    return Reading(
        Readable.SPLIT,
        reason=f"its columns changed after snapshot {start}",
        altered=frozenset(altered),
        widened=frozenset(widened),
    )


def _schemas(
    spark: SparkSession, table: str, start: int, end: int
) -> tuple[Sequence[_Field], Sequence[_Field]] | None:
    """The columns of two snapshots, if those of the second are the table's present ones."""
    iceberg = spark._jvm.org.apache.iceberg  # type: ignore[union-attr]  # noqa: SLF001
    session = spark._jsparkSession  # noqa: SLF001
    loaded = iceberg.spark.Spark3Util.loadIcebergTable(session, table)
    if _NAME_MAPPING in loaded.properties():
        return None
    ids = [loaded.snapshot(place).schemaId() for place in (start, end)]
    if None in ids or ids[1] != loaded.schema().schemaId():
        return None
    then, now = (iceberg.SchemaParser.toJson(loaded.schemas().get(number)) for number in ids)
    return json.loads(then)["fields"], json.loads(now)["fields"]


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
