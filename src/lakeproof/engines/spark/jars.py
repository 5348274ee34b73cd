"""The four jars of the embedded lakehouse: which they are, where they lie, how they get there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.engines.spark.java import find_java, java_missing_text, use_java
from lakeproof.errors import EngineUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar by its Maven coordinate."""

    group: str
    artifact: str
    version: str

    @property
    def coordinate(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        """The name that Spark's resolver gives to the file."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"


DELTA_JARS = (
    Jar("io.delta", "delta-spark_4.1_2.13", "4.4.0"),
    Jar("io.delta", "delta-storage", "4.4.0"),
)
ICEBERG_JARS = (
    Jar("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.12.0"),
    Jar("org.xerial", "sqlite-jdbc", "3.50.3.0"),
)
JARS = DELTA_JARS + ICEBERG_JARS

# What the four would pull in besides: 31 more jars, among them a Jackson, a Hadoop and a log4j
# older than Spark's own. Spark brings everything of this that is needed.
EXCLUDED = (
    "org.apache.hadoop:*",
    "com.fasterxml.jackson.core:*",
    "*:jackson*",
    "org.apache.logging.log4j:*",
    "org.slf4j:*",
    "org.antlr:*",
    "io.delta:delta-kernel*",
    "io.unitycatalog:*",
)

_RESOLVE_SECONDS_MAX = 1800
_FAILURE_LINES_SHOWN = 4
_FAILURE = re.compile(r"not found|server access|exception|error", re.IGNORECASE)


def jar_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the jars lie: LAKEPROOF_JARS, else ~/.cache/lakeproof/jars."""
    named = environ.get("LAKEPROOF_JARS", "")
    home = environ.get("HOME", "") or str(Path.home())
    return Path(named).expanduser() if named else Path(home) / ".cache" / "lakeproof" / "jars"


def jar_files(folder: Path | None = None) -> tuple[Path, ...]:
    """The files of the four jars, whether they are there or not."""
    return tuple((folder or jar_folder()) / jar.file_name for jar in JARS)


def missing_jars(folder: Path | None = None) -> tuple[Jar, ...]:
    """Those of the four that are not in the folder."""
    return tuple(
        jar
        for jar, file in zip(JARS, jar_files(folder), strict=True)
        # A file is moved here whole, so one that exists is complete.
        if not file.is_file()
    )


def resolve_jars(folder: Path | None = None) -> tuple[Path, ...]:
    """Fetch the missing jars by Spark's own resolver, once; later sessions need no network.

    The resolver runs in a process of its own and in a folder of its own: the session of this
    process stays untouched, and a download cut short leaves nothing that looks like a jar.
    """
    target = folder or jar_folder()
    if not missing_jars(target):
        return jar_files(target)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix=".resolving-") as unfinished:
        _run_resolver(Path(unfinished))
        for jar in missing_jars(target):
            fetched = Path(unfinished) / "jars" / jar.file_name
            if not zipfile.is_zipfile(fetched):
                raise EngineUnavailableError(
                    f"Spark's resolver did not bring {jar.coordinate} as a whole file. {_NEXT}"
                )
            fetched.replace(target / jar.file_name)
    return jar_files(target)


_NEXT = (
    "Next: check the network and type `lakeproof doctor --fix` again, or copy the jars from"
    " another machine and set LAKEPROOF_JARS to their folder."
)


def _run_resolver(ivy_folder: Path) -> None:
    """Let spark-submit resolve the packages for a program that does nothing."""
    spark_home = _spark_home()
    environ = {**os.environ, "SPARK_HOME": str(spark_home), "SPARK_LOCAL_IP": "127.0.0.1"}
    java = find_java()
    if java is None:
        raise EngineUnavailableError(java_missing_text())
    use_java(java, environ)
    nothing = ivy_folder / "nothing.py"
    nothing.write_text("", encoding="utf-8")
    command = [str(spark_home / "bin" / "spark-submit"), "--master", "local[1]"]
    command += ["--packages", ",".join(jar.coordinate for jar in JARS)]
    command += ["--exclude-packages", ",".join(EXCLUDED)]
    command += ["--conf", f"spark.jars.ivy={ivy_folder}", str(nothing)]
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command,
            env=environ,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_RESOLVE_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineUnavailableError(
            f"The jars did not arrive within {_RESOLVE_SECONDS_MAX} s. {_NEXT}"
        ) from error
    if done.returncode != 0:
        raise EngineUnavailableError(
            f"Spark's resolver could not fetch the jars: {_reason(done.stderr)}. {_NEXT}"
        )


def _reason(resolver_log: str) -> str:
    """The few lines of the resolver's long report that say what failed."""
    told = [line.strip(" \t:") for line in resolver_log.splitlines() if _FAILURE.search(line)]
    # A module that is not found is reported once per repository: each line is shown once.
    return " | ".join(list(dict.fromkeys(told))[:_FAILURE_LINES_SHOWN]) or "no reason given"


def _spark_home() -> Path:
    """The folder of the installed pyspark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise EngineUnavailableError(
            "pyspark is not installed, and the jars are fetched by its resolver."
            " Next: pip install 'lakeproof[spark,delta,iceberg]'"
        )
    return Path(spec.submodule_search_locations[0])
