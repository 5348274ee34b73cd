"""The command line's root: commands by name, loaded when called, and what each error exits with."""

from __future__ import annotations

import traceback
from importlib import import_module
from typing import NoReturn

import click

import lakeproof
from lakeproof.cli.completion import completion_options
from lakeproof.errors import (
    AccountingFailureException,
    AlreadyRunningError,
    ConfigError,
    EngineUnavailableError,
    ErrorThresholdError,
    FencedError,
    GateClosedError,
    LakeproofError,
    LedgerError,
    NothingSelectedError,
    PromotionError,
    StateSchemaError,
    SuiteError,
    message_without_values,
    short_message,
)
from lakeproof.gating.policy import (
    EXIT_CLOSED_BY_DATA,
    EXIT_FENCED,
    EXIT_NOT_EVALUATED,
    EXIT_NOTHING,
    EXIT_USAGE,
)
from lakeproof.hiding import hide_secrets
from lakeproof.model.printable import printable
from lakeproof.reporting.log_commands import inert

EXIT_INTERRUPTED = 130

VERBOSE = "lakeproof.verbose"
"""Where in click's `meta` the number of -v is kept, for every command below this one."""

EXIT_CODES: dict[type[LakeproofError], int] = {
    ConfigError: EXIT_USAGE,
    SuiteError: EXIT_USAGE,
    NothingSelectedError: EXIT_NOTHING,
    EngineUnavailableError: EXIT_NOT_EVALUATED,
    StateSchemaError: EXIT_NOT_EVALUATED,
    AlreadyRunningError: EXIT_FENCED,
    FencedError: EXIT_FENCED,
    GateClosedError: EXIT_CLOSED_BY_DATA,
    PromotionError: EXIT_FENCED,
    LedgerError: EXIT_USAGE,
    ErrorThresholdError: EXIT_CLOSED_BY_DATA,
    AccountingFailureException: EXIT_CLOSED_BY_DATA,
}

# The help is said here a second time because saying it there would import the command.
COMMANDS = {
    "demo": ("lakeproof.cli.demo:demo", "A lakehouse with planted errors, checked."),
    "init": ("lakeproof.cli.init:init", "Write a first configuration and suite."),
    "run": ("lakeproof.cli.run:run", "Check tables, keep the results, decide the gate."),
    "plan": ("lakeproof.cli.plan:plan", "Show what run would do, without reading a row."),
    "lint": ("lakeproof.cli.lint:lint", "Find mistakes in suites without starting Spark."),
    "ls": ("lakeproof.cli.ls:ls", "List the rules that a selection means."),
    "contract": (
        "lakeproof.cli.contract:contract",
        "Say what becomes of a contract's rules; export it.",
    ),
    "reconcile": (
        "lakeproof.cli.reconcile:reconcile",
        "Hold two tables against each other by key.",
    ),
    "ledger": ("lakeproof.cli.ledger:ledger", "Read and verify the books of a pipeline."),
    "promote": (
        "lakeproof.cli.promote:promote",
        "Let the trusted layer show what a run has passed.",
    ),
    "show": ("lakeproof.cli.show:show", "Show kept results, violations and progress."),
    "suppress": (
        "lakeproof.cli.suppress:suppress",
        "Leave violations out of the gate for a time.",
    ),
    "store": ("lakeproof.cli.store:store", "Make, audit and prune the tables that keep state."),
    "doctor": ("lakeproof.cli.doctor:doctor", "Say what is installed and what is missing."),
}


class LateGroup(click.Group):
    """Imports a command's module when the command is called, and maps errors to exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort) as problem:
            _end(ctx, "interrupted", EXIT_INTERRUPTED, _trace_of(problem))
        except BrokenPipeError:
            raise  # click ends quietly when nobody reads on
        except Exception as problem:  # noqa: BLE001 (one line for people, the trace with -v)
            _end(ctx, _one_line(problem), exit_code_of(problem), _trace_of(problem))


def exit_code_of(problem: Exception) -> int:
    """What the process exits with when this was raised; 3 for what nobody foresaw."""
    known = (code for kind, code in EXIT_CODES.items() if isinstance(problem, kind))
    return next(known, EXIT_NOT_EVALUATED)


def _one_line(problem: Exception) -> str:
    if isinstance(problem, LakeproofError):
        return " ".join(str(problem).split())
    return f"unexpected {type(problem).__name__}: {_message(problem)} (-v shows where)"


def _message(problem: BaseException) -> str:
    """What Spark raises unforeseen may come from reading rows; anything else does not."""
    is_of_spark = type(problem).__module__.partition(".")[0] in {"pyspark", "py4j"}
    return message_without_values(problem) if is_of_spark else short_message(problem)


def _trace_of(problem: BaseException) -> str:
    """Where it arose, and what it came from: Python's own way, but neither rows nor secrets."""
    chain: list[BaseException] = []
    found: BaseException | None = problem
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    told = [
        f"{''.join(traceback.format_tb(one.__traceback__))}"
        f"{type(one).__name__}: {printable(_message(one))}"
        for one in reversed(chain)
    ]
    return hide_secrets("Traceback (most recent call last):\n" + "\nwhich led to:\n".join(told))


def _end(ctx: click.Context, text: str, code: int, trace: str) -> NoReturn:
    if ctx.meta.get(VERBOSE):
        click.echo(inert(trace), err=True)
    click.echo(f"lakeproof: {inert(printable(text))}", err=True)
    ctx.exit(code)


@click.group(
    cls=LateGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(lakeproof.__version__, prog_name="lakeproof")
@completion_options
def main() -> None:
    """Check lakehouse tables and close the gate on bad data.

    \b
    Exit codes: 0 gate open; 1 closed by bad data; 2 usage or suite error;
    3 could not evaluate; 4 already running elsewhere, or promotion refused;
    5 nothing selected or nothing evaluated.
    """  # noqa: D301 (\b is click's mark for "do not wrap")


if __name__ == "__main__":
    main()
