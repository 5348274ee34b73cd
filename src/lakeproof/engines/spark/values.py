"""A list that is too long for a statement, as a view that can be joined."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from lakeproof.model.names import quote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_PACKED = 1_000
"""Values in one text. Few long rows are parsed far quicker than many literals."""


def values_view(spark: SparkSession, values: Sequence[str], type_text: str) -> str:
    """A view with one column `value`, named by what it holds: the same list is the same view.

    The list travels in Base64, so that no escape and no `${` in it can be misread. It stands in
    an inline table, which Spark neither folds into the plan nor prints with it. The view lasts as
    long as the session: bad rows may be asked for after the run.
    """
    rows = ", ".join(
        f"('{_packed(values[start : start + _PACKED])}')"
        for start in range(0, len(values), _PACKED)
    )
    name = f"_lakeproof_values_{sha256(f'{type_text}|{rows}'.encode()).hexdigest()[:24]}"
    if not spark.catalog.tableExists(name):
        frame = spark.sql(
            f"SELECT CAST(item AS {type_text}) AS value FROM (SELECT explode(from_json(decode("
            f"unbase64(packed), 'UTF-8'), 'ARRAY<STRING>')) AS item "
            f"FROM VALUES {rows} AS t(packed))"
        )
        frame.createOrReplaceTempView(name)
    return quote(name)


def _packed(values: Sequence[str]) -> str:
    return base64.b64encode(json.dumps(values).encode()).decode("ascii")
