"""Finding a Java that Spark can run on, and installing one where none is.

No Spark here: `lakeproof doctor` must be able to say what is missing before Spark works.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakeproof.errors import EngineUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

JAVA_MAJOR_MIN = 17
# Spark 4.1 carries Hadoop 3.4.2, which calls Subject.getSubject: Java 23 and newer refuse it
# ("getSubject is not supported") and the session never starts.
JAVA_MAJOR_MAX = 22
JAVA_MAJOR_INSTALLED = 17
JAVA_WANTED = f"Java {JAVA_MAJOR_MIN} to {JAVA_MAJOR_MAX}"

_ANSWER_SECONDS_MAX = 30
_VERSION = re.compile(r'version "(?P<version>[^"]+)"')
_APT_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")


@dataclass(frozen=True, slots=True)
class Java:
    """One Java that answered; `home` is None if it is simply the `java` of the PATH."""

    path: Path
    version: str
    home: Path | None

    @property
    def major(self) -> int:
        """17 for "17.0.15", 8 for "1.8.0_402", 25 for "25-ea"."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]

    @property
    def is_supported(self) -> bool:
        return JAVA_MAJOR_MIN <= self.major <= JAVA_MAJOR_MAX


def find_java(environ: Mapping[str, str] = os.environ) -> Java | None:
    """The first Java that Spark can use: of JAVA_HOME, of the PATH, of our cache; else None."""
    return next((java for java in present_javas(environ) if java.is_supported), None)


def present_javas(environ: Mapping[str, str] = os.environ) -> Iterator[Java]:
    """Every Java in the order of preference, also those that are too old or too new."""
    java_home = environ.get("JAVA_HOME", "")
    if java_home:
        yield from _ask(Path(java_home) / "bin" / "java", home=Path(java_home))
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield from _ask(Path(on_path), home=None)
    for binary in sorted(java_folder(environ).glob("**/bin/java")):
        yield from _ask(binary, home=binary.parent.parent)


def java_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `install_java` puts a Java: LAKEPROOF_JAVA, else ~/.cache/lakeproof/java."""
    named = environ.get("LAKEPROOF_JAVA", "")
    home = environ.get("HOME", "") or str(Path.home())
    return Path(named).expanduser() if named else Path(home) / ".cache" / "lakeproof" / "java"


def use_java(java: Java, environ: dict[str, str] | os._Environ[str]) -> None:
    """Make a process started with `environ` run on this Java, as Spark's scripts look for it."""
    if java.home is not None:
        environ["JAVA_HOME"] = str(java.home)
    else:
        # Spark prefers JAVA_HOME to the PATH. One that names another Java would win over ours.
        environ.pop("JAVA_HOME", None)


def java_missing_text(environ: Mapping[str, str] = os.environ) -> str:
    """What is wrong with the Javas of this machine, and the exact command that mends it."""
    found = [f"{java.path} is Java {java.version}" for java in present_javas(environ)]
    state = f"none that Spark can use: {'; '.join(found)}" if found else "none found"
    return f"{JAVA_WANTED} is needed, {state}. Next: lakeproof doctor --fix, or {manual_command()}"


def manual_command() -> str:
    """The line to type on this system to install a Java by hand."""
    if platform.system() == "Darwin":
        return "brew install openjdk@17 && export JAVA_HOME=$(brew --prefix openjdk@17)"
    for manager, package in (
        ("apt-get", _APT_PACKAGES[0]),
        ("dnf", "java-17-openjdk-headless"),
        ("zypper", "java-17-openjdk-headless"),
        ("apk", "openjdk17-jre"),
    ):
        if shutil.which(manager):
            verb = "add" if manager == "apk" else "install -y"
            return f"sudo {manager} {verb} {package}"
    return "install a Java 17 and set JAVA_HOME to its folder"


def install_java(say: Callable[[str], None]) -> Java:
    """A Java that works, installed if need be: into our cache without root, else by apt as root."""
    java = find_java()
    for install in (_install_into_cache, _install_with_apt):
        if java is not None:
            return java
        install(say)
        java = find_java()
    if java is None:
        raise EngineUnavailableError(
            f"{JAVA_WANTED} is needed and could not be installed. Type: {manual_command()}"
        )
    return java


def _ask(binary: Path, home: Path | None) -> Iterator[Java]:
    """The Java at this path, or nothing if it does not answer as one."""
    try:
        answer = subprocess.run(  # noqa: S603 - the path is the user's own JAVA_HOME or PATH
            [str(binary), "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    # macOS ships a `java` that only says where to buy one: it has no version line.
    named = _VERSION.search(answer.stderr + answer.stdout)
    if answer.returncode == 0 and named and re.search(r"\d", named["version"]):
        yield Java(path=binary, version=named["version"], home=home)


def _install_into_cache(say: Callable[[str], None]) -> None:
    """Fetch a JDK with install-jdk; a half-finished one is never seen by `find_java`."""
    try:
        jdk = importlib.import_module("jdk")  # of the dev extra
    except ImportError:
        say("Java: the package install-jdk is not installed, cannot fetch one without root.")
        return
    target = java_folder()
    say(f"Java: fetching version {JAVA_MAJOR_INSTALLED} into {target} ...")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="java-") as unfinished:
        try:
            unpacked = Path(jdk.install(str(JAVA_MAJOR_INSTALLED), path=unfinished))
        except (jdk.JdkError, OSError) as error:
            say(f"Java: could not be fetched ({error}).")
            return
        target.mkdir(exist_ok=True)
        if not (target / unpacked.name).exists():
            unpacked.replace(target / unpacked.name)


def _install_with_apt(say: Callable[[str], None]) -> None:
    """Let the system's package manager install one, where we are allowed to."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], *(["install", "-y", "-qq", p] for p in _APT_PACKAGES)):
        say(f"Java: apt-get {' '.join(command)} ...")
        done = subprocess.run(  # noqa: S603 - fixed arguments
            [apt, *command], env=environ, capture_output=True, text=True, check=False
        )
        if command[0] == "install" and done.returncode == 0:
            return
    say("Java: apt-get has no Java that fits.")
