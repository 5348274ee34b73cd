"""When a value or a row violates, in plain Python: the row checks beside the first five.

Nothing is taken from the checks. Formats are judged by the standard library where it knows them
(ipaddress, uuid, datetime, json), else by taking the text apart, never by a regular expression.
"""

from __future__ import annotations

import ipaddress
import json
import math
import operator
import string
import uuid
from collections.abc import Callable, Mapping, Sized
from datetime import date

from oracle.spark_values import order

LETTERS_DIGITS = set(string.ascii_letters + string.digits)
WHITE_SPACE = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}
LINE_ENDS = set("\n\r\x85\u2028\u2029")


# ------------------------------------------------------------------------------------- patterns


def _any(wanted: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: any(wanted(char) for char in text)


PATTERNS: dict[str, tuple[Callable[[str], bool], Callable[[str], bool]]] = {
    # Java's pattern: (what it means anywhere, what it means in full)
    "[0-9]": (
        _any(lambda char: char in string.digits),
        lambda text: len(text) == 1 and text in string.digits,
    ),
    "^a": (lambda text: text.startswith("a"), lambda text: text == "a"),
    r"a\z": (lambda text: text.endswith("a"), lambda text: text == "a"),
    "a|ab": (lambda text: "a" in text, lambda text: text in {"a", "ab"}),
    "(?i)NULL": (
        lambda text: "null" in _ascii_lower(text),
        lambda text: _ascii_lower(text) == "null",
    ),
    r"\\": (lambda text: "\\" in text, lambda text: text == "\\"),
    r"\$\{": (lambda text: "${" in text, lambda text: text == "${"),
    "O'B": (lambda text: "O'B" in text, lambda text: text == "O'B"),
    '"': (lambda text: '"' in text, lambda text: text == '"'),
    "\U0001f600": (lambda text: "\U0001f600" in text, lambda text: text == "\U0001f600"),
    "(?s)..": (lambda text: len(text) >= 2, lambda text: len(text) == 2),
    ".": (
        _any(lambda char: char not in LINE_ENDS),
        lambda text: len(text) == 1 and text not in LINE_ENDS,
    ),
    "x*": (lambda _text: True, lambda text: not text.strip("x")),
    "\n": (lambda text: "\n" in text, lambda text: text == "\n"),
}


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char in string.ascii_uppercase else char for char in text)


# -------------------------------------------------------------------------------------- formats


def is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower() and text.isascii()
    except ValueError:
        return False


def is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def is_hostname(text: str) -> bool:
    labels = text.split(".")
    return (
        len(text) <= 253
        and all(
            1 <= len(label) <= 63
            and set(label) <= LETTERS_DIGITS | {"-"}
            and not label.startswith("-")
            and not label.endswith("-")
            for label in labels
        )
        and not set(labels[-1]) <= set(string.digits)
    )


def is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    atoms = local.split(".")
    allowed = LETTERS_DIGITS | set("!#$%&'*+-/=?^_`{|}~")
    return (
        bool(at)
        and len(text) <= 254
        and len(local) <= 64
        and all(atom and set(atom) <= allowed for atom in atoms)
        and is_hostname(domain)
        and "." in domain
    )


def is_date(text: str) -> bool:
    if len(text) != 10 or not text.isascii() or text[4] != "-" or text[7] != "-":
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_timestamp(text: str) -> bool:
    """By cutting the text at fixed places; datetime says whether the moment exists."""
    if not text.isascii() or not is_date(text[:10]) or text[10:11] not in {"T", " "}:
        return False
    clock, rest = text[11:19], text[19:]
    if not _is_clock(clock, 3):
        return False
    if rest.startswith("."):
        digits = len(rest) - 1 - len(rest[1:].lstrip(string.digits))
        if not 1 <= digits <= 9:
            return False
        rest = rest[1 + digits :]
    if rest in {"", "Z"}:
        return True
    return rest[:1] in {"+", "-"} and _is_clock(rest[1:], 2)


def _is_clock(text: str, parts: int) -> bool:
    numbers = text.split(":")
    if len(numbers) != parts or any(len(one) != 2 or not one.isdigit() for one in numbers):
        return False
    limits = (24, 60, 60)
    return all(int(one) < limit for one, limit in zip(numbers, limits, strict=False))


def is_json(text: str) -> bool:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    def refuse(name: str) -> object:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except ValueError:
        return False
    return True


UNRESERVED = LETTERS_DIGITS | set("-._~")
SUB_DELIMITERS = set("!$&'()*+,;=")
PCHAR = UNRESERVED | SUB_DELIMITERS | set(":@")


def is_uri(text: str) -> bool:
    """RFC 3986, appendix A, from the left: scheme, fragment, query, authority, path."""
    scheme, colon, rest = text.partition(":")
    if not colon or not scheme or scheme[0] not in string.ascii_letters:
        return False
    if not set(scheme) <= LETTERS_DIGITS | set("+-."):
        return False
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    if not all(_is_made_of(part, PCHAR | set("/?")) for part in (fragment, query)):
        return False
    if not rest.startswith("//"):
        return _is_made_of(rest, PCHAR | {"/"})
    authority, slash, path = rest[2:].partition("/")
    return _is_authority(authority) and _is_made_of(slash + path, PCHAR | {"/"})


def _is_authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and not _is_made_of(user, UNRESERVED | SUB_DELIMITERS | {":"}):
        return False
    if host.startswith("["):
        literal, closed, port = host[1:].partition("]")
        return bool(closed) and _is_ip_literal(literal) and _is_port(port)
    name, colon, port = host.partition(":")
    return _is_made_of(name, UNRESERVED | SUB_DELIMITERS) and _is_port(colon + port)


def _is_ip_literal(text: str) -> bool:
    if text[:1] not in {"v", "V"}:
        return is_ipv6(text)
    version, dot, address = text[1:].partition(".")
    return (
        bool(dot and version and address)
        and set(version) <= set(string.hexdigits)
        and set(address) <= UNRESERVED | SUB_DELIMITERS | {":"}
    )


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and set(text[1:]) <= set(string.digits))


def _is_made_of(text: str, allowed: set[str]) -> bool:
    first, *escaped = text.split("%")
    if not all(len(part) >= 2 and set(part[:2]) <= set(string.hexdigits) for part in escaped):
        return False
    return all(set(part) <= allowed for part in (first, *(part[2:] for part in escaped)))


FORMATS: dict[str, Callable[[str], bool]] = {
    "uuid": is_uuid,
    "email": is_email,
    "uri": is_uri,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "date": is_date,
    "iso_date": is_date,
    "timestamp": is_timestamp,
    "iso_timestamp": is_timestamp,
    "json": is_json,
}


# --------------------------------------------------------------------------------------- checks


def violates_row_check(check_type: str, value: object, params: Mapping[str, object]) -> bool:
    """Whether one value violates one of the checks over a single value; None never does."""
    if value is None:
        return False
    match check_type:
        case "not_empty":
            return _is_empty(value, params)
        case "matches_pattern":
            return not _matches(value, params)
        case "not_matches_pattern":
            return _matches(value, params)
        case "length_range":
            low, high = params.get("min_length"), params.get("max_length")
            return not (low or 0) <= _length(value) <= (math.inf if high is None else high)
        case "format":
            return not FORMATS[str(params["kind"])](str(value))
    raise AssertionError(f"the oracle does not know {check_type!r}")


def _is_empty(value: object, params: Mapping[str, object]) -> bool:
    if isinstance(value, str) and params.get("trim"):
        return set(value) <= WHITE_SPACE
    return _length(value) == 0


def _length(value: object) -> int:
    assert isinstance(value, Sized)
    return len(value)


def _matches(value: object, params: Mapping[str, object]) -> bool:
    anywhere, in_full = PATTERNS[str(params["pattern"])]
    return (in_full if params.get("full") else anywhere)(str(value))


_OPERATORS: dict[str, Callable[[object, object], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


def violates_pair(left: object, right: object, relation: str) -> bool:
    """Whether the relation is false although both values are there; NaN has no place in order."""
    if left is None or right is None:
        return False
    if relation not in {"=", "!="} and (_is_nan(left) or _is_nan(right)):
        return True
    return not _OPERATORS[relation](order(left), order(right))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
