"""The part of `make setup` outside the virtual environment: a Java, and the four jars.

Says something only when there is something to do. Needs no network once both are there.
"""

from __future__ import annotations

import sys

import click

from lakeproof.engines.spark.jars import jar_folder, missing_jars, resolve_jars
from lakeproof.engines.spark.java import install_java
from lakeproof.errors import EngineUnavailableError


def main() -> int:
    """Exit code 0 if Spark can start now, else 1 with the command to type."""
    try:
        install_java(lambda text: click.echo(f"Set-up: {text}"))
        missing = missing_jars()
        if missing:
            click.echo(f"Set-up: {len(missing)} jars (70 MB) into {jar_folder()}")
            resolve_jars()
    except EngineUnavailableError as error:
        click.echo(f"Set-up stopped: {error}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
