"""YAML 1.2, core schema, from the parser's events: nothing is resolved that was not written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]

from lakeproof.contracts.finding import Finding, Level, Location
from lakeproof.contracts.tree import Tree, shown

_PARSER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_FINITE_NUMBERS: dict[str, float] = {
    **{sign + word: math.inf for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBER_CHARACTERS_MAX = 400
_OURS = (1, 2)


def read_yaml(text: str, tree: Tree) -> tuple[Finding, ...]:
    """Fill the tree from the one document of the text."""
    findings: list[Finding] = []
    documents_count = 0
    for event in _events(text, tree):
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.DocumentStartEvent):
            documents_count += 1
            if documents_count > 1:
                tree.refuse("a second document begins; a file holds one contract", line, column)
            if event.version not in {None, _OURS}:
                note = "%YAML names another version; the file is read as YAML 1.2"
                where = Location(tree.source, "", line, column)
                findings.append(Finding(Level.NOTE, note, where))
        else:
            _add(tree, event, line, column)
    if not documents_count:
        tree.refuse("the contract is empty", 1, 1)
    return tuple(findings)


def _events(text: str, tree: Tree) -> Iterator[Any]:
    try:
        parser = _PARSER(text)
        while parser.check_event():
            yield parser.get_event()
    except yaml.MarkedYAMLError as problem:
        line, column = _place(text, problem.problem_mark or problem.context_mark)
        said = ", ".join(part for part in (problem.context, problem.problem) if part)
        tree.refuse(_advice(text, line, column) or f"not valid YAML: {said}", line, column)
    except yaml.YAMLError as problem:
        tree.refuse(f"not valid YAML: {' '.join(str(problem).split())}", 1, 1)


def _place(text: str, mark: Any) -> tuple[int, int]:  # noqa: ANN401 - PyYAML has no types
    """Line and column; the end of the text stands in its last line, not in one behind it."""
    if mark is None:
        return 1, 1
    lines = text.split("\n")
    if mark.line < len(lines):
        return mark.line + 1, mark.column + 1
    return len(lines), len(lines[-1]) + 1


def _advice(text: str, line: int, column: int) -> str:
    """What is wrong where the parser's own words do not say it."""
    lines = text.splitlines()
    written = lines[line - 1] if line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "a tab is used for indentation. Use blanks."
    at = written[column - 1 : column]
    return f"a value may not begin with {at}; put it in quotes" if at in {"@", "`", "%"} else ""


def _add(tree: Tree, event: Any, line: int, column: int) -> None:  # noqa: ANN401 - as above
    if isinstance(event, yaml.AliasEvent):
        tree.refuse(f"alias *{event.anchor}: write the value out instead", line, column)
    if getattr(event, "anchor", None):
        tree.refuse(f"anchor &{event.anchor}: a contract has no aliases; remove it", line, column)
    if isinstance(event, yaml.NodeEvent) and event.tag is not None:
        tree.refuse(f"tag {shown(event.tag)}: a contract has none; remove it", line, column)
    if isinstance(event, yaml.CollectionEndEvent):
        tree.close()
    elif isinstance(event, yaml.CollectionStartEvent):
        if tree.awaits_key:
            tree.refuse("a key must be a text, not a mapping or list", line, column)
        tree.open({} if isinstance(event, yaml.MappingStartEvent) else [], line, column)
    elif isinstance(event, yaml.ScalarEvent):
        _add_scalar(tree, event, line, column)


def _add_scalar(tree: Tree, event: Any, line: int, column: int) -> None:  # noqa: ANN401 - as above
    is_plain = event.implicit[0]
    if any("\ud800" <= character <= "\udfff" for character in event.value):
        tree.refuse("a text holds half of a surrogate pair, which is no character", line, column)
    if not tree.awaits_key:
        value = _plain_value(tree, event.value, line, column) if is_plain else event.value
        tree.add_scalar(value, event.value, line, column)
    elif is_plain and event.value == "<<":
        tree.refuse("merge key <<: write the entries out instead", line, column)
    elif is_plain and not event.value:
        tree.refuse("a key is missing before the colon", line, column)
    else:
        tree.add_key(event.value, line, column)


def _plain_value(tree: Tree, text: str, line: int, column: int) -> object:
    """What an unquoted text means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if not any(form.fullmatch(text) for form in (_DECIMAL, _OCTAL, _HEXADECIMAL, _FLOAT)):
        return _NO_FINITE_NUMBERS.get(text, text)
    if len(text) > _NUMBER_CHARACTERS_MAX:
        tree.refuse(f"a number of {len(text)} characters; if it is text, quote it", line, column)
    number = _number(text)
    if math.isinf(number):
        tree.refuse(f"number {shown(text)} is too large; if it is text, quote it", line, column)
    return number


def _number(text: str) -> int | float:
    if _DECIMAL.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else int(text, 0)
