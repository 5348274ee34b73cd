"""What an embedded Spark may use of a machine, and of a container on it."""

from __future__ import annotations

import os

import pytest

from lakeproof.engines.spark import machine_memory
from lakeproof.engines.spark.session import session_settings

GIGABYTE = 2**30


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Sets the memory of the machine in gigabytes, and what its limit files say."""
    files = tmp_path / "memory.max", tmp_path / "limit_in_bytes"
    monkeypatch.setattr(machine_memory, "_LIMITS", files)
    monkeypatch.delenv("SPARK_DRIVER_MEMORY", raising=False)

    def of(gigabytes, *limits):
        sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gigabytes * GIGABYTE // 4096}
        monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
        for file, limit in zip(files, limits, strict=False):
            file.write_text(f"{limit}\n", encoding="ascii")

    return of


@pytest.mark.parametrize(
    ("gigabytes", "limits", "given"),
    [
        (24, (), "4g"),
        (4, (), "2g"),
        (12, ("max",), "3g"),
        (64, (str(15 * GIGABYTE),), "3g"),
        (64, ("max", str(12 * GIGABYTE)), "3g"),
        (13, ("max", str(2**63 - 4096)), "3g"),
    ],
    ids=["machine", "small", "no limit", "container", "older container", "older without limit"],
)
def test_a_quarter_of_what_there_is_within_bounds_is_given(
    machine, tmp_path, gigabytes, limits, given
):
    machine(gigabytes, *limits)
    assert session_settings(tmp_path)["spark.driver.memory"] == given


def test_where_the_system_does_not_tell_the_least_is_given(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert machine_memory.driver_memory() == "2g"


def test_what_somebody_has_said_counts(machine, tmp_path, monkeypatch):
    machine(24)
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "1g")
    assert session_settings(tmp_path)["spark.driver.memory"] == "1g"
