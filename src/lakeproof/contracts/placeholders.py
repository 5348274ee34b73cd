"""Placeholders of a contract: the standard's own names first, then variables.

`{x}` and `${x}` stand for the object, the property and where they are, if `x` is one of the
`RESERVED` names; letter case matters. Every other `${VAR}` is a variable, `${VAR:-default}` one
with a default. Braces around anything else belong to the text: `[0-9]{4}` is a regular expression.
What is filled in is never read again, so a value cannot hold a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from lakeproof.contracts.yaml_document import pointer_to
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest

TABLE_NAMES = ("object", "table", "model")
COLUMN_NAMES = ("property", "column", "field")
PLACE_NAMES = ("schema", "dataset", "project", "catalog", "database")
RESERVED = frozenset((*TABLE_NAMES, *COLUMN_NAMES, *PLACE_NAMES))

_PLACEHOLDER = re.compile(
    r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)(?P<given>:-(?P<default>[^}]*))?\}"
    rf"|(?<!\$)\{{(?P<bare>{'|'.join(sorted(RESERVED))})\}}"
)
# A comment, a string or a quoted name. A quote inside a comment opens nothing.
_QUOTED = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`",
    re.DOTALL,
)

_SHORT = 4

Reserved = Callable[[str], str]
"""The text that stands for a reserved name; it raises where nothing does."""


def fill(text: str, *, reserved: Mapping[str, str], variables: Mapping[str, str]) -> str:
    """The text with its placeholders filled in.

    `reserved` gives the names that mean something here; another one is refused. Where it is
    empty no reserved name applies, and all of them stay. An unset variable is refused: it never
    becomes an empty text.
    """
    return _replaced(text, _lookup(reserved) if reserved else None, variables)


def fill_sql(
    text: str,
    *,
    names: Mapping[str, str],
    sql: Mapping[str, str],
    variables: Mapping[str, str],
) -> str:
    """The same for a query: `sql` stands in its code, the plain `names` inside quotes.

    So `FROM ${table}` gets a quoted name, and the text `'${table}'` or the name
    `` `${project}.${table}` `` gets its bare characters.
    """
    pieces: list[str] = []
    done = 0
    for quoted in _QUOTED.finditer(text):
        pieces += [
            _replaced(text[done : quoted.start()], _lookup(sql), variables),
            _replaced(quoted.group(), _lookup(names), variables),
        ]
        done = quoted.end()
    return "".join([*pieces, _replaced(text[done:], _lookup(sql), variables)])


def placeholders_in(text: str) -> frozenset[str]:
    """The names of its placeholders; those that are not reserved are variables."""
    return frozenset(found["bare"] or found["name"] for found in _PLACEHOLDER.finditer(text))


def unset_variables(text: str, variables: Mapping[str, str]) -> frozenset[str]:
    """The variables that the text needs and that are not set."""
    found = {match["name"] for match in _PLACEHOLDER.finditer(text) if not match["given"]}
    return frozenset(name for name in found if name) - RESERVED - variables.keys()


def without_values(told: str, value: object, variables: Mapping[str, str]) -> str:
    """A message with the names of variables for their values, which may be secret.

    `value` is what it is about, as the file has it. A short value is only found as a word.
    """
    names = placeholders_in(str(value)) - RESERVED
    known = {name: variables[name] for name in names if variables.get(name)}
    for name, text in sorted(known.items(), key=lambda item: -len(item[1])):
        pattern = re.escape(text)
        if len(text) < _SHORT:
            pattern = rf"(?<!\w){pattern}(?!\w)"
        told = re.sub(pattern, lambda _: f"${{{name}}}", told)  # noqa: B023 (called at once)
    return told


def resolve_variables(
    value: object,
    variables: Mapping[str, str],
    pointer: str = "",
    kept: frozenset[str] = frozenset(),
) -> object:
    """A value of the file with the variables of every text inside it; reserved names stay.

    Keys stay as they are, and so does what stands under those that are `kept`. An error names
    the place as a JSON pointer.
    """
    if isinstance(value, str):
        try:
            return fill(value, reserved={}, variables=variables)
        except CheckDefinitionError as problem:
            raise CheckDefinitionError(f"{pointer or '/'}: {problem}") from None
    if isinstance(value, Mapping):
        return {
            key: item
            if key in kept
            else resolve_variables(item, variables, pointer_to(pointer, str(key)), kept)
            for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [
            resolve_variables(item, variables, pointer_to(pointer, number), kept)
            for number, item in enumerate(value)
        ]
    return value


def _replaced(text: str, reserved: Reserved | None, variables: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: _filled(found, reserved, variables), text)


def _filled(found: re.Match[str], reserved: Reserved | None, variables: Mapping[str, str]) -> str:
    name = found["bare"] or found["name"]
    if name in RESERVED:
        return found.group() if reserved is None else reserved(name)
    if found["given"]:
        return variables.get(name) or found["default"]
    if name not in variables:
        near = nearest(name, sorted(RESERVED), 1)  # other variables are nobody's business
        hint = f" Did you mean ${{{near[0]}}}?" if near else ""
        raise CheckDefinitionError(
            f"the variable ${{{name}}} is not set.{hint} Set it, or write ${{{name}:-a default}}"
        )
    return variables[name]


def _lookup(reserved: Mapping[str, str]) -> Reserved:
    def text_of(name: str) -> str:
        if name in reserved:
            return reserved[name]
        raise CheckDefinitionError(f"${{{name}}} cannot be identified: {_remedy(name)}")

    return text_of


def _remedy(name: str) -> str:
    if name in COLUMN_NAMES:
        return "the rule stands on no column. Move it to one, or write the column's name"
    if name in TABLE_NAMES:
        return "the rule stands on no object. Move it to one, or write the table's name"
    return f"no server of the contract says its {name}. Add it there, or write the name"
