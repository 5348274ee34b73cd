"""--install-completion and --show-completion: the shell's TAB key knows commands and options."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

PROGRAM = "lakeproof"
_VARIABLE = "_LAKEPROOF_COMPLETE"
_GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a shell looks for the script, and what its start-up file must say for that.

    `start_line` is empty where the shell looks there by itself; `{script}` and `{folder}` in it
    stand for the script and its folder, quoted.
    """

    script: Path
    start_file: Path | None = None
    start_line: str = ""

    @property
    def line(self) -> str:
        return self.start_line.format(
            script=shlex.quote(str(self.script)), folder=shlex.quote(str(self.script.parent))
        )


def _bash() -> Place:
    # bash-completion reads this folder by itself, but not every machine has it: so .bashrc does.
    script = _folder("XDG_DATA_HOME", ".local/share") / "bash-completion/completions" / PROGRAM
    return Place(script, Path.home() / ".bashrc", "[ ! -f {script} ] || . {script}")


def _zsh() -> Place:
    start = Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zshrc"
    line = "fpath=({folder} $fpath); autoload -Uz compinit && compinit"
    return Place(Path.home() / ".zfunc" / f"_{PROGRAM}", start, line)


def _fish() -> Place:
    folder = _folder("XDG_CONFIG_HOME", ".config") / "fish/completions"
    return Place(folder / f"{PROGRAM}.fish")


PLACES: dict[str, Callable[[], Place]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


def completion_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Both options; each takes a shell's name, or none: then the one in $SHELL."""
    for name, callback, told in (
        ("--show-completion", _show, "Print its script instead."),
        ("--install-completion", _install, "Install TAB completion for bash, zsh or fish."),
    ):
        option = click.option(
            name,
            is_flag=False,
            flag_value=_GUESS,
            default=None,
            metavar="[SHELL]",
            is_eager=True,
            expose_value=False,
            callback=callback,
            help=told,
        )
        command = option(command)
    return command


def _show(ctx: click.Context, _: click.Parameter, given: str | None) -> None:
    if given is None or ctx.resilient_parsing:
        return
    click.echo(_script(ctx, _shell(given)))
    ctx.exit()


def _install(ctx: click.Context, _: click.Parameter, given: str | None) -> None:
    if given is None or ctx.resilient_parsing:
        return
    shell = _shell(given)
    place = PLACES[shell]()
    try:
        place.script.parent.mkdir(parents=True, exist_ok=True)
        place.script.write_text(_script(ctx, shell) + "\n", encoding="utf-8")
        is_added = place.start_file is not None and _add_line(place.start_file, place.line)
    except OSError as problem:
        raise click.UsageError(
            f"completion for {shell} cannot be installed: {problem}. "
            f"Next: lakeproof --show-completion {shell} prints it"
        ) from problem
    click.echo(f"Completion for {shell} is in {place.script}")
    if place.start_file is not None:
        click.echo(f"{place.start_file} {'now loads it' if is_added else 'loads it already'}")
    click.echo(f"To use it now, start a new {shell}: exec {shell}")
    ctx.exit()


def _add_line(path: Path, line: str) -> bool:
    """Append the line unless the file has it; gives whether it was added."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if line in text.splitlines():
        return False
    glue = "" if not text or text.endswith("\n") else "\n"
    # Appended, never rewritten: the file is the user's, and may be a link to elsewhere.
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{glue}{line}\n")
    return True


def _shell(given: str) -> str:
    name = Path(os.environ.get("SHELL", "")).name if given == _GUESS else given
    if name in PLACES:
        return name
    found = f"$SHELL says {name!r}, which" if given == _GUESS else f"{name!r}"
    raise click.UsageError(f"{found} is not one of {', '.join(PLACES)}. Next: name one of them")


def _script(ctx: click.Context, shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this version of click has no completion for {shell}")
    return kind(ctx.command, {}, PROGRAM, _VARIABLE).source().strip()
