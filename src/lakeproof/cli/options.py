"""Options that several commands share, and the settings they make of the configuration file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from lakeproof.cli.main import VERBOSE
from lakeproof.config import (
    FORMATS,
    Config,
    SessionSettings,
    StoreSettings,
    find_config,
    load_config,
)
from lakeproof.errors import ConfigError
from lakeproof.model.reading import METHODS
from lakeproof.planning.read_mode import AUTO, MODES

Command = Callable[..., Any]

NO_STORE = "none"


@dataclass(frozen=True, slots=True)
class Where:
    """The options that say where to work, as they were typed ('' if not)."""

    config: str = ""
    warehouse: str = ""
    remote: str = ""
    store: str = ""

    @property
    def typed(self) -> str:
        """The same options for a command that is to look at the same place."""
        given = {
            "--config": self.config,
            "--warehouse": self.warehouse,
            "--remote": self.remote.split("/;", 1)[0],  # what follows may hold a token
            "--store": self.store,
        }
        return "".join(
            f" {option} {shlex.quote(value)}" for option, value in given.items() if value
        )

    def settings(self) -> Config:
        """The configuration file, or the one in this folder, or the defaults; options on top."""
        if self.warehouse and self.remote:
            raise click.UsageError("give --warehouse (embedded) or --remote, not both")
        path = Path(self.config) if self.config else find_config(Path.cwd())
        config = load_config(path) if path else Config()
        if self.warehouse:
            session = SessionSettings(use="embedded", warehouse=self.warehouse)
            return replace(config, session=session)
        if self.remote:
            return replace(config, session=replace(config.session, remote=self.remote))
        return config

    def kept_in(self, config: Config) -> StoreSettings | None:
        """Where results are kept; None for `--store none`."""
        if self.store == NO_STORE:
            return None
        return config.store_in(self.store) if self.store else config.store

    def store_to_open(self, config: Config) -> StoreSettings:
        kept = self.kept_in(config)
        if kept is None:
            raise ConfigError("--store none keeps nothing, so there is nothing to open")
        return kept


suite_argument = click.argument("suites", nargs=-1, required=True, metavar="SUITE...")

config_option = click.option(
    "--config",
    metavar="PATH",
    default="",
    help="lakeproof.toml; default: this folder's.",
)


def format_choice(*kinds: str) -> Callable[[Command], Command]:
    """--format, as `style`."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(kinds),
        default="console",
        help="json prints exactly one document.",
    )


format_option = format_choice("console", "json")


def where_options(*, stores: tuple[str, ...] = FORMATS) -> Callable[[Command], Command]:
    """--config, --store (unless `stores` is empty), --warehouse, --remote, joined as `where`."""
    options = [config_option]
    if stores:
        options.append(
            click.option(
                "--store",
                type=click.Choice(stores),
                default=None,
                help="Where results are kept.",
            )
        )
    options += [
        click.option(
            "--warehouse", metavar="PATH", default="", help="Folder of the embedded lakehouse."
        ),
        click.option("--remote", metavar="URL", default="", help="Spark Connect: sc://host:port."),
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def joined(
            *arguments: object,
            config: str,
            warehouse: str,
            remote: str,
            store: str | None = None,
            **rest: object,
        ) -> object:
            where = Where(config, warehouse, remote, store or "")
            return command(*arguments, where=where, **rest)

        decorated: Command = joined
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def progress_options(command: Command) -> Command:
    """--quiet and --no-progress, as `progress`: one of the words of `streams.Progress`."""
    for option in (
        click.option(
            "--no-progress", "progress", flag_value="lines", help="A line per step, none moving."
        ),
        click.option(
            "--quiet", "progress", flag_value="none", help="Standard error for problems only."
        ),
    ):
        command = option(command)
    return command


def verbose_option(command: Command) -> Command:
    """-v, kept where the root finds it when an error ends the command."""

    def keep(ctx: click.Context, _: click.Parameter, number: int) -> None:
        ctx.meta[VERBOSE] = number

    option = click.option(
        "-v",
        "--verbose",
        count=True,
        is_eager=True,
        expose_value=False,
        callback=keep,
        help="Say more: what passed, where an error arose.",
    )
    return option(command)


def is_verbose(ctx: click.Context) -> bool:
    return bool(ctx.meta.get(VERBOSE))


def key_option(command: Command) -> Command:
    """--key, as a mapping of table to columns."""
    option = click.option(
        "--key",
        "keys",
        multiple=True,
        metavar="TABLE=COL[,COL]",
        callback=_read_keys,
        help="Key columns of the bad rows. Repeatable.",
    )
    return option(command)


def _read_keys(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> Mapping[str, tuple[str, ...]]:
    keys: dict[str, tuple[str, ...]] = {}
    for text in given:
        table, _sign, columns = text.partition("=")
        table = table.strip()
        names = tuple(name.strip() for name in columns.split(","))
        if not table or not all(names):
            raise click.BadParameter(f"{text!r} is not of the form table=column[,column]")
        if table in keys:
            raise click.BadParameter(f"the key of {table!r} is given twice")
        keys[table] = names
    return keys


def mode_options(command: Command) -> Command:
    """--mode, --require-incremental and --method."""
    for option in (
        click.option(
            "--method",
            type=click.Choice(METHODS),
            metavar="METHOD",
            default=METHODS[0],
            help="auto, statistics or scan.",
        ),
        click.option(
            "--require-incremental",
            is_flag=True,
            help="Exit 2 rather than fall back to whole tables.",
        ),
        click.option(
            "--mode",
            type=click.Choice(MODES),
            metavar="MODE",
            default=AUTO,
            help=f"{', '.join(MODES)}.",
        ),
    ):
        command = option(command)
    return command


def read_pairs(
    _: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> Mapping[str, str]:
    """NAME=VALUE, each name once."""
    pairs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        name = name.strip()
        # The value is not repeated: a variable may hold a secret.
        if not name or not sign or (parameter.name == "tables" and not value.strip()):
            raise click.BadParameter(f"{name!r} is not of the form {parameter.metavar}")
        if name in pairs:
            raise click.BadParameter(f"{name!r} is given twice")
        pairs[name] = value
    return pairs


partition_option = click.option(
    "--partition",
    multiple=True,
    metavar="COL=VALUE",
    callback=read_pairs,
    help="Compare this partition only.",
)
