r"""The 41 formats that Soda names, each by what its name says: data checked there reads alike here.

Blanks around numbers, amounts, dates and times are allowed, and a sign may stand apart from its
number. As in `format_patterns` digits are ASCII, and a pattern spans the whole text.
"""

from __future__ import annotations

from lakeproof.checks.format_patterns import FORMAT_PATTERNS
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest

_MARKS = {"": "[.,]", " point": r"\.", " comma": ","}
_GROUP_MARKS = {" point": ",", " comma": r"\."}

_MONTH = "(?:0?[1-9]|1[0-2])"
_DAY = "(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:[0-9]{4}|[0-9]{2})"
_APART = "[-./]"

_SIXTY = "[0-5][0-9]"
_HOUR_24 = "(?:[01]?[0-9]|2[0-3])"
_HOUR_12 = "(?:0?[1-9]|1[0-2])"
_NOON = "(?: ?[AaPp][Mm])?"
_SECONDS = f":{_SIXTY}(?:[.,][0-9]+)?"


def _number(mark: str) -> str:
    return f"(?:[0-9]+(?:{mark}[0-9]+)?|{mark}[0-9]+)"


def _signed(name: str, number: str, end: str = "") -> dict[str, str]:
    """The format and its halves; zero belongs to both of them."""
    zero = number.replace("[0-9]", "0")
    return {
        name: f"[-+]? *{number}{end}",
        f"positive {name}": rf"\+? *{number}{end}",
        f"negative {name}": f"(?:- *{number}|{zero}){end}",
    }


def _numbers() -> dict[str, str]:
    found = _signed("integer", "[0-9]+")
    for kind, end in (("decimal", ""), ("percentage", " *%")):
        for name, mark in _MARKS.items():
            found |= _signed(f"{kind}{name}", _number(mark), end)
    return found


def _amounts() -> dict[str, str]:
    """A number, its thousands apart or not, with a currency's three letters behind."""
    amounts = {
        name: f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)(?:{_MARKS[name]}[0-9]+)?"
        for name, group in _GROUP_MARKS.items()
    }
    amounts[""] = f"(?:{'|'.join(amounts.values())})"
    return {
        f"money{name}": f"[-+]? *{amount} *(?:[A-Z]{{3}}|[a-z]{{3}})"
        for name, amount in amounts.items()
    }


def _iso_8601() -> str:
    """Calendar, week and ordinal dates, extended or basic, with a time or without."""
    day = FORMAT_PATTERNS["date"].removeprefix(r"\A").removesuffix(r"\z")
    basic = "[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
    week = "[0-9]{4}-?W(?:0[1-9]|[1-4][0-9]|5[0-3])(?:-?[1-7])?"
    ordinal = "[0-9]{4}-?(?:00[1-9]|0[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6])"
    hour = "(?:[01][0-9]|2[0-3])"
    clock = f"{hour}(?::?{_SIXTY}(?::?{_SIXTY}(?:[.,][0-9]+)?)?)?"
    zone = f"(?:Z|[+-]{hour}(?::?{_SIXTY})?)?"
    return f"(?:{day}|{basic}|{week}|{ordinal})(?:[T ]{clock}{zone})?"


_PADDED = {
    **_numbers(),
    **_amounts(),
    "date us": f"{_MONTH}{_APART}{_DAY}{_APART}{_YEAR}",
    "date eu": f"{_DAY}{_APART}{_MONTH}{_APART}{_YEAR}",
    "date inverse": f"{_YEAR}{_APART}{_MONTH}{_APART}{_DAY}",
    "date iso 8601": _iso_8601(),
    "time 24h": f"{_HOUR_24}:{_SIXTY}(?:{_SECONDS})?",
    "time 24h nosec": f"{_HOUR_24}:{_SIXTY}",
    "time 12h": f"{_HOUR_12}:{_SIXTY}(?:{_SECONDS})?{_NOON}",
    "time 12h nosec": f"{_HOUR_12}:{_SIXTY}{_NOON}",
    "timestamp 24h": f"{_HOUR_24}:{_SIXTY}{_SECONDS}",
    "timestamp 12h": f"{_HOUR_12}:{_SIXTY}{_SECONDS}{_NOON}",
}
_PHONE = (
    r"(?:(?:\+[0-9]{1,3}[ .-]?)?(?:\([0-9]{3}\) ?|[0-9]{3}[ .-]?))?[0-9]{3}[ .-]?[0-9A-Z]{4}"
    r"|\+[0-9](?:[ .-]?[0-9]){6,14}"
)
_CARD = "[0-9]{13,19}|[0-9]{4}(?:-[0-9]{4}){3}|[0-9]{4}(?: [0-9]{4}){3}"

SODA_FORMATS = {
    **{name: rf"\A *(?:{pattern}) *\z" for name, pattern in _PADDED.items()},
    "uuid": FORMAT_PATTERNS["uuid"],
    "ip address": FORMAT_PATTERNS["ipv4"],
    "ipv4 address": FORMAT_PATTERNS["ipv4"],
    "ipv6 address": FORMAT_PATTERNS["ipv6"],
    "email": FORMAT_PATTERNS["email"],
    "phone number": rf"\A(?:{_PHONE})\z",
    "credit card number": rf"\A(?:{_CARD})\z",
}


def read_format(check: str, parameter: str, given: object) -> str:
    """The format's name as Soda writes it; `date_us` and `Date US` are read as `date us`."""
    name = " ".join(str(given).replace("_", " ").lower().split())
    if name not in SODA_FORMATS:
        near = nearest(name, SODA_FORMATS, count_max=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} is {given!r}.{hint} "
            f"Known: {', '.join(SODA_FORMATS)}."
        )
    return name
