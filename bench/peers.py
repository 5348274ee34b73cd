"""Other tools, each in an environment of its own, and the processes in which tools play."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
ANSWER = "@answer "  # marks our lines among whatever a tool prints


def answer(told: Mapping[str, Any]) -> None:
    """What a player says, once when it is ready and once for each line of its input."""
    print(f"{ANSWER}{json.dumps(told)}", flush=True)


class Player:
    """A tool in its own process: `script --play <tool> ...`, which runs once per `run()`."""

    def __init__(self, tool: str, python: Path, script: str, options: Sequence[str] = ()) -> None:
        self.tool = tool
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (read when the process fails)
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [python, script, "--play", tool, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        self._answer()

    def run(self, what: str = "") -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(f"{what or self.tool}\n")
        self.process.stdin.flush()
        return self._answer()

    def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith(ANSWER):
                found: dict[str, Any] = json.loads(line.removeprefix(ANSWER))
                return found
        self.said.seek(0)
        raise SystemExit(f"{self.tool} stopped:\n{self.said.read()[-3000:]}")


def peer_python(peer: str, package: str) -> Path:
    """The Python of the peer's environment in .cache, which is made on first use."""
    folder = ROOT / ".cache" / peer
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        print(f"installing {package} into {folder.relative_to(ROOT)}", flush=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        for command in ([sys.executable, "-m", "venv", "--clear", folder], pip):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{package} cannot be installed here:\n{done.stderr[-2000:]}")
        # Last on its path: PySpark, which it does not bring along, and nothing that it has itself.
        ours = next(path for path in sys.path if path.endswith("site-packages"))
        theirs = next(folder.glob("lib/python*/site-packages"))
        (theirs / "pyspark_of_lakeproof.pth").write_text(f"{ours}\n", encoding="utf-8")
        ready.touch()
    return python
