"""How GitHub's runner, Azure's and TeamCity's agents read a job's log for commands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

REGISTERED = frozenset(
    (
        "add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group",
        "notice", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands",
        "warning",
    )
)  # fmt: skip


@dataclass(frozen=True)
class LogCommand:
    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def commands_in(text):
    """Every command that one of these services would obey, line by line."""
    return [found for line in re.split(r"\r\n|\r|\n", text) for found in _commands_of(line)]


def _commands_of(line):
    line_v2 = line.lstrip()
    if line_v2.startswith("::") and "::" in line_v2[2:]:
        head, _, data = line_v2[2:].partition("::")
        name, _, told = head.partition(" ")
        if name in REGISTERED:
            pairs = [pair.partition("=") for pair in told.strip().split(",") if "=" in pair]
            properties = {key.strip(): _unescaped(value) for key, _, value in pairs}
            return [LogCommand(name, _unescaped(data), properties)]
    found = re.search(r"##\w*\[([^\] ]*)[^\]]*\](.*)", line)
    return [LogCommand(found[1], found[2])] if found else []


def _unescaped(text):
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text
