"""Which way a table is read, and why: decided on facts, without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lakeproof.config import TableSettings
from lakeproof.errors import ConfigError
from lakeproof.model.printable import counted
from lakeproof.model.reading import Mark, Mode

AUTO = "auto"
MODES = (AUTO, *(mode.value for mode in Mode))
INDEXED_BYTES_MIN = 32 * 1024 * 1024
"""Below this a table is read whole sooner than its key index is kept."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a table's metadata say of its changes.

    `has_feed`: it has a change feed or changelog; `asked_for`: somebody switched that on for this
    table. Else `no_feed` says why not, and `advice` is the statement that would make it so.
    `size_bytes` is None where metadata do not tell it, or it decides nothing. `is_pinned`: it has a
    history to name.
    """

    has_feed: bool
    asked_for: bool = False
    no_feed: str = ""
    advice: str = ""
    size_bytes: int | None = None
    is_pinned: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """The way to read, why, and what would make the table incremental if it is not."""

    mode: Mode
    reason: str
    advice: str = ""

    @property
    def is_incremental(self) -> bool:
        return self.mode is not Mode.SNAPSHOT


def choose_mode(
    wanted: str, settings: TableSettings, abilities: Abilities, *, has_state: bool = False
) -> Choice:
    """The mode for a table; `wanted` is what the user asked for, `auto` if nothing.

    `has_state`: rules of the table stand on changes already, so its size no longer matters.
    """
    if wanted == AUTO:
        return _automatic(settings, abilities, has_state=has_state)
    mode = Mode(wanted)
    if mode is Mode.CDF and not abilities.is_pinned:
        return Choice(Mode.SNAPSHOT, f"the whole table: {abilities.no_feed}")
    if mode is Mode.CDF and not abilities.has_feed:
        raise ConfigError(
            f"mode cdf: {abilities.no_feed}"
            + (f". Run {abilities.advice}" if abilities.advice else "")
        )
    if mode is Mode.WATERMARK and settings.watermark is None:
        raise ConfigError(
            "mode watermark: no watermark is declared for the table. Add "
            'watermark = {column = "...", allowed_lateness = "1h"} under its [tables] entry'
        )
    return Choice(mode, f"mode {mode} was asked for")


def _automatic(settings: TableSettings, abilities: Abilities, *, has_state: bool) -> Choice:
    if abilities.has_feed:
        size = abilities.size_bytes
        is_small = size is not None and size < INDEXED_BYTES_MIN
        if is_small and not (abilities.asked_for or has_state):
            return Choice(
                Mode.SNAPSHOT,
                f"the whole table: {counted(size or 0, 'byte')} are read sooner than a key index "
                "is kept",
                'mode = "cdf" under its [tables] entry, or --mode cdf',
            )
        return Choice(Mode.CDF, "the table has a change feed")
    if settings.watermark is not None:
        return Choice(
            Mode.WATERMARK,
            f"{abilities.no_feed}; watermark {settings.watermark.column} is declared",
            abilities.advice,
        )
    return Choice(Mode.SNAPSHOT, f"the whole table: {abilities.no_feed}", abilities.advice)


class Part(StrEnum):
    """What a run does about a rule of a table.

    `STILL`: nothing is new, so it says what it said. `CHANGES`: it reads what changed. `REBUILD`:
    its state is built from the whole table, once. `WHOLE`: it is evaluated over the whole table,
    every time.
    """

    STILL = "still"
    CHANGES = "changes"
    REBUILD = "rebuild"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Share:
    """Rules of one table that are read alike in a run, and why.

    `since` is how far they have come. `code` names the gap that makes them be built anew; a rule
    that never ran has none.
    """

    part: Part
    rule_ids: tuple[str, ...]
    reason: str
    since: Mark | None = None
    code: str = ""
