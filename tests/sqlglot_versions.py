"""The oldest and the newest sqlglot that pyproject.toml allows, each in a folder of its own.

As a script it fetches what is missing, so that the tests themselves can run offline.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"


def allowed() -> dict[str, str]:
    """What to install for each of the two ends, by the name of the end."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [Requirement(text) for text in project["dependencies"]]
    sqlglot = next(requirement for requirement in found if requirement.name == "sqlglot")
    oldest = next(part.version for part in sqlglot.specifier if part.operator == ">=")
    return {"oldest": f"sqlglot=={oldest}", "newest": str(sqlglot)}


def folder_of(end: str) -> Path:
    """The folder with that sqlglot alone in it, fetched now if it is not there yet."""
    wanted = allowed()[end]
    folder = CACHE / re.sub(r"[^a-z0-9.]+", "-", wanted)
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--target", str(unfinished), wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"{wanted} is not in {folder} and cannot be fetched. With a network, run once: "
                f"python tests/sqlglot_versions.py\n{done.stderr.strip()[-500:]}"
            )
        unfinished.rename(folder)
    return folder


def run_with(end: str, script: Path) -> str:
    """What a script of ours prints with that sqlglot in front of the installed one."""
    paths = [folder_of(end), ROOT / "src", ROOT / "tests"]
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} fails with {allowed()[end]}:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    for name in allowed():
        folder_of(name)
