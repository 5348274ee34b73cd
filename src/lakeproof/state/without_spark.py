"""The state of an embedded lakehouse read by PyIceberg or delta-rs, in a second and without Java.

Only what the folder itself can answer: other catalogs are reached through Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.config import SessionSettings, StoreSettings
from lakeproof.errors import EngineUnavailableError, short_message
from lakeproof.model.promotion import PROMOTION
from lakeproof.state.reading import (
    NOTHING_KEPT,
    PROMOTIONS,
    RESULTS,
    Among,
    Answer,
    Question,
    answer_of,
    wanted_columns,
)

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.fs as pa_fs  # type: ignore[import-untyped]

ICEBERG_CATALOG = "iceberg"
DELTA_CATALOG = "spark_catalog"


@dataclass(frozen=True, slots=True)
class ArrowReader:
    """Answers from a table that `load` brings as Arrow; conditions, order and limit are ours.

    Texts compare by their UTF-8 bytes, as in Spark, so that both ways give the same rows.
    """

    load: Callable[[str], pa.Table]

    def ask(self, question: Question) -> Answer:
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        table = self.load(question.table_kind)
        if question.table_kind == RESULTS:
            is_promotion = _mask(table, Among(("check_type",), (PROMOTION,)))
            wanted = is_promotion if question.kind == PROMOTIONS else pc.invert(is_promotion)
            table = table.filter(wanted)
        if question.where:
            table = table.filter(reduce(pc.and_, [_mask(table, item) for item in question.where]))
        total = table.num_rows
        if question.order:
            table = table.sort_by(
                [
                    (name.removeprefix("-"), "descending" if name.startswith("-") else "ascending")
                    for name in question.order
                ]
            )
        if question.limit is not None:
            table = table.slice(0, question.limit)
        brought = [name for name in wanted_columns(question) if name in table.column_names]
        return answer_of(question, table.select(brought).to_pylist(), total)


def reader_without_spark(session: SessionSettings, store: StoreSettings) -> ArrowReader | None:
    """A reader of the embedded lakehouse's state, or None if only Spark can read it."""
    if session.remote or session.use != "embedded":
        return None
    folder = Path(session.warehouse).expanduser().resolve()
    if store.format == "iceberg":
        usable = store.catalog == ICEBERG_CATALOG and _installed("pyiceberg", "sqlalchemy")
        load = _iceberg_loader(folder, store)
    else:
        usable = store.catalog == DELTA_CATALOG and _installed("deltalake")
        load = _delta_loader(folder, store)
    return ArrowReader(load) if usable and _installed("pyarrow") else None


def _installed(*packages: str) -> bool:
    return all(find_spec(package) is not None for package in packages)


def _mask(table: pa.Table, condition: Among) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pa.array(condition.values, pa.string())
    found = [
        pc.is_in(table[column].cast(pa.string()), value_set=values) for column in condition.columns
    ]
    return reduce(pc.or_, found)


def _iceberg_loader(folder: Path, store: StoreSettings) -> Callable[[str], pa.Table]:
    def load(kind: str) -> pa.Table:
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.exceptions import NoSuchTableError

        name = (*store.namespace.split("."), store.tables[kind])
        # init_catalog_tables: reading must not write, not even the catalog's own tables.
        catalog = SqlCatalog(
            ICEBERG_CATALOG,
            uri=f"sqlite:///{folder / 'catalog.db'}",
            warehouse=str(folder / "iceberg"),
            init_catalog_tables="false",
        )
        try:
            return catalog.load_table(name).scan().to_arrow()
        except NoSuchTableError as problem:
            raise _nothing_kept(".".join((ICEBERG_CATALOG, *name)), folder) from problem
        except OSError as problem:
            raise _unreadable(".".join(name), folder, problem) from problem
        finally:
            catalog.close()

    return load


def _delta_loader(folder: Path, store: StoreSettings) -> Callable[[str], pa.Table]:
    def load(kind: str) -> pa.Table:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        location = folder / "delta" / f"{store.namespace}.db" / store.tables[kind]
        if store.namespace == "default":
            location = folder / "delta" / store.tables[kind]
        name = f"{store.namespace}.{store.tables[kind]}"
        if not location.is_dir():
            raise _nothing_kept(name, folder)
        try:
            return DeltaTable(str(location)).to_pyarrow_table(filesystem=_native_files(location))
        except TableNotFoundError as problem:
            raise _nothing_kept(name, folder) from problem
        except (DeltaError, OSError) as problem:
            raise _unreadable(name, folder, problem) from problem

    return load


def _native_files(location: Path) -> pa_fs.FileSystem:
    """The folder by Arrow's own file system.

    delta-rs hands Arrow one that is written in Python. Arrow's threads may still hold a file of it
    when the command is over, and a thread that then calls Python aborts the process.
    """
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    return SubTreeFileSystem(str(location), LocalFileSystem())


def _nothing_kept(name: str, folder: Path) -> EngineUnavailableError:
    return EngineUnavailableError(f"no table {name} in the lakehouse {folder}. {NOTHING_KEPT}")


def _unreadable(name: str, folder: Path, problem: Exception) -> EngineUnavailableError:
    return EngineUnavailableError(
        f"{name} in the lakehouse {folder} cannot be read: {short_message(problem)}"
    )
