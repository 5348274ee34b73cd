r"""Regular expressions of ECMA-262, in which the standard writes patterns, as Java reads them.

Most of both languages is one. What differs is rewritten: `$` does not match before a line break at
the end, `.` stops at no U+0085, `\s` knows Unicode's blanks and `\b` ASCII only, `[^]` is any
character, `[` and `&&` are plain inside a class, groups may be called anything, and `\u{1F600}`,
`\cJ`, `\/` are escapes. What Java cannot express, or would read as something else, is refused by
name. A pattern has no flags; it is read by code points, as ECMA does with the flag `u`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lakeproof.errors import CheckDefinitionError

_BLANKS = r"\t\n\x0B\f\r \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
_NOT_LINE_END = r"[^\n\r\u2028\u2029]"
_NEVER = "(?!)"
_ANY = r"[\s\S]"

_GROUP_NAME = re.compile(r"\(\?<([^=!>][^>]*)>")
_FLAGS = re.compile(r"\(\?(i?)(-i)?:")
_LOOK_OPENINGS = ("(?=", "(?!", "(?<=", "(?<!")
_QUANTIFIER = re.compile(r"\*|\+|\?|\{\d+(?:,\d*)?\}")
_UNBOUNDED = re.compile(r"\*|\+|\{\d+,\}")
_MAY_BE_NONE = re.compile(r"\?|\*|\{0")

_SURROGATES = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_CODE_POINT = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
_PROPERTY = re.compile(r"\\([pP])\{(?:(\w+)=)?(\w+)\}")
_CONTROL = re.compile(r"\\c([A-Za-z])")
_ZERO = re.compile(r"\\0(?!\d)")
_REFERENCE = re.compile(r"\\k<([^>]+)>|\\([1-9]\d*)")
_LAST_CODE_POINT = 0x10FFFF

_PLAIN_ESCAPES = {
    **{letter: f"\\{letter}" for letter in "dDwWtnrf"},
    **{sign: f"\\{sign}" for sign in "^$\\.*+?()[]{}|-"},
    "/": "/",
    "v": r"\x0B",
}
_OUTSIDE_CLASSES = {
    "s": f"[{_BLANKS}]",
    "S": f"[^{_BLANKS}]",
    # Java's own counts letters beyond ASCII, up to version 18.
    "b": r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    "B": r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
}
_INSIDE_CLASSES = {"s": _BLANKS, "b": r"\x08"}

_SUBCATEGORIES = {
    "L": "ultmo",
    "M": "nce",
    "N": "dlo",
    "P": "cdseifo",
    "S": "mcko",
    "Z": "slp",
    "C": "cfson",
}
_CATEGORIES = frozenset(
    general + special for general, all_of in _SUBCATEGORIES.items() for special in ("", *all_of)
)
_CATEGORY_NAMES = {
    "Letter": "L",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Space_Separator": "Zs",
}
_BINARY_PROPERTIES = frozenset(
    {"Alphabetic", "Lowercase", "Uppercase", "White_Space", "Ideographic"}
)


def java_pattern(pattern: str) -> str:
    """The pattern for Java; CheckDefinitionError names what cannot be translated."""
    return _Translation(pattern).run()


@dataclass(frozen=True, slots=True)
class _Group:
    """A bracket that is open. `number` is 0 if it captures nothing; `first` its first capture."""

    number: int
    opening: str
    first: int


@dataclass
class _Translation:
    """One pass over the pattern; `at` is the next character, `out` what was written so far.

    `certain` are the groups that have matched something by now: to ECMA a reference to another
    one matches nothing, to Java it does not match.
    """

    text: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    open_groups: list[_Group] = field(default_factory=list)
    certain: set[int] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    count: int = 0
    in_class: bool = False
    has_alternatives: bool = False
    has_references: bool = False

    def run(self) -> str:
        while self.at < len(self.text):
            self.step()
        if self.open_groups:
            raise self.refusal("a bracket is not closed")
        if self.has_alternatives and self.has_references:
            raise self.refusal("a reference to a group that an alternative may have left out")
        return "".join(self.out)

    def refusal(self, what: str) -> CheckDefinitionError:
        return CheckDefinitionError(
            f"the pattern {self.text!r} cannot be translated from ECMA-262 to Java: {what}"
        )

    def step(self) -> None:
        char = self.text[self.at]
        taken: dict[str, Callable[[], None]] = {
            "\\": lambda: self.out.append(self.escape()),
            "[": lambda: self.out.append(self.character_class()),
            "(": self.open_group,
            ")": self.close_group,
            **dict.fromkeys("*+?{", self.quantifier),
        }
        if char in taken:
            taken[char]()
            return
        self.has_alternatives |= char == "|"
        self.put({"$": r"\z", ".": _NOT_LINE_END, "}": r"\}", "]": r"\]"}.get(char, char))

    def put(self, text: str, length: int = 1) -> None:
        self.out.append(text)
        self.at += length

    def quantifier(self) -> None:
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:  # a brace that repeats nothing stands for itself
            self.put(r"\{")
            return
        behind = any(group.opening.startswith("(?<") for group in self.open_groups)
        if behind and _UNBOUNDED.fullmatch(found[0]):
            raise self.refusal(f"{found[0]!r} in a lookbehind, of which Java must know the length")
        self.put(found[0], len(found[0]))
        if self.text.startswith("+", self.at):
            raise self.refusal(f"'+' behind {found[0]!r} repeats nothing")

    def open_group(self) -> None:
        rest = self.text[self.at :]
        named, flags = _GROUP_NAME.match(rest), _FLAGS.match(rest)
        look = [opening for opening in _LOOK_OPENINGS if rest.startswith(opening)]
        if named is not None:
            if named[1] in self.names:
                raise self.refusal(f"two groups are called {named[1]!r}")
            self.names[named[1]] = self.count + 1
            self.begin("(", named[0], captures=True)
        elif look:
            self.begin(look[0], look[0], captures=False)
        elif flags is not None:
            self.begin(flags[0].replace("i", "iu"), flags[0], captures=False)
        elif rest.startswith("(?"):
            raise self.refusal(f"{rest[:4]!r} opens a group that Java does not have, or has not so")
        else:
            self.begin("(", "(", captures=True)

    def begin(self, written: str, read: str, *, captures: bool) -> None:
        self.count += captures
        number = self.count if captures else 0
        opening = "" if captures else read
        self.open_groups.append(_Group(number, opening, self.count + (not captures)))
        self.put(written, len(read))

    def close_group(self) -> None:
        if not self.open_groups:
            raise self.refusal("a bracket closes nothing")
        group = self.open_groups.pop()
        self.certain |= {group.number} - {0}
        self.put(")")
        if _MAY_BE_NONE.match(self.text, self.at) or group.opening in {"(?!", "(?<!"}:
            self.certain -= set(range(group.first, self.count + 1))

    def escape(self) -> str:
        """The escape at this place, written for Java."""
        writers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
            (_SURROGATES, self.surrogates),
            (_CODE_POINT, self.code_point),
            (_PROPERTY, self.property_class),
            (_CONTROL, lambda found: f"\\x{ord(found[1]) % 32:02X}"),
            (_ZERO, lambda _found: r"\x00"),
            (_REFERENCE, self.reference),
        )
        for pattern, write in writers:
            found = pattern.match(self.text, self.at)
            if found:
                self.at = found.end()
                return write(found)
        letter = self.text[self.at + 1 : self.at + 2]
        known = {**_PLAIN_ESCAPES, **(_INSIDE_CLASSES if self.in_class else _OUTSIDE_CLASSES)}
        self.at += 2
        if letter in known:
            return known[letter]
        if letter and not (letter.isalnum() or letter == "_"):
            return f"\\{letter}"
        raise self.refusal(f"the escape \\{letter} has no meaning there")

    def surrogates(self, found: re.Match[str]) -> str:
        high, low = int(found[1], 16), int(found[2], 16)
        return f"\\x{{{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):X}}}"

    def code_point(self, found: re.Match[str]) -> str:
        number = int(found[1] or found[2] or found[3], 16)
        if number > _LAST_CODE_POINT:
            raise self.refusal(f"{found[0]} is no character")
        return f"\\x{{{number:X}}}"

    def property_class(self, found: re.Match[str]) -> str:
        letter, key, value = found[1], found[2], found[3]
        category = _CATEGORY_NAMES.get(value, value)
        if key in {None, "General_Category", "gc"} and category in _CATEGORIES:
            return f"\\{letter}{{{category}}}"
        if key is None and value in _BINARY_PROPERTIES:
            return f"\\{letter}{{Is{value}}}"
        if key in {"Script", "sc"}:
            return f"\\{letter}{{script={value}}}"
        raise self.refusal(f"{found[0]} is a property that Java does not have, or has not so")

    def reference(self, found: re.Match[str]) -> str:
        group = self.names.get(found[1], 0) if found[1] else int(found[2])
        if self.in_class or group not in self.certain:
            raise self.refusal(f"{found[0]} refers to a group that may not have matched there")
        self.has_references = True
        return f"\\{group}(?:)"  # so that a digit behind it is no part of the number

    def character_class(self) -> str:
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        pieces, has_not_blank = [], False
        self.in_class = True
        while self.text[self.at : self.at + 1] not in {"]", ""}:
            char = self.text[self.at]
            if self.text.startswith(r"\S", self.at):
                has_not_blank = True
                self.at += 2
            elif char == "\\":
                pieces.append(self.escape())
            else:
                pieces.append(f"\\{char}" if char in "[&^" else char)
                self.at += 1
        self.in_class = False
        if self.at >= len(self.text):
            raise self.refusal("a character class is not closed")
        self.at += 1
        return _class("".join(pieces), negated=negated, has_not_blank=has_not_blank)


def _class(members: str, *, negated: bool, has_not_blank: bool) -> str:
    r"""The class of these members; `\S` among them stands outside, for Java would nest it."""
    plain = f"[{members}]" if members else _NEVER
    if has_not_blank:
        blank = f"[{_BLANKS}]"
        return f"(?:(?!{plain}){blank})" if negated else f"(?:{plain}|[^{_BLANKS}])"
    if not members:
        return _ANY if negated else _NEVER
    return f"[^{members}]" if negated else plain
