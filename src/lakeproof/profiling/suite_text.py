"""Drafts as a Python module: valid, formatted as ruff formats, safe for every name and value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from lakeproof.model.printable import printable
from lakeproof.profiling.draft import Draft

_WIDTH = 100
_INDENT = "    "
_TABLE = "TABLE"


def suite_text(
    table: str, drafts: Sequence[Draft], notes: Iterable[str] = (), module: str = "checks"
) -> str:
    """The module; its list is CHECKS, and the table's name stands once, at the top."""
    has_decimals = any(
        isinstance(value, Decimal) for draft in drafts for value in draft.params.values()
    )
    body = [line for draft in drafts for line in _draft_lines(draft)]
    return "\n".join(
        [
            f'"""Checks drafted by lakeproof init, to be edited: lakeproof run {module}:CHECKS."""',
            "",
            *(["from decimal import Decimal", ""] if has_decimals else []),
            "from lakeproof import QualityCheck",
            "",
            f"{_TABLE} = {python_text(table)}",
            "",
            *_comments(notes),
            *(["CHECKS = [", *body, "]"] if body else ["CHECKS: list[QualityCheck] = []"]),
            "",
        ]
    )


def python_text(text: str) -> str:
    """A string literal in double quotes that ruff leaves as it is.

    Quotes are written as escapes: which quotes ruff prefers depends on how many of each there are.
    """
    kept = printable(text.replace("\\", "\\\\")).replace('"', r"\x22").replace("'", r"\x27")
    return f'"{kept}"'


def _comments(notes: Iterable[str]) -> list[str]:
    return [f"# {printable(note)}".rstrip() for note in notes]


def _draft_lines(draft: Draft) -> list[str]:
    given: list[object] = [draft.name, draft.check, _Bare(_TABLE)]
    if draft.column:
        given.append(draft.column)
    arguments = [_one_line(value) for value in given]
    if draft.params:
        arguments.append(("" if draft.column else "params=") + _one_line(dict(draft.params)))
    whole = f"{_INDENT}QualityCheck({', '.join(arguments)}),"
    if _fits(whole):
        code = [whole]
    else:
        inner = _INDENT * 2
        code = [f"{_INDENT}QualityCheck("]
        code += [line for value in given for line in _lines(value, inner, "")]
        if draft.params:
            code += _lines(dict(draft.params), inner, "" if draft.column else "params=")
        code.append(f"{_INDENT}),")
    return [f"{_INDENT}{line}" for line in _comments([draft.evidence])] + code


class _Bare(str):
    """A name in the module, not a text."""

    __slots__ = ()


def _fits(line: str) -> bool:
    # Only of ASCII is the width certain; a trailing comma keeps what is broken up broken up.
    return line.isascii() and len(line) <= _WIDTH


def _lines(value: object, indent: str, before: str) -> list[str]:
    """The value as an argument of its own, broken up if it must be."""
    whole = f"{indent}{before}{_one_line(value)},"
    if _fits(whole) or not isinstance(value, (dict, list)):
        return [whole]
    inner = indent + _INDENT
    if isinstance(value, dict):
        entries = [
            line
            for key, item in value.items()
            for line in _lines(item, inner, f"{python_text(str(key))}: ")
        ]
        return [f"{indent}{before}{{", *entries, f"{indent}}},"]
    return [
        f"{indent}{before}[",
        *(line for item in value for line in _lines(item, inner, "")),
        f"{indent}],",
    ]


def _one_line(value: object) -> str:
    if isinstance(value, _Bare):
        return str(value)
    if isinstance(value, str):
        return python_text(value)
    if isinstance(value, Decimal):
        return f"Decimal({python_text(str(value))})"
    if isinstance(value, dict):
        entries = (f"{python_text(str(key))}: {_one_line(item)}" for key, item in value.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_one_line(item) for item in value)}]"
    return repr(value).replace("e+", "e")
