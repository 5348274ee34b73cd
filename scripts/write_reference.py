"""Writes the generated part of docs/reference: checks, keys, commands, documents, tables.

    .venv/bin/python scripts/write_reference.py

A test compares the pages with what this would write, so they cannot go stale.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import click
from accounting_levels import levels_page

from lakeproof.checks.catalogue import aliases_of, check_names, find_check
from lakeproof.checks.kinds import (
    Check,
    KeyCheck,
    MeasureCheck,
    PairCheck,
    QueryCheck,
    RelatedCheck,
    RowCheck,
)
from lakeproof.cli.first_config import config_text
from lakeproof.cli.main import main as command_line
from lakeproof.config import (
    CONTRACT_CHOICES,
    FAIL_ON,
    FORMATS,
    NULL_WATERMARKS,
    READ_MODES,
    SESSIONS,
    SEVERITIES,
    STATE_TABLES,
    Config,
    ContractSettings,
    GateSettings,
    SessionSettings,
    StoreSettings,
    TableSettings,
)
from lakeproof.reporting.document import schema_text
from lakeproof.state.tables import SCHEMA_VERSION, TABLES

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
SHAPES = {
    RowCheck: "row check: counted in the table's one scan; bad rows are listed by key",
    MeasureCheck: "measure check: taken in the table's one scan, unless said otherwise above; it "
    "lists no rows",
    KeyCheck: "key check: one action per distinct key set; repeated keys are listed",
    RelatedCheck: "check against other rows: one action; bad rows are listed by key",
    QueryCheck: "query check: one action per query; returned rows are listed",
    PairCheck: "comparison with another table: actions of its own on both; what differs is listed, "
    "unless said otherwise above",
}
_KEY_COLUMNS = KeyCheck.columns_max
_NUMBERS = ("none", "one", "two")
_WATERMARK_KEYS = (
    ("column", "str", "must be given", ""),
    ("allowed_lateness", 'duration such as "2h", or a number', "must be given", ""),
    ("nulls", "str", repr(NULL_WATERMARKS[0]), ", ".join(NULL_WATERMARKS)),
    ("timezone", "str", "''", ""),
    ("skew", 'duration such as "5m"', "0", ""),
)
_WIDTH = 80


def pages() -> dict[str, str]:
    """Path below docs/reference to text."""
    return {
        "checks/index.md": index_page(),
        **{f"checks/{name}.md": check_page(name) for name in check_names()},
        "accounting-levels.md": levels_page(),
        "cli.md": cli_page(),
        "configuration.md": configuration_page(),
        "result-document.md": document_page(),
        "state-tables.md": state_page(),
    }


def table(head: str, rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table; a `|` inside a cell would end it."""
    lines = [head, "|---" * (head.count("|") - 1) + "|"]
    cells = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells)]


def shape_of(check: Check) -> str:
    if isinstance(check, RelatedCheck) and check.keyed_by_columns:
        return "check against another table: one action; keys that it lacks are listed"
    return next(text for kind, text in SHAPES.items() if isinstance(check, kind))


def columns_of(check: Check) -> str:
    fewest, most = check.columns_min, check.columns_max
    if most == _KEY_COLUMNS:
        return "one, or several that form a key together"
    if most >= len(_NUMBERS):
        return f"{_NUMBERS[fewest]}, or as many as are wanted"
    return _NUMBERS[most] if fewest == most else f"{_NUMBERS[fewest]} to {_NUMBERS[most]}"


def meaning_of(check: Check) -> str:
    return inspect.cleandoc(type(check).__doc__ or "")


def index_page() -> str:
    """Every check with the first paragraph of its meaning."""
    rows = [
        (f"[`{name}`]({name}.md)", " ".join(meaning_of(find_check(name)).split("\n\n")[0].split()))
        for name in check_names()
    ]
    told = "An example of each is in [the guide](../../guides/suites.md#an-example-of-each-check)."
    return "\n".join(["# Checks", "", told, "", *table("| check | what it asks |", rows), ""])


def check_page(name: str) -> str:
    check = find_check(name)
    rows = [
        (
            f"`{item.name}`",
            " or ".join(kind.__name__ for kind in item.types),
            "required" if item.required else f"`{item.default!r}`",
            item.meaning,
        )
        for item in check.parameters
    ]
    parameters = table("| parameter | type | default | meaning |", rows)
    aliases = ", ".join(f"`{alias}`" for alias in aliases_of(name)) or "none"
    return "\n".join(
        [
            f"# `{name}`",
            "",
            meaning_of(check),
            "",
            f"- Shape: {shape_of(check)}",
            f"- Columns: {columns_of(check)}",
            f"- Dimension, unless set: {check.dimension}",
            f"- Aliases: {aliases}",
            "",
            *(parameters if rows else ["It takes no `params`."]),
            "",
            "The arguments that every check takes (`filter`, `severity`, `tolerance`, ...) and an",
            "example are in [the guide](../../guides/suites.md).",
            "",
        ]
    )


def state_page() -> str:
    """Every column of every state table."""
    lines = ["# State tables", "", f"Schema version {SCHEMA_VERSION}. Moments are UTC, no zone."]
    for kind, kept in TABLES.items():
        lines += ["", f"## `{STATE_TABLES[kind]}`", "", f"{kept.meaning}.", ""]
        lines += table(
            "| column | type | meaning |",
            ((f"`{one.name}`", f"`{one.type_text}`", one.meaning) for one in kept.columns),
        )
    return "\n".join([*lines, ""])


def configuration_page() -> str:
    """Every key with type and default, then the file that `lakeproof init` writes."""
    names = ((key, "str", repr(default), "") for key, default in STATE_TABLES.items())
    sections = [
        ("Top of the file", _keys(Config())),
        ("`[store]`", _keys(StoreSettings(), {"format": FORMATS})),
        ("`[store.tables]`", names),
        (
            '`[tables."NAME"]`, one for each table, by its short or full name',
            [
                *(
                    key
                    for key in _keys(TableSettings(), {"mode": READ_MODES})
                    if key[0] != "watermark"
                ),
                ("watermark", "str, or the keys below", "none", ""),
            ],
        ),
        ("`watermark` of a table", _WATERMARK_KEYS),
        ("`[contracts]`", _keys(ContractSettings(), CONTRACT_CHOICES)),
        (
            "`[contracts.severities]`, one key for each word of your contracts",
            [("WORD", "str", "'error'", ", ".join(SEVERITIES))],
        ),
        ("`[gate]`", _keys(GateSettings(), {"fail_on": FAIL_ON})),
        ("`[session]`", _keys(SessionSettings(), {"use": SESSIONS})),
    ]
    lines = [
        "# Configuration keys",
        "",
        "Of `lakeproof.toml`, or `[tool.lakeproof]` in `pyproject.toml`. How they are used is in",
        "[the guide](../guides/configuration.md).",
    ]
    for title, keys in sections:
        rows = ((f"`{key}`", kind, f"`{default}`", one_of) for key, kind, default, one_of in keys)
        lines += ["", f"## {title}", "", *table("| key | type | default | one of |", rows)]
    lines += ["", "## The file that `lakeproof init` writes", "", "```toml"]
    return "\n".join([*lines, config_text(SessionSettings()).rstrip("\n"), "```", ""])


Key = tuple[str, str, str, str]
"""Name, type, default, allowed values."""


def _keys(settings: Any, allowed: Mapping[str, tuple[str, ...]] | None = None) -> Iterator[Key]:  # noqa: ANN401 (any of the settings)
    hints = get_type_hints(type(settings))
    for item in fields(settings):
        value = getattr(settings, item.name)
        is_section = hasattr(value, "__dataclass_fields__") or isinstance(value, dict)
        if is_section or item.name == "source":  # where the file is, which no file says
            continue
        kind = "list of str" if isinstance(value, tuple) else _type_text(hints[item.name])
        default = "[]" if isinstance(value, tuple) else "no limit" if value is None else repr(value)
        yield item.name, kind, default, ", ".join((allowed or {}).get(item.name, ()))


def _type_text(hint: Any) -> str:  # noqa: ANN401 (a type, or a union of them)
    return str(getattr(hint, "__name__", hint)).split(" | ")[0]


def cli_page() -> str:
    """The help of every command, as `--help` prints it."""
    root = click.Context(
        command_line,
        info_name="lakeproof",
        terminal_width=_WIDTH,
        **command_line.context_settings,
    )
    lines = ["# Commands", "", "What `--help` says of each."]
    for context in (root, *_below(root)):
        lines += ["", f"## `{context.command_path}`", "", "```text"]
        lines += [line.rstrip() for line in context.command.get_help(context).splitlines()]
        lines.append("```")
    return "\n".join([*lines, ""])


def _below(parent: click.Context) -> Iterator[click.Context]:
    """The commands of a group and, behind each, its own."""
    if not isinstance(parent.command, click.Group):
        return
    for name in parent.command.list_commands(parent):
        command = parent.command.get_command(parent, name)
        if command is not None:
            context = click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH)
            yield context
            yield from _below(context)


def document_page() -> str:
    """Every key of the result document, from its JSON Schema."""
    schema = json.loads(schema_text())
    head = "| key | type | meaning |"
    parts = [
        ("The document", schema),
        ("`gate`", schema["properties"]["gate"]),
        ("`counts`", schema["properties"]["counts"]),
        ("Each of `results`", schema["$defs"]["result"]),
    ]
    lines = [
        "# Result document",
        "",
        schema["description"],
        "",
        "`--format jsonl` prints the same as lines: one of `kind` `run` without `results`, then",
        "each result as one of `kind` `result`. `lakeproof show schema` prints the JSON Schema,",
        f"`{schema['$id']}`.",
    ]
    for title, part in parts:
        rows = (
            (f"`{key}`", _json_type(said), said.get("description", ""))
            for key, said in part["properties"].items()
        )
        lines += ["", f"## {title}", "", *table(head, rows)]
    return "\n".join([*lines, ""])


def _json_type(said: Mapping[str, Any]) -> str:
    if "const" in said:
        return f"`{said['const']}`"
    if "enum" in said:
        return " or ".join(f"`{one}`" for one in said["enum"])
    kinds = said["type"] if isinstance(said["type"], list) else [said["type"]]
    text = " or ".join(kinds)
    items = said.get("items", {}).get("type")
    return f"{text} of {items}" if items else text


def main() -> None:
    for name, text in pages().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
