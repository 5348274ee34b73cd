"""Who holds a lease, said so that a dead holder can be told from a live one.

An owner reads `host:pid:start`. `start` is made of the machine's boot, the process-id namespace
and the process's start time, as far as the system tells them: a process id alone is used again
after a while, and two containers may share a host name.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_START_FIELD = 19
"""Of /proc/<pid>/stat after the command's closing bracket: start time in ticks since boot."""


def this_owner() -> str:
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_machine()}.{_started(pid)}"


def is_dead(owner: str) -> bool:
    """Whether the owner is surely gone; False whenever that cannot be known from here."""
    parts = owner.rsplit(":", 2)
    if len(parts) != 3:  # noqa: PLR2004 (host, pid, start)
        return False
    host, pid, start = parts
    if host != socket.gethostname() or not pid.isdigit():
        return False
    machine, _, started = start.rpartition(".")
    if machine != _machine():
        return False
    if not _is_running(int(pid)):
        return True
    now_started = _started(int(pid))
    return bool(started and now_started) and started != now_started


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A killed process that nobody has waited for still answers; it writes no more.
    return _stat(pid)[:1] not in (["Z"], ["X"])


def _machine() -> str:
    """This boot and process-id namespace, empty where the system does not tell."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()[:8]
        namespace = _NAMESPACE.readlink().name.strip("pid:[]")
    except OSError:
        return ""
    return f"{boot}-{namespace}"


def _started(pid: int) -> str:
    """When the process started, empty where the system does not tell."""
    fields = _stat(pid)
    return fields[_START_FIELD] if len(fields) > _START_FIELD else ""


def _stat(pid: int) -> list[str]:
    """/proc/<pid>/stat from the state on; the name before it may hold blanks and brackets."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return line.rpartition(")")[2].split()
