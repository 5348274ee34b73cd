"""Values inside state SQL.

Bound parameters would be the natural way. On Spark 4.1 any session that has Delta's extension
drops them (delta-io/delta#7640: UNBOUND_SQL_PARAMETER), so values are written into the text in a
form that no quoting rule or setting can touch: Base64 of UTF-8 for everything but plain ASCII.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from lakeproof.state.tables import MOMENT, StateTable

# No quote and no backslash (their meaning is a setting), no $ (`${name}` is substituted).
_PLAIN = re.compile(r"[ !#%&()*+,\-./0-9:;<=>?@A-Z\[\]^_a-z{|}~\"]*", re.ASCII)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def text(value: str | None) -> str:
    """A string literal; NULL for None."""
    if value is None:
        return "CAST(NULL AS STRING)"
    if _PLAIN.fullmatch(value):
        return f"'{value}'"
    return f"CAST(unbase64('{_base64(storable(value))}') AS STRING)"


def texts(values: Iterable[str]) -> str:
    """The inside of an IN list; of none at all, a list that holds nothing."""
    return ", ".join(text(value) for value in values) or "CAST(NULL AS STRING)"


def moment(value: datetime) -> str:
    return f"TIMESTAMP_NTZ '{moment_text(value)}'"


def moment_text(value: datetime) -> str:
    """UTC to the microsecond, without zone; a value without zone is taken as UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return value.isoformat(sep=" ", timespec="microseconds")


def numbers(name: str, **values: str) -> str:
    """One row of SQL values, such as numbers and moments, as a relation of this name.

    For what is another one in each run. In the text of a statement Spark would compile it into the
    Java that it makes, and so make and warm up the same Java anew for each run.
    """
    return f"(VALUES ({', '.join(values.values())})) AS {name}({', '.join(values)})"


def storable(value: str) -> str:
    """The text with lone surrogates replaced: they have no UTF-8 form."""
    return _LONE_SURROGATE.sub("\ufffd", value)


def rows(table: StateTable, values: Sequence[Mapping[str, object]]) -> str:
    """A SELECT of these rows, with the table's columns, types and order.

    One JSON document carries all rows. FAILFAST: a document that does not fit its schema must
    stop the write, where the default would quietly read it as no rows.
    """
    document = json.dumps([_plain(row) for row in values], allow_nan=False)
    fields = ",".join(f"`{column.name}`:{_json_type(column.type_text)}" for column in table.columns)
    selected = ", ".join(
        f"CAST(`{column.name}` AS {MOMENT}) AS `{column.name}`"
        if column.type_text == MOMENT
        else f"`{column.name}`"
        for column in table.columns
    )
    return (
        f"SELECT {selected} FROM (SELECT inline(from_json("
        f"CAST(unbase64('{_base64(document)}') AS STRING), "
        f"'array<struct<{fields}>>', map('mode', 'FAILFAST'))))"
    )


def _json_type(type_text: str) -> str:
    """Moments travel as text and are cast: JSON's own parsing of them depends on settings."""
    return "string" if type_text == MOMENT else type_text.lower()


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    return {name: _plain_value(value) for name, value in row.items()}


def _plain_value(value: object) -> object:
    """What JSON holds exactly; NaN and infinities become NULL, which JSON does have."""
    if isinstance(value, str):
        return storable(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return moment_text(value)
    if isinstance(value, (tuple, list)):
        return [_plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {storable(str(name)): _plain_value(item) for name, item in value.items()}
    return value


def _base64(value: str) -> str:
    return b64encode(value.encode("utf-8")).decode("ascii")
