import os
import subprocess
import sys

from lakeproof.state.owner import is_dead, this_owner


def test_this_process_is_alive():
    assert not is_dead(this_owner())


def test_finished_process_on_this_host_is_dead(dead_owner):
    assert is_dead(dead_owner)


def test_reused_process_id_does_not_revive_its_owner():
    host, pid, start = this_owner().rsplit(":", 2)
    assert pid == str(os.getpid())
    machine = start.rpartition(".")[0]
    assert is_dead(f"{host}:{pid}:{machine}.1") == bool(machine)


def test_killed_process_that_nobody_waited_for_is_dead():
    code = "from lakeproof.state.owner import this_owner; print(this_owner(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        owner = child.stdout.readline().strip()
        assert not is_dead(owner)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(owner)


def test_unknown_owners_are_taken_as_alive(dead_owner):
    host, pid, start = dead_owner.rsplit(":", 2)
    for owner in (f"elsewhere:{pid}:{start}", f"{host}:{pid}:other-boot.1", "", "x", f"{host}:?:"):
        assert not is_dead(owner), owner
