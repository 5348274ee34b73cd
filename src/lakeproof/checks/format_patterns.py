r"""The formats that a regular expression can decide, spelled from the grammars of their RFCs.

They hold for whole texts (`\A` to `\z`: `$` would let a line break at the end pass), know ASCII
digits only, and take time linear in the text: repeated groups are bounded by a length that is
looked up first, and runs without a bound are single character classes. Engines agree on them.
"""

from __future__ import annotations

_HEX = "[0-9A-Fa-f]"

# A year is a leap year by its last two digits, or by its first two if the last are 00.
_DIVISIBLE_BY_4 = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_DIVISIBLE_BY_4}|(?:00|{_DIVISIBLE_BY_4})00)"
_DATE = (
    "(?!0000)(?:"
    "[0-9]{4}-(?:"
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8])"
    f")|{_LEAP_YEAR}-02-29)"
)
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIMESTAMP = f"{_DATE}[T ]{_CLOCK}:[0-5][0-9](?:\\.[0-9]{{1,9}})?(?:Z|[+-]{_CLOCK})?"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = f"{_OCTET}(?:\\.{_OCTET}){{3}}"


def _ipv6() -> str:
    """RFC 3986's nine lines: `::` once, at any place, for one group of zeros or more."""
    group = f"{_HEX}{{1,4}}"
    last = f"(?:{group}:{group}|{_IPV4})"
    lines = [
        f"(?:{group}:){{6}}{last}",
        *(
            f"{_up_to(5 - after, group)}::(?:{group}:){{{after}}}{last}"
            for after in range(5, -1, -1)
        ),
        f"{_up_to(6, group)}::{group}",
        f"{_up_to(7, group)}::",
    ]
    return f"(?:{'|'.join(lines)})"


def _up_to(groups: int, group: str) -> str:
    return f"(?:(?:{group}:){{0,{groups - 1}}}{group})?" if groups else ""


_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_TOP_LABEL = f"(?![0-9]+\\z){_LABEL}"
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"

_IPV6 = _ipv6()
# Runs of characters in which `%` may stand; that two digits follow it is looked up first.
_PLAIN = "-A-Za-z0-9._~%!$&'()*+,;="
_PATH = f"[{_PLAIN}:@/]*+"
_HOST = f"(?:\\[(?:{_IPV6}|[Vv]{_HEX}+\\.[{_PLAIN}:]+)\\]|[{_PLAIN}]*+)"
_AUTHORITY = f"(?:[{_PLAIN}:]*+@)?{_HOST}(?::[0-9]*+)?"
_URI = (
    f"(?!.*%(?!{_HEX}{{2}}))"
    "[A-Za-z][A-Za-z0-9+.-]*+:"
    f"(?://{_AUTHORITY}(?=[/?#]|\\z){_PATH}|(?!//){_PATH})"
    f"(?:\\?[{_PLAIN}:@/?]*+)?(?:#[{_PLAIN}:@/?]*+)?"
)

FORMAT_PATTERNS = {
    kind: f"\\A{pattern}\\z"
    for kind, pattern in {
        "uuid": f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
        "email": (
            f"(?=.{{3,254}}\\z)(?=[^@]{{1,64}}@){_ATOM}(?:\\.{_ATOM})*@(?:{_LABEL}\\.)+{_TOP_LABEL}"
        ),
        "uri": _URI,
        "hostname": f"(?=.{{1,253}}\\z)(?:{_LABEL}\\.)*{_TOP_LABEL}",
        "ipv4": _IPV4,
        "ipv6": _IPV6,
        "date": _DATE,
        "timestamp": _TIMESTAMP,
        "base64": "(?=.)(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
    }.items()
}
