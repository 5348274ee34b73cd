from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlglot import exp

from lakeproof.checks.format_patterns import FORMAT_PATTERNS
from lakeproof.checks.kinds import Arguments, ColumnCheck
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.patterns import contains, text_value
from lakeproof.checks.trino import IS_JSON
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.nearest import nearest

_KINDS = (*FORMAT_PATTERNS, "json")
_ALIASES = {"iso_date": "date", "iso_timestamp": "timestamp"}

_MISREAD_ESCAPE = r"(?<!\\)(?:\\\\)*\\u[0-9A-Fa-f]{0,3}[^\x00-\x7F]"
"""An escape such as `\\u00e` with a digit beyond ASCII, which Spark's parser reads as if hex."""


class Format(ColumnCheck):
    """Text is written in a known format, from its first to its last character.

    NULL never violates; the empty text does, for every kind.

    - `uuid`: RFC 9562, 8-4-4-4-12 hexadecimal digits in either case, of any version; no braces,
      no `urn:uuid:`.
    - `email`: RFC 5321 address in ASCII, `local@domain`: atoms joined by dots (at most 64
      characters), a host name of two labels or more, at most 254 characters. No quoted local
      part, no comment, no IP address, no display name.
    - `uri`: RFC 3986 URI with its scheme, such as `https://a/b?c#d` or `urn:a:b`; no relative
      reference, no character beyond ASCII.
    - `hostname`: RFC 1123, labels of 1 to 63 letters, digits and inner hyphens, joined by dots,
      at most 253 characters, the last label not a number; no underscore, no dot at the end, no
      character beyond ASCII (`xn--` labels pass).
    - `ipv4`: four decimal numbers from 0 to 255, without leading zeros.
    - `ipv6`: RFC 4291, with `::` for one group or more and an IPv4 address at the end; no zone
      (`%eth0`), no brackets, no prefix length.
    - `date` (or `iso_date`): `YYYY-MM-DD`, a day of the Gregorian calendar from year 0001 to
      9999.
    - `timestamp` (or `iso_timestamp`): such a date, `T` or one blank, `HH:MM:SS`, a fraction of 1
      to 9 digits or none, and `Z`, `+HH:MM`, `-HH:MM` or no zone. No leap second, no `24:00`.
    - `base64`: RFC 4648, the standard alphabet with its padding; no line breaks.
    - `json`: RFC 8259, any value, the keys of each object unique. What Spark does not read
      violates: more than 999 levels, a number of more than 1,000 digits, a key of more than
      50,000 characters, a string of more than 20 million.
    """

    name = "format"
    dimension = "validity"
    parameters = (Parameter("kind", (str,), f"one of {', '.join(_KINDS)}", required=True),)

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        given = str(arguments["kind"])
        kind = _ALIASES.get(given, given)
        if kind not in _KINDS:
            near = nearest(kind, _KINDS, count_max=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise CheckDefinitionError(
                f"parameter 'kind' of check 'format' is {given!r}.{hint} "
                f"Known: {', '.join(_KINDS)}."
            )
        return {"kind": kind}

    def violates(self, column: Column, arguments: Arguments, now: datetime) -> exp.Expr:
        value = text_value(self.name, column)
        kind = str(arguments["kind"])
        if kind == "json":
            there = exp.Is(this=value, expression=exp.Null()).not_()
            misread = contains(value.copy(), _MISREAD_ESCAPE)
            return exp.and_(there, exp.or_(misread, exp.Not(this=_is_json(value.copy()))))
        found = contains(value, FORMAT_PATTERNS[kind])
        return exp.Not(this=exp.paren(found, copy=False))

    def complaint(self, column: str, arguments: Arguments) -> str:
        return f"have {column} not in the format {arguments['kind']}"


def _is_json(text: exp.Expr) -> exp.Expr:
    """Whether the text is one JSON value and nothing else.

    Spark's parser ignores what follows the first value, so the text is put into an array before
    another element, and that one must be found behind it. It is a hash of the text, since a text
    that ends the array itself could bring along any other element.
    """
    mark = exp.MD5(this=text)
    quoted = [exp.Literal.string("["), text.copy(), exp.Literal.string(',"')]
    array = exp.func("concat", *quoted, mark.copy(), exp.Literal.string('"]'))
    parsed = exp.Anonymous(this="try_parse_json", expressions=[array])
    found = exp.Anonymous(
        this="try_variant_get",
        expressions=[parsed, exp.Literal.string("$[1]"), exp.Literal.string("string")],
    )
    is_json = exp.paren(exp.NullSafeEQ(this=found, expression=mark), copy=False)
    is_json.meta[IS_JSON] = text
    return is_json
