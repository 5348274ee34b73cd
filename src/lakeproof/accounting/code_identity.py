"""Which code runs: the commit of the working folder, and the script that was started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

_GIT_SECONDS_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class CodeIdentity:
    """What is not known is empty; `git_dirty` says whether tracked files differ from the commit."""

    git_commit: str = ""
    git_branch: str = ""
    git_dirty: bool | None = None
    main_script: str = ""
    main_script_sha256: str = ""


def code_identity(folder: Path | None = None) -> CodeIdentity:
    """The code of this process, with the repository of a folder: the working one by default."""
    place = folder or Path.cwd()
    commit = _git(place, "rev-parse", "HEAD") or ""
    branch = _git(place, "symbolic-ref", "--quiet", "--short", "HEAD") or ""
    # Untracked files are no change of the code: a run writes some itself.
    changes = _git(place, "status", "--porcelain", "--untracked-files=no") if commit else None
    name, digest = _main_script()
    return CodeIdentity(commit, branch, None if changes is None else bool(changes), name, digest)


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says; None if it is not there, this is no repository, or it takes too long."""
    program = shutil.which("git")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            [program, *arguments],
            cwd=folder,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            capture_output=True,
            timeout=_GIT_SECONDS_MAX,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _main_script() -> tuple[str, str]:
    """The started file by its name, and its SHA-256; a notebook or a prompt has none."""
    given = getattr(sys.modules.get("__main__"), "__file__", None)
    if not given:
        return "", ""
    script = Path(given)
    try:
        return script.name, sha256(script.read_bytes()).hexdigest()
    except OSError:
        return "", ""
