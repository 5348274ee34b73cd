"""The one canonical form of values, keys and rule payloads, and the ids hashed from it.

A value is `null` or a JSON pair `[tag, body]`; two values are equal exactly when their texts are:

    ["b","true"]              boolean
    ["i","42"]                any integer type: TINYINT 42 is BIGINT 42
    ["d","1.1"]               decimal without trailing zeros: 1.100 is 1.10
    ["f","0x1.8p1"]           float or double, exact hexadecimal form; -0.0 is 0.0; one NaN
    ["s","text"]              string, not normalised: two spellings of one letter are two values
    ["u","EFBFBD"]            string with U+FFFD, as UTF-8 bytes: broken UTF-8 reads as U+FFFD
    ["x","00FF"]              binary
    ["D","2024-01-31"]        date
    ["T","0"]                 time of day, microseconds since midnight
    ["t","0"]                 timestamp with zone, microseconds since the epoch
    ["n","0"]                 timestamp without zone, microseconds since the epoch as if in UTC
    ["p","0"] ["y","0"]       day-time interval in microseconds, year-month interval in months
    ["a",[value,...]]         array
    ["o",{"field":value}]     struct, fields sorted by name
    ["m",[[key,value],...]]   map, entries sorted by their text
    ["h","9f86..."]           sha256 of one of these texts, where the value must not be shown

A key is the JSON object of its columns sorted by name, without blanks. "Sorted" always means by
code point, which is also the order of UTF-8 bytes. Strings escape what JSON demands, as Jackson
does. The same texts come out of Spark by `engines.spark.canonical_sql`; a change here changes every
stored hit_id, and a golden test notices it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from lakeproof.model.printable import printable

__all__ = [
    "CANON_VERSION",
    "Months",
    "Struct",
    "canonical_payload",
    "element_key",
    "encode_key",
    "encode_value",
    "hit_id",
    "quote_json",
    "readable_key",
    "row_key",
    "rule_id_of",
]

CANON_VERSION: Final = 1
"""Leads every rule payload: a changed form changes every rule_id openly, never by accident."""

PAYLOAD_DEPTH_MAX: Final = 64
PLAIN_DIGITS_MAX: Final = 40
READABLE_HASH_DIGITS: Final = 8
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = _EPOCH.toordinal()

# Jackson writes control characters as upper-case \u00XX and has five short forms; everything else,
# U+2028 and DEL included, stays as it is.
_ESCAPES: Final = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    ord(char): f"\\{short}" for char, short in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)
}


class Struct(dict[str, object]):
    """A STRUCT value by field name. A plain mapping is a MAP; rows and named tuples are structs."""


@dataclass(frozen=True, slots=True)
class Months:
    """A year-month interval, for which Python has no type of its own."""

    count: int


# ------------------------------------------------------------------------------ values and keys


def encode_key(columns: Mapping[str, object]) -> str:
    """The violation_key of a row with key columns, such as `{"order_id":["i","42"],"ts":null}`.

    The type of each Python value decides its tag, as PySpark returns it from `collect()`, with one
    exception: PySpark hands out a TIMESTAMP as a naive local datetime, which must be made aware
    first (`.astimezone()`), because a naive datetime is a TIMESTAMP_NTZ here.
    """
    if not columns:
        raise ValueError("A key needs at least one column; rows without key columns use row_key().")
    return _object(columns, "")


def row_key(columns: Mapping[str, object]) -> str:
    """The violation_key of a row that has no key columns: a hash over all of its columns."""
    return f'{{"_row":["h","{_sha256(encode_key(columns))}"]}}'


def element_key(key: str, position: str) -> str:
    """The violation_key of one element of a row: the row's key, and where in it the element is."""
    return f'{{"@":{encode_value(position)},{key[1:]}'


def hit_id(rule_id: str, violation_key: str) -> str:
    """The identity of one violation: one rule on one key."""
    return _sha256(f"{rule_id}|{violation_key}")


def encode_value(value: object, path: str = "value") -> str:
    """The canonical text of one value; `path` says in errors where it stands."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return _string(value, path)
    for python_type, tag, text_of in _SCALARS:
        if isinstance(value, python_type):
            return f'["{tag}","{text_of(value)}"]'
    if isinstance(value, datetime):
        return f'["{"n" if value.utcoffset() is None else "t"}","{_epoch_micros(value)}"]'
    if isinstance(value, date):
        return f'["D","{value.isoformat()}"]'
    return _nested(value, path)


def quote_json(text: str, path: str = "text") -> str:
    """`text` as a JSON string, escaped exactly as Spark's `to_json` escapes it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{path}: half of a surrogate pair at character {error.start} is not text. "
            "Read the value as UTF-8, or keep it as bytes."
        ) from None
    return f'"{text.translate(_ESCAPES)}"'


def _nested(value: object, path: str) -> str:
    names = getattr(value, "__fields__", None) or getattr(value, "_fields", None)
    if isinstance(value, tuple) and names:
        return f'["o",{_object(dict(zip(names, value, strict=True)), path)}]'
    if isinstance(value, Struct):
        return f'["o",{_object(value, path)}]'
    if isinstance(value, Mapping):
        entries = sorted(
            f"[{encode_value(key, f'{path}{{key}}')},{encode_value(item, f'{path}{{value}}')}]"
            for key, item in value.items()
        )
        return f'["m",[{",".join(entries)}]]'
    if isinstance(value, list):
        return f'["a",[{",".join(encode_value(item, f"{path}[]") for item in value)}]]'
    raise TypeError(
        f"{path}: a {type(value).__name__} has no canonical form. Known: bool, int, Decimal, "
        "float, str, bytes, date, time, datetime, timedelta, Months, list, Struct, named tuple, "
        "mapping."
    )


def _object(members: Mapping[str, object], path: str) -> str:
    texts = (
        f"{quote_json(name)}:{encode_value(members[name], f'{path}.{name}'.lstrip('.'))}"
        for name in sorted(members)
    )
    return "{" + ",".join(texts) + "}"


def _string(text: str, path: str) -> str:
    # Java replaces broken UTF-8 by U+FFFD before anything can be escaped. Encoding every string
    # that shows one by its bytes keeps different broken strings apart.
    if "\ufffd" in text:
        return f'["u","{text.encode("utf-8").hex().upper()}"]'
    return f'["s",{quote_json(text, path)}]'


def _decimal_text(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"Decimal {value} is not a number that a table can hold.")
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _double_text(value: float) -> str:
    """As Java prints `%a`: no plus sign, no trailing zeros in the fraction, at least one digit."""
    if value != value:  # noqa: PLR0124 - NaN is the only value unequal to itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0x0.0p0"
    mantissa, exponent = float.hex(value).split("p")
    whole, fraction = mantissa.split(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}p{int(exponent)}"


def _day_micros(value: time | datetime) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 1_000_000 + value.microsecond


def _epoch_micros(value: datetime) -> int:
    """Plain arithmetic, because converting zones overflows in the years 1 and 9999."""
    local = (value.toordinal() - _EPOCH_DAY) * 86_400_000_000 + _day_micros(value)
    return local - (value.utcoffset() or timedelta()) // _MICROSECOND


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()


# The first match decides: a bool is also an int.
_SCALARS: Final[tuple[tuple[type | tuple[type, ...], str, Callable[[Any], str]], ...]] = (
    (bool, "b", lambda value: "true" if value else "false"),
    (int, "i", int.__repr__),
    (Decimal, "d", _decimal_text),
    (float, "f", _double_text),
    ((bytes, bytearray), "x", lambda value: value.hex().upper()),
    (time, "T", lambda value: str(_day_micros(value))),
    (timedelta, "p", lambda value: str(value // _MICROSECOND)),
    (Months, "y", lambda value: str(value.count)),
)


# -------------------------------------------------------------------------------- rule payloads


def canonical_payload(value: object) -> str:
    """The typed text that a rule's identity is hashed from; kept for audit.

    JSON with keys sorted and text in NFC. Types stay apart (`1`, `"1"`, `true`, `null`, `""`),
    while numbers are equal by value: 1, 1.0 and Decimal("1.00"); a float counts as the shortest
    decimal that reads back as it. What JSON lacks is `{"$date":...}` and its like; a key of the
    rule's own that begins with `$` gets another one.
    """
    return f'{{"canon":{CANON_VERSION},"payload":{_payload(value, "payload", 0)}}}'


def rule_id_of(payload_text: str) -> str:
    """The identity of a rule's logic: SHA-256 of its canonical payload."""
    return _sha256(payload_text)


def _payload(value: object, path: str, depth: int) -> str:
    if depth > PAYLOAD_DEPTH_MAX:
        raise ValueError(
            f"{path}: nested deeper than {PAYLOAD_DEPTH_MAX} levels. Flatten the value."
        )
    if isinstance(value, Mapping):
        return _payload_object(value, path, depth)
    if isinstance(value, list | tuple):
        items = (_payload(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value))
        return f"[{','.join(items)}]"
    if isinstance(value, AbstractSet):
        members = {_payload(item, f"{path}{{}}", depth + 1) for item in value}
        return f'{{"$set":[{",".join(sorted(members))}]}}'
    return _payload_scalar(value, path)


def _payload_scalar(value: object, path: str) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quote_json(unicodedata.normalize("NFC", value), path)
    if isinstance(value, int | float | Decimal):
        return _payload_number(value)
    return _payload_tagged(value, path)


def _payload_object(value: Mapping[object, object], path: str, depth: int) -> str:
    texts: dict[str, str] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{path}: key {key!r} is a {type(key).__name__}; keys must be text.")
        name = unicodedata.normalize("NFC", key)
        name = f"${name}" if name.startswith("$") else name
        if name in texts:
            raise ValueError(f"{path}: key {key!r} stands twice, in two spellings of one text.")
        texts[name] = _payload(item, f"{path}.{key}", depth + 1)
    return "{" + ",".join(f"{quote_json(name, path)}:{texts[name]}" for name in sorted(texts)) + "}"


def _payload_number(value: float | Decimal) -> str:
    number = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    if number.is_nan():
        return '{"$number":"NaN"}'
    if number.is_infinite():
        return f'{{"$number":"{"-" if number < 0 else ""}Infinity"}}'
    magnitude = number.adjusted() if number else 0
    if not number or -PLAIN_DIGITS_MAX < magnitude < PLAIN_DIGITS_MAX:
        return _decimal_text(number) if number else "0"
    # A short text may name a huge number (1e999999): written out it would fill the memory.
    sign, digits, _ = number.as_tuple()
    text = "".join(map(str, digits)).strip("0")
    fraction = f".{text[1:]}" if text[1:] else ""
    return f"{'-' if sign else ''}{text[0]}{fraction}E{magnitude:+d}"


def _payload_tagged(value: object, path: str) -> str:
    tag, text = "", ""
    if isinstance(value, bytes | bytearray):
        tag, text = "bytes", value.hex().upper()
    elif isinstance(value, datetime):
        tag = "local" if value.utcoffset() is None else "instant"
        text = str(_epoch_micros(value))
    elif isinstance(value, date):
        tag, text = "date", value.isoformat()
    elif isinstance(value, timedelta):
        tag, text = "duration", str(value // _MICROSECOND)
    else:
        raise TypeError(
            f"{path}: a {type(value).__name__} has no canonical form. Known: None, bool, int, "
            "float, Decimal, str, bytes, date, datetime, timedelta, list, set, mapping."
        )
    return f'{{"${tag}":"{text}"}}'


# -------------------------------------------------------------------------------- for people


def readable_key(violation_key: str) -> str:
    """A violation_key for human eyes: `order_id=42, ts=2024-01-01T00:00:00Z` or `row 3fa9c1d2…`.

    Not an identity: types are dropped. Safe for a terminal: what does not print is escaped.
    """
    try:
        columns = json.loads(violation_key)
        position = columns.pop("@", None)
        at = f" at {printable(position[1])}" if position else ""
        if list(columns) == ["_row"] and columns["_row"][0] == "h":
            return f"row {columns['_row'][1][:READABLE_HASH_DIGITS]}…{at}"
        named = (f"{_shown(name)}={_readable(item)}" for name, item in columns.items())
        return ", ".join(named) + at
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        # A store may hold keys that someone else wrote; showing them beats failing on them.
        return _shown(violation_key)


def _readable(encoded: Any) -> str:  # noqa: ANN401 - decoded JSON
    if encoded is None:
        return "NULL"
    tag, body = encoded
    if tag == "a":
        return f"[{', '.join(map(_readable, body))}]"
    if tag == "o":
        return (
            f"{{{', '.join(f'{_shown(name)}={_readable(item)}' for name, item in body.items())}}}"
        )
    if tag == "m":
        return f"{{{', '.join(f'{_readable(key)}: {_readable(item)}' for key, item in body)}}}"
    return _READABLE.get(tag, _shown)(body)


def _shown(text: str) -> str:
    """Bare where nobody can misread it, else quoted; no control or direction characters."""
    if text.isprintable() and re.fullmatch(r"[^\s,=\"'{}\[\]]+(?: [^\s,=\"'{}\[\]]+)*", text):
        return text
    escaped = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'


def _instant(micros: str, zone: str = "") -> str:
    try:
        instant = _EPOCH + timedelta(microseconds=int(micros))
        return f"{instant.replace(tzinfo=None).isoformat()}{zone}"
    except OverflowError:
        return f"{micros} µs"


def _number(text: str) -> str:
    return repr(float.fromhex(text) if "x" in text else float(text))


_READABLE: Final[dict[str, Callable[[str], str]]] = {
    "f": _number,
    "h": lambda text: f"#{text[:READABLE_HASH_DIGITS]}",
    "x": lambda text: f"0x{text}",
    "u": lambda text: _shown(bytes.fromhex(text).decode("utf-8", "replace")),
    "T": lambda text: _instant(text).partition("T")[2],
    "t": lambda text: _instant(text, "Z"),
    "n": _instant,
    "p": lambda text: f"{timedelta(microseconds=int(text)) / timedelta(seconds=1)} s",
    "y": lambda text: f"{text} months",
}
