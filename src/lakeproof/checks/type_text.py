"""Texts of Spark types in one spelling: `Array<LONG>` and `array<bigint>` are one type."""

from __future__ import annotations

import re

_SYNONYMS = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
    "timestamp_ltz": "timestamp",
}
_PLAIN = frozenset(
    {
        *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
        *("string", "char", "varchar", "boolean", "binary", "variant", "void"),
        *("date", "time", "timestamp", "timestamp_ntz"),
    }
)
_SIZED = frozenset({"decimal", "char", "varchar", "time"})
_DEFAULT_SIZES = {"decimal": "(10,0)", "time": "(6)"}
_NAMED = re.compile(r"([a-z_]+)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?", re.IGNORECASE)
_NESTED = re.compile(r"(array|map|struct)\s*<(.*)>", re.IGNORECASE | re.DOTALL)
_LONG_NAME = re.compile(
    r"interval (year|month|day|hour|minute|second)( to (month|hour|minute|second))?"
    r"|string collate [a-z0-9_]+"
)
_FIELD = re.compile(r"(?:`((?:[^`]|``)*)`|([^`:]*?))\s*(?::|\s)\s*(.+)", re.DOTALL)


def canonical_type(text: str) -> str:
    """The type as Spark's short form has it, in lower case; ValueError if it is no type."""
    trimmed = text.strip()
    nested = _NESTED.fullmatch(trimmed)
    if nested:
        return _nested(nested[1].lower(), nested[2])
    named = _NAMED.fullmatch(trimmed)
    if named:
        return _plain(named[1].lower(), named[2], named[3], trimmed)
    words = " ".join(trimmed.lower().split())
    if _LONG_NAME.fullmatch(words):
        return words
    raise ValueError(f"{text!r} is no type")


def _plain(word: str, digits: str | None, scale: str | None, text: str) -> str:
    name = _SYNONYMS.get(word, word)
    if name not in _PLAIN or (digits and name not in _SIZED) or (scale and name != "decimal"):
        raise ValueError(f"{text!r} is no type")
    if digits is None:
        return name + _DEFAULT_SIZES.get(name, "")
    return f"decimal({digits},{scale or 0})" if name == "decimal" else f"{name}({digits})"


def _nested(kind: str, inner: str) -> str:
    parts = _split(inner)
    if kind == "struct":
        return f"struct<{','.join(_field(part) for part in parts)}>"
    if len(parts) != {"array": 1, "map": 2}[kind]:
        raise ValueError(f"'{kind}<{inner}>' is no type")
    return f"{kind}<{','.join(canonical_type(part) for part in parts)}>"


def _field(text: str) -> str:
    """`name: type` or `name type`; Spark's short form does not quote a name with blanks."""
    name, colon, kind = text.strip().partition(":") if "`" not in text else ("", "", "")
    if not (colon and not set("<(") & set(name)):
        found = _FIELD.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is no field of a struct")
        name = (found[1] or "").replace("``", "`") or found[2] or ""
        kind = found[3]
    return f"{name.strip().lower()}:{canonical_type(kind)}"


def _split(inner: str) -> list[str]:
    """The parts between commas that stand in no bracket and in no backticks."""
    parts, depth, quoted = [""], 0, False
    for char in inner:
        quoted ^= char == "`"
        if not quoted:
            depth += (char in "<(") - (char in ">)")
        if char == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    if depth or quoted:
        raise ValueError(f"brackets or quotes in {inner!r} do not match")
    return parts
