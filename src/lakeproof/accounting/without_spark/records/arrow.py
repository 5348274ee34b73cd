"""Parquet files, Delta and Iceberg tables read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lakeproof.accounting.without_spark.key_text import moment_of, needed
from lakeproof.accounting.without_spark.records.reading import Row, UnreadableError
from lakeproof.accounting.without_spark.records.values import value_of_text
from lakeproof.errors import LedgerError, short_message
from lakeproof.model.accounting import DatasetPosition, KeyColumn
from lakeproof.model.canonical import Struct
from lakeproof.model.column import folded
from lakeproof.model.partition_folders import partition_values

_BATCH_ROWS: Final = 65_536


def parquet_rows(file: Path, path: str, columns: Sequence[KeyColumn]) -> Iterator[Row]:
    """The rows of a Parquet file, each with its number; a column that is not there is NULL.

    `path` is relative to the dataset: folders such as `day=2024-01-31` are columns too.
    """
    parquet = needed("pyarrow.parquet")
    folders = {folded(name): value for name, value in partition_values(path).items()}
    with _telling(file.name), parquet.ParquetFile(file, coerce_int96_timestamp_unit="us") as opened:
        stored = _stored_names(opened.schema_arrow.names, columns)
        brought = [name for name in stored.values() if folded(name) not in folders]
        instants = _instants(opened.schema)
        row = 0
        for batch in opened.iter_batches(_BATCH_ROWS, columns=brought):
            values = {
                name: python_values(batch.column(name), is_instant=name in instants)
                for name in brought
            }
            listed = [
                [value_of_text(folders[folded(column.name)], column.type_text)] * batch.num_rows
                if folded(column.name) in folders
                else values.get(stored.get(column.name, ""), [None] * batch.num_rows)
                for column in columns
            ]
            yield from zip(zip(*listed, strict=True), range(row, row + batch.num_rows), strict=True)
            row += batch.num_rows


def _stored_names(names: Sequence[str], columns: Sequence[KeyColumn]) -> dict[str, str]:
    """The columns that are there, by the name asked for: letter case decides only between two."""
    by_folded = {folded(name): name for name in reversed(names)}
    return {
        column.name: column.name if column.name in names else by_folded[folded(column.name)]
        for column in columns
        if column.name in names or folded(column.name) in by_folded
    }


def _instants(schema: Any) -> set[str]:  # noqa: ANN401 - pyarrow has no types
    """Columns of the old 96-bit form: instants, though Arrow reads them as wall times."""
    columns = (schema.column(at) for at in range(len(schema.names)))
    return {column.path for column in columns if column.physical_type == "INT96"}


def python_values(array: Any, *, is_instant: bool = False) -> list[Any]:  # noqa: ANN401
    """A column as Python values; timestamps are aware exactly if they are instants."""
    pa = needed("pyarrow")
    kind = array.type
    if pa.types.is_timestamp(kind):
        # Through numbers: nanoseconds have no Python form, and their zone may be unknown here.
        aware = is_instant or kind.tz is not None
        micros = array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64()).to_pylist()
        return [None if one is None else _moment(one, aware=aware) for one in micros]
    if pa.types.is_nested(kind):
        plain = _plain_of(kind)
        return [plain(value) for value in array.to_pylist()]
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        wide = pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
        raw = array.cast(wide).to_pylist()
        return [None if one is None else one.decode("utf-8", "surrogateescape") for one in raw]
    return values


def _moment(micros: int, *, aware: bool) -> object:
    moment = moment_of(micros)
    return moment if aware else moment.replace(tzinfo=None)


def _plain_of(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    """How a nested value becomes what `model.canonical` encodes."""
    pa = needed("pyarrow")
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        parts = {field.name: _plain_of(field.type) for field in fields}
        return lambda value: (
            None if value is None else Struct({name: of(value[name]) for name, of in parts.items()})
        )
    if pa.types.is_map(kind):
        key, item = _plain_of(kind.key_type), _plain_of(kind.item_type)
        return lambda value: value if value is None else {key(k): item(v) for k, v in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _plain_of(kind.value_type)
        return lambda value: value if value is None else [element(one) for one in value]
    return lambda value: value


# ------------------------------------------------------------------------------------------ tables


def table_rows(
    position: DatasetPosition, location: str, columns: Sequence[KeyColumn]
) -> Iterator[tuple[object, ...]]:
    """The rows of a Delta or Iceberg table as it stood at the position."""
    names = [column.name for column in columns]
    for batch in _batches(position, location, names):
        stored = _stored_names(batch.schema.names, columns)
        listed = [
            python_values(batch.column(stored[column.name]))
            if column.name in stored
            else [None] * batch.num_rows
            for column in columns
        ]
        yield from zip(*listed, strict=True)


def whole_rows(position: DatasetPosition, location: str) -> Iterator[Mapping[str, object]]:
    """The rows of a table with all their columns, by name."""
    for batch in _batches(position, location, None):
        names = batch.schema.names
        listed = [python_values(batch.column(name)) for name in names]
        for values in zip(*listed, strict=True):
            yield dict(zip(names, values, strict=True))


def _batches(
    position: DatasetPosition, location: str, names: Sequence[str] | None
) -> Iterator[Any]:
    open_table = _delta_batches if position.kind == "delta" else _iceberg_batches
    with _telling(location):
        yield from open_table(position, location, names)


def _delta_batches(
    position: DatasetPosition, location: str, names: Sequence[str] | None
) -> Iterator[Any]:
    deltalake = needed("deltalake")
    table = deltalake.DeltaTable(location, version=int(position.version))
    stored = [field.name for field in table.schema().fields]
    wanted = _wanted(stored, names)
    # By a query: as loose files, rows that are marked as deleted would be read, and renamed
    # columns would be empty.
    query = f"SELECT {', '.join(map(_quoted, wanted)) or '1'} FROM records"
    found = deltalake.QueryBuilder().register("records", table).execute(query)
    yield from needed("pyarrow").RecordBatchReader.from_stream(found)


def _wanted(stored: Sequence[str], names: Sequence[str] | None) -> list[str]:
    asked = None if names is None else {folded(name) for name in names}
    return [name for name in stored if asked is None or folded(name) in asked]


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _iceberg_batches(
    position: DatasetPosition, location: str, names: Sequence[str] | None
) -> Iterator[Any]:
    if not position.version:
        return
    table = needed("pyiceberg.table").StaticTable.from_metadata(location)
    scan = table.scan(snapshot_id=int(position.version))
    stored = [field.name for field in scan.projection().fields]
    wanted = _wanted(stored, names)
    yield from scan.select(*wanted).to_arrow_batch_reader()


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """Foreign libraries raise much: all of it means that this cannot be read."""
    try:
        yield
    except LedgerError:
        raise
    except Exception as problem:
        raise UnreadableError(f"{what} cannot be read: {short_message(problem)}") from problem
