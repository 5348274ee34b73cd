"""The identity of a source record as one text, and sums over such texts, without Spark.

The twin of `engines.spark.accounting.source_keys`; tests hold both against each other:

    BKG_001                        a key of one column: the value as people write it
    @@home                         a text that begins with `@` gets one more
    {"day":["D","2024-01-31"],..}  a key of several columns: canonical JSON
    @2024/a.json#9f86..            no readable key: the file and the SHA-256 of the line,
    @2024/a.parquet#17             in Parquet the number of the row in its file,
    @row#9f86..                    in a table the hash of all that the row holds
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any, Final
from uuid import UUID

from lakeproof.accounting.without_spark.records.reading import NotCheckableError
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    LIMB_BITS,
    LIMBS,
    Commitment,
    KeyColumn,
    Level,
    hash_seeds,
)
from lakeproof.model.canonical import encode_key

_SPARK_SEED: Final = 42
_LIMB_MASK: Final = (1 << LIMB_BITS) - 1
_BATCH_TEXTS: Final = 65_536
_HEX_KEY: Final = re.compile("@x:(?:[0-9A-F]{2})+")


def key_text(values: Sequence[object], columns: Sequence[KeyColumn]) -> str | None:
    """The key of a record, or None if all of its columns are NULL.

    The Python type of a value decides its form, as pyarrow gives it out: an aware datetime is a
    TIMESTAMP, a naive one a TIMESTAMP_NTZ.
    """
    if len(columns) == 1:
        return value_text(values[0])
    if all(value is None for value in values):
        return None
    return _encoded({column.name: value for column, value in zip(columns, values, strict=True)})


def value_text(value: object) -> str | None:
    """A key of one column as text; None for NULL."""
    if value is None:
        return None
    if isinstance(value, str):
        return f"@{value}" if value.startswith("@") else value
    text_of = _TEXTS.get(type(value))
    if text_of is None:
        raise LedgerError(
            f"a {type(value).__name__} is no key. Keys may be strings, integers, decimals, "
            "booleans, dates, timestamps and binaries"
        )
    return text_of(value)


def positional_text(path: str, mark: bytes | int) -> str:
    """The identity of a record without readable key: its file, and its raw line or row number.

    A path that begins with `@` gets `./` in front, for `@@` is the sign of a key.
    """
    path = f"./{path}" if path.startswith("@") else path
    return f"@{path}#{mark if isinstance(mark, int) else sha256(mark).hexdigest()}"


def read_key(text: str) -> str:
    """The identity that an error record holds: `@x:` and hex digits are one of broken UTF-8."""
    if not _HEX_KEY.fullmatch(text):
        return text
    return bytes.fromhex(text[3:]).decode("utf-8", "surrogateescape")


def row_text(columns: Mapping[str, object]) -> str:
    """The identity of a table's row without key: the hash of all that it holds."""
    return f"@row#{sha256(_encoded(columns).encode('utf-8')).hexdigest()}"


def _encoded(columns: Mapping[str, object]) -> str:
    try:
        return encode_key(columns)
    except (ValueError, TypeError) as problem:
        raise NotCheckableError(f"a row has no canonical form here: {problem}") from problem


def _decimal_text(value: Decimal) -> str:
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _moment_text(value: datetime) -> str:
    zone = "" if value.tzinfo is None else "Z"
    wall = value.astimezone(UTC) if value.tzinfo else value
    # isoformat, for strftime prints the year 1 without its zeros.
    text = wall.replace(tzinfo=None).isoformat(sep=" ")
    return f"{text.rstrip('0') if wall.microsecond else text}{zone}"


_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    Decimal: _decimal_text,
    date: date.isoformat,
    datetime: _moment_text,
    bytes: lambda value: value.hex().upper(),
    UUID: str,
}


def moment_of(micros: int) -> datetime:
    """The instant of so many microseconds since the epoch."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


class Summer:
    """Adds up records by the texts of their keys, in the memory of one commitment.

    Spark's `xxhash64(seed, text)` is XXH64 of the text under XXH64 of the seed.
    """

    __slots__ = ("_digest", "_hashes", "_limbs", "records")

    def __init__(self, salt: str, level: Level) -> None:
        self.records = 0
        self._limbs = [0] * LIMBS
        self._hashes = level == Level.COMMIT
        if self._hashes:
            digest = needed("xxhash").xxh64_intdigest
            seed = bytes.fromhex(hash_seeds(salt)[0])
            self._digest = partial(digest, seed=digest(seed, _SPARK_SEED))

    def add_all(self, texts: Iterable[str]) -> None:
        """One record for each text, some thousands at a time."""
        following = iter(texts)
        while batch := list(islice(following, _BATCH_TEXTS)):
            self._add_batch(batch)

    def _add_batch(self, texts: list[str]) -> None:
        self.records += len(texts)
        if not self._hashes:
            return
        # A text that was no UTF-8 carries its bytes as surrogates; they are hashed as they were.
        data = [text.encode("utf-8", "surrogateescape") for text in texts]
        hashes = list(map(self._digest, data))
        self._limbs[0] += sum([item & _LIMB_MASK for item in hashes])
        self._limbs[1] += sum([item >> LIMB_BITS for item in hashes])

    @property
    def commitment(self) -> Commitment:
        return Commitment(self.records, tuple(self._limbs) if self._hashes else ())


class PackageMissingError(LedgerError):
    """A package of the extra `ledger` is not installed."""


def needed(package: str) -> ModuleType:
    """A package of the extra `ledger`, imported when it is first needed."""
    try:
        return import_module(package)
    except ImportError as problem:
        raise PackageMissingError(
            f"{package.partition('.')[0]} is not installed, and ledgers are verified with it: "
            "pip install 'lakeproof[ledger]'"
        ) from problem
