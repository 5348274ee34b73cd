"""Frames and files that are checked as if they were a table."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from lakeproof.contracts.files import FileSource
from lakeproof.engines.spark.sources import frame_of
from lakeproof.model.names import TableName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

StandIns: TypeAlias = "Mapping[TableName, DataFrame | FileSource]"


def view_of(spark: SparkSession, table: TableName, stand_in: DataFrame | FileSource) -> str:
    """A view of the session that reads what stands for the table; its name is new each time.

    It lasts as long as the session: bad rows may be asked for after the run.
    """
    frame = frame_of(spark, stand_in) if isinstance(stand_in, FileSource) else stand_in
    name = f"_lakeproof_{_plain(table.short)}_{uuid.uuid4().hex[:12]}"
    frame.createOrReplaceTempView(name)
    return name


def _plain(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
