"""The code blocks of a documentation page, and the commands in them with what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "start.md",
    *sorted((DOCS / "guides").glob("*.md")),
    *sorted((DOCS / "operating").glob("*.md")),
)
"""The pages that people write; those of the reference are generated."""

COMMANDS = frozenset({"console", "sh"})
LANGUAGES = COMMANDS | {"python", "sql", "toml", "yaml", "text"}

_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<why>.+?) -->\n)?^```(?P<language>\S*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"# ([\w./-]+\.(?:py|toml|ya?ml))\n")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `not_run` is the page's reason for leaving it alone, '' if it is run.

    A block whose first line is a comment with a file's name is that file.
    """

    language: str
    text: str
    not_run: str = ""

    @property
    def file_name(self) -> str:
        named = _FILE.match(self.text)
        return named[1] if named else ""


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, and the lines that the page shows below it."""

    typed: str
    shown: tuple[str, ...] = ()


def blocks_of(page: Path) -> list[Block]:
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["language"], one["text"], one["why"] or "") for one in found]


def commands_of(block: Block) -> list[Command]:
    """`sh`: every line is typed. `console`: lines after `$ ` are, the others are printed."""
    if block.language == "sh":
        lines = (line.partition("#")[0].strip() for line in block.text.splitlines())
        return [Command(line) for line in lines if line]
    commands: list[Command] = []
    for entry in re.split(r"^\$ ", block.text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        typed, *shown = entry.rstrip("\n").split("\n")
        commands.append(Command(" ".join(typed.split()), tuple(shown)))
    return commands
