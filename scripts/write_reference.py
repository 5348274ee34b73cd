"""Writes the generated part of docs/reference: a page per check, and the state tables.

    .venv/bin/python scripts/write_reference.py

A test compares the pages with what this would write, so they cannot go stale.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from lakeproof.checks.catalogue import aliases_of, check_names, find_check
from lakeproof.checks.kinds import Check, KeyCheck, MeasureCheck, QueryCheck, RowCheck
from lakeproof.config import STATE_TABLES
from lakeproof.state.tables import SCHEMA_VERSION, TABLES

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
SHAPES = {
    RowCheck: "row check: counted in the table's one scan; bad rows are listed by key",
    MeasureCheck: "measure check: taken in the table's one scan",
    KeyCheck: "key check: one action per distinct key set; repeated keys are listed",
    QueryCheck: "query check: one action per query; returned rows are listed",
}


def shape_of(check: Check) -> str:
    return next(text for kind, text in SHAPES.items() if isinstance(check, kind))


def columns_of(check: Check) -> str:
    if check.columns_max == 0:
        return "none"
    return "one" if check.columns_max == 1 else "one, or several that form a key together"


def page(name: str) -> str:
    """The page of one check."""
    check = find_check(name)
    rows = [
        f"| `{item.name}` | {' or '.join(kind.__name__ for kind in item.types)} | "
        f"{'required' if item.required else f'`{item.default!r}`'} | {item.meaning} |"
        for item in check.parameters
    ]
    table = ["| parameter | type | default | meaning |", "|---|---|---|---|", *rows]
    aliases = ", ".join(f"`{alias}`" for alias in aliases_of(name)) or "none"
    return "\n".join(
        [
            f"# `{name}`",
            "",
            inspect.cleandoc(type(check).__doc__ or ""),
            "",
            f"- Shape: {shape_of(check)}",
            f"- Columns: {columns_of(check)}",
            f"- Dimension, unless set: {check.dimension}",
            f"- Aliases: {aliases}",
            "",
            *(table if rows else ["It takes no `params`."]),
            "",
            "The arguments that every check takes (`filter`, `severity`, `tolerance`, ...) are in",
            "[the guide to suites](../../guides/suites.md).",
            "",
        ]
    )


def pages() -> dict[str, str]:
    """Path below docs/reference to text."""
    listed = [f"- [`{name}`]({name}.md)" for name in check_names()]
    index = "\n".join(["# Checks", "", *listed, ""])
    return {
        "state-tables.md": state_page(),
        "checks/index.md": index,
        **{f"checks/{name}.md": page(name) for name in check_names()},
    }


def state_page() -> str:
    """Every column of every state table."""
    lines = ["# State tables", "", f"Schema version {SCHEMA_VERSION}. Moments are UTC, no zone."]
    for kind, table in TABLES.items():
        lines += ["", f"## `{STATE_TABLES[kind]}`", "", f"{table.meaning}.", ""]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        lines += [f"| `{one.name}` | {one.type_text} | {one.meaning} |" for one in table.columns]
    return "\n".join([*lines, ""])


def main() -> None:
    for name, text in pages().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
