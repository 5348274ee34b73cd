"""Small inputs with hard keys, as JSON lines, CSV, Parquet, Delta or a frame, and their records.

What a record is called is known here, because here its line and its place are made.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakeproof.model.canonical import encode_key
from oracle.ledger_books import Row, key_text

ARROW = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "decimal(12,2)": pa.decimal128(12, 2),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
    "array<string>": pa.list_(pa.string()),
}
VALUES = {"n": "int", "text": "string", "flag": "boolean", "tags": "array<string>"}
KEYS: tuple[Mapping[str, str], ...] = (
    {"record id": "string"},
    {"id": "string"},
    {"id": "bigint"},
    {"id": "decimal(12,2)"},
    {"id": "date"},
    {"id": "timestamp"},
    {"id": "timestamp_ntz"},
    {"id": "binary"},
    {"id": "bigint", "region": "string"},
    {"day": "date", "id": "string", "sure": "boolean"},
)
FORMATS = ("json", "json", "json", "parquet", "parquet", "csv", "frame", "delta")
SIZES = (0, 1, *(range(6, 25)))
NUMBERS = (-7, *range(-2, 10))
NUMBER_TEXTS = ("12", "-3", "0")
TEXTS = ("a", "b", "O'B", "\u00e9", *NUMBER_TEXTS)
STRING_KEYS = ("@7", "@", "a b", "007", "7", "O'B", "\u00e9", "e\u0301", "\U0001f600", "null", "")
DAY, NOON = date(2024, 2, 28), datetime(2024, 2, 28, 12, 0, 0, 120_000, UTC)


@dataclass(frozen=True)
class Record:
    """One record; `line` is its text in JSON and CSV, which a malformed one is made of."""

    values: Mapping[str, object]
    line: str = ""
    is_malformed: bool = False


@dataclass(frozen=True)
class Dataset:
    """Records in files, with the columns of their key."""

    format: str
    key: tuple[str, ...]
    kinds: Mapping[str, str]
    files: tuple[tuple[str, tuple[Record, ...]], ...]
    has_header: bool = False

    @property
    def schema(self) -> str | None:
        if self.format not in {"json", "csv"}:
            return None
        return ", ".join(f"`{name}` {kind}" for name, kind in self.kinds.items())

    @property
    def rows(self) -> list[Row]:
        return [
            self.row(name, position, record)
            for name, records in self.files
            for position, record in enumerate(records)
        ]

    def row(self, file: str, position: int, record: Record) -> Row:
        key = key_text(record.values, self.key)
        place = {
            "parquet": f"@{file}#{position}",
            "json": f"@{file}#{_digest(record.line)}",
            "csv": f"@{file}#{_digest(record.line)}",
        }.get(self.format) or f"@row#{_digest(encode_key(record.values))}"
        return Row(
            key=place if key is None else key,
            values=record.values,
            raw=record.line if record.is_malformed else None,
            has_key=key is not None,
        )

    def write(self, folder: Path) -> None:
        """The files; a frame is read from Parquet."""
        if self.format == "delta":
            from deltalake import write_deltalake

            write_deltalake(folder, self._table([r for _, records in self.files for r in records]))
            return
        folder.mkdir(parents=True)
        for name, records in self.files:
            if self.format in {"json", "csv"}:
                lines = [record.line for record in records]
                header = [",".join(self.kinds)] if self.has_header else []
                text = "".join(f"{line}\n" for line in (*header, *lines))
                (folder / name).write_text(text, encoding="utf-8")
            else:
                pq.write_table(self._table(records), folder / name)

    def _table(self, records: Sequence[Record]) -> pa.Table:
        schema = pa.schema([(name, ARROW[kind]) for name, kind in self.kinds.items()])
        return pa.Table.from_pylist([dict(record.values) for record in records], schema)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class DatasetMaker:
    """Draws datasets of up to two dozen records; `has_copies` lets keys repeat."""

    def __init__(self, chance: random.Random, *, has_copies: bool) -> None:
        self.chance = chance
        self.has_copies = has_copies
        self.format = chance.choice(FORMATS)
        self.key = dict(chance.choice([key for key in KEYS if self._fits(key)]))
        self.kinds = {**self.key, **VALUES}
        if self.format == "csv":
            del self.kinds["tags"]

    def _fits(self, key: Mapping[str, str]) -> bool:
        """Text files hold no bytes; plain Delta tables no blanks in names."""
        refused = {"json": "binary", "csv": "binary", "delta": "timestamp_ntz"}.get(self.format)
        has_blank = any(" " in name for name in key)
        return refused not in key.values() and not (has_blank and self.format == "delta")

    def dataset(self) -> Dataset:
        numbers = self._numbers()
        names = [f"part {at}+.{self.format}" for at in range(self.chance.randint(1, 3))]
        if self.format == "frame":
            names = [name.replace("frame", "parquet") for name in names]
        files: dict[str, list[Record]] = {name: [] for name in names}
        for number in numbers:
            files[self.chance.choice(names)].append(self._record(number))
        return Dataset(
            format=self.format,
            key=tuple(self.key),
            kinds=self.kinds,
            files=tuple((name, tuple(records)) for name, records in files.items()),
            has_header=self.format == "csv" and self.chance.random() < 0.5,
        )

    def _numbers(self) -> list[int]:
        """One for each record; equal numbers make equal keys."""
        numbers = list(range(self.chance.choice(SIZES)))
        if self.has_copies and numbers:
            numbers += self.chance.choices(numbers, k=self.chance.randint(1, 4))
        self.chance.shuffle(numbers)
        return numbers

    def _record(self, number: int) -> Record:
        has_key = self.chance.random() > 0.08
        values = {
            name: self._key_value(kind, number, at) if has_key else None
            for at, (name, kind) in enumerate(self.key.items())
        }
        values |= {
            "n": self._maybe(lambda: self.chance.choice(NUMBERS)),
            "text": self._maybe(lambda: self.chance.choice(TEXTS)),
            "flag": self._maybe(lambda: self.chance.random() < 0.5),
        }
        if "tags" in self.kinds:
            values["tags"] = self._maybe(self._tags)
        if self.format not in {"json", "csv"}:
            return Record(values)
        return self._line(values)

    def _key_value(self, kind: str, number: int, at: int) -> object:
        """Of a composite key one part may be NULL; equal numbers give equal values."""
        if len(self.key) > 1 and (number + at) % 5 == 0:
            return None
        if kind == "string" and self.format == "csv":
            return f"k{number}"
        return _KEY_VALUES[kind](number)

    def _tags(self) -> list[str | None]:
        return self.chance.choices(["a", "b", None], k=self.chance.choice([0, 1, 1, 2, 3]))

    def _maybe(self, make: Callable[[], object]) -> object:
        return None if self.chance.random() < 0.2 else make()

    # ------------------------------------------------------------------------------------- lines

    def _line(self, values: dict[str, object]) -> Record:
        is_bad = self.chance.random() < 0.08
        if is_bad and self.chance.random() < 0.5:
            # A field of the wrong type: what else the line says can be read.
            line = self._text({**values, "n": "none"})
            return Record({**values, "n": None}, line, is_malformed=True)
        line = self._text(values)
        if is_bad and self.format == "json":
            return Record(dict.fromkeys(values), line[:-1], is_malformed=True)
        if is_bad:
            return Record(values, f"{line},surplus", is_malformed=True)
        return Record(values, line)

    def _text(self, values: Mapping[str, object]) -> str:
        if self.format == "json":
            return self._json(values)
        written = io.StringIO()
        csv.writer(written, lineterminator="").writerow(map(_csv_cell, values.values()))
        return written.getvalue()

    def _json(self, values: Mapping[str, object]) -> str:
        """A NULL is written, or left out."""
        left_out = self.chance.random() < 0.5
        members = (
            f"{json.dumps(name)}:{_json_value(value)}"
            for name, value in values.items()
            if value is not None or not left_out
        )
        return "{" + ",".join(members) + "}"


def _json_value(value: object) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, date):  # a datetime too
        return json.dumps(_moment_text(value))
    return json.dumps(value, ensure_ascii=False)


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return _moment_text(value) if isinstance(value, date) else str(value)


def _moment_text(value: date) -> str:
    return value.isoformat().replace("+00:00", "Z")


_KEY_VALUES: dict[str, Callable[[int], object]] = {
    "string": lambda number: STRING_KEYS[number] if number < len(STRING_KEYS) else f"k{number}",
    "bigint": lambda number: number * 10**14 - 3,
    "decimal(12,2)": lambda number: Decimal(number * 25 - 50).scaleb(-2),
    "boolean": lambda number: number % 2 == 0,
    "date": lambda number: DAY + timedelta(days=number),
    "timestamp": lambda number: NOON + timedelta(milliseconds=440 * number),
    "timestamp_ntz": lambda number: NOON.replace(tzinfo=None, microsecond=number),
    "binary": lambda number: bytes([0, number]),
}
