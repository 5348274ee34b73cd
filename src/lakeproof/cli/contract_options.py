"""Options that every command has which reads a contract, joined as `contracts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING

import click

from lakeproof.cli.options import Command, read_pairs
from lakeproof.config import Config

if TYPE_CHECKING:
    from lakeproof.contracts.gathering import Checks, Gathered


@dataclass(frozen=True, slots=True)
class ContractOptions:
    """How contracts are to be read, as it was typed ('' and nothing if not)."""

    tables: Mapping[str, str] = field(default_factory=dict)
    server: str = ""
    sql_dialect: str = ""
    default_engine: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def settings(self, config: Config) -> Config:
        """The configuration with what was typed on top."""
        contracts = replace(
            config.contracts,
            sql_dialect=self.sql_dialect or config.contracts.sql_dialect,
            default_engine=self.default_engine or config.contracts.default_engine,
        )
        return replace(config, contracts=contracts)

    def gathered(self, checks: Checks, config: Config, now: datetime | None = None) -> Gathered:
        """Every rule of a contract, of checks or of both, at that moment.

        Nothing is read yet: where the tables are is asked when they are.
        """
        from lakeproof.contracts.gathering import gather
        from lakeproof.contracts.tables import Given

        given = Given(tables=self.tables, server=self.server, are_assumed=True)
        moment = now or datetime.now(UTC)
        return gather(checks, self.settings(config), moment, given, self.variables)


def contract_options(command: Command) -> Command:
    """--table, --server, --sql-dialect, --default-engine and --var, joined as `contracts`."""

    @wraps(command)
    def joined(
        *arguments: object,
        tables: Mapping[str, str],
        server: str,
        sql_dialect: str,
        default_engine: str,
        variables: Mapping[str, str],
        **rest: object,
    ) -> object:
        given = ContractOptions(tables, server, sql_dialect, default_engine, variables)
        return command(*arguments, contracts=given, **rest)

    decorated: Command = joined
    for option in (
        click.option(
            "--var",
            "variables",
            multiple=True,
            metavar="NAME=VALUE",
            callback=read_pairs,
            help="What ${NAME} stands for. Repeatable.",
        ),
        click.option(
            "--default-engine",
            metavar="NAME",
            default="",
            help="Engine of contract rules that name none.",
        ),
        click.option(
            "--sql-dialect",
            metavar="NAME",
            default="",
            help="Dialect of a contract's queries.",
        ),
        click.option(
            "--server", metavar="NAME", default="", help="Server of a contract, by its name."
        ),
        click.option(
            "--table",
            "tables",
            multiple=True,
            metavar="OBJECT=TABLE",
            callback=read_pairs,
            help="Table of a contract's object. Repeatable.",
        ),
    ):
        decorated = option(decorated)
    return decorated
