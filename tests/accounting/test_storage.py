import errno
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from lakeproof.accounting.run_directory import (
    new_run_directory,
    relative_location,
    resolved_location,
)
from lakeproof.accounting.storage import (
    FsspecStorage,
    LocalStorage,
    join,
    parent,
    storage_for,
)
from lakeproof.engines.spark.accounting.hadoop_storage import HadoopStorage
from lakeproof.errors import ConfigError, LedgerError
from lakeproof.model.accounting import FileDigest

DATA = {
    "part-0.parquet": b"zero",
    "a b/length=2024-01-01/part [1]{2}*.json": b"one\n",
    "_year=2024/x": b"",
    "ünï%20code": b"two",
}
HIDDEN = ("_SUCCESS", ".part-0.parquet.crc", "_delta_log/0.json", "a b/.hidden/x", "_temporary/0/x")
DIGESTED = [(name, len(DATA[name]), sha256(DATA[name]).hexdigest()) for name in sorted(DATA)]


def lay_out(root: Path) -> None:
    for name, content in {**DATA, **dict.fromkeys(HIDDEN, b"hidden")}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def assert_it_is_a_place_for_files(storage, folder: str, run: str) -> None:
    """What every storage must do, with files in `folder` and a new run in `run`."""
    listed = storage.files(folder)
    digested = storage.digest(folder, listed)

    assert [(one.path, one.bytes, one.sha256) for one in digested] == DIGESTED
    assert all(one.sha256 == "" for one in listed)
    assert all(one.modified_ms > 1_600_000_000_000 for one in listed)
    (single,) = storage.digest(f"{folder}/ünï%20code", storage.files(f"{folder}/ünï%20code"))
    assert (single.path, single.sha256) == ("ünï%20code", sha256(b"two").hexdigest())
    assert storage.files(f"{folder}/absent") == ()
    assert storage.is_folder(folder)
    assert not storage.is_folder(f"{folder}/part-0.parquet")
    assert not storage.is_empty(folder)
    assert not storage.is_empty(f"{folder}/part-0.parquet")
    assert storage.is_empty(run)
    assert not storage.exists(run)

    storage.write_new(f"{run}/deep/ledger.json", "ü✓\x00".encode())

    assert storage.read_bytes(f"{run}/deep/ledger.json") == "ü✓\x00".encode()
    assert storage.exists(f"{run}/deep/ledger.json")
    assert not storage.is_empty(run)
    with pytest.raises(LedgerError, match="is there already, and a run directory is written once"):
        storage.write_new(f"{run}/deep/ledger.json", b"another")
    assert storage.read_bytes(f"{run}/deep/ledger.json") == "ü✓\x00".encode()
    assert [one.path for one in storage.files(run)] == ["deep/ledger.json"]
    with pytest.raises(LedgerError, match=r"absent.json cannot be read"):
        storage.read_bytes(f"{run}/absent.json")


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}"])
def test_this_machine_is_a_place_for_files(tmp_path, form):
    folder = tmp_path / "da ta"
    lay_out(folder)
    place, run = form.format(folder), form.format(tmp_path / "run")

    assert isinstance(storage_for(place), LocalStorage)
    assert_it_is_a_place_for_files(storage_for(place), place, run)
    assert names_in(tmp_path / "run" / "deep") == ["ledger.json"]


def test_what_fsspec_reaches_is_a_place_for_files():
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for name, content in {**DATA, **dict.fromkeys(HIDDEN, b"hidden")}.items():
        system.pipe_file(f"/lakeproof/data/{name}", content)

    storage = storage_for("memory://lakeproof/data")

    assert isinstance(storage, FsspecStorage)
    assert_it_is_a_place_for_files(storage, "memory://lakeproof/data", "memory://lakeproof/run")
    assert storage.is_empty("memory://lakeproof/new")


def test_what_hadoop_reaches_is_a_place_for_files(spark, tmp_path, monkeypatch):
    folder = tmp_path / "da [t]a"
    lay_out(folder)
    hadoop = HadoopStorage(spark)

    assert hadoop.is_local_by_default
    assert isinstance(storage_for(str(folder), spark), LocalStorage)
    assert isinstance(storage_for("s3a://bucket/x", spark), HadoopStorage)
    assert hadoop.files(str(folder)) == LocalStorage().files(str(folder))
    assert_it_is_a_place_for_files(hadoop, f"file:{folder}", f"file:{tmp_path}/run")
    # A large file is digested as a stream, by the same SHA-256.
    module = "lakeproof.engines.spark.accounting.hadoop_storage"
    monkeypatch.setattr(f"{module}._DIGESTED_BY_SPARK_BYTES_MAX", 3)
    listed = hadoop.files(str(folder))
    assert [one.sha256 for one in hadoop.digest(str(folder), listed)] == [
        one[2] for one in DIGESTED
    ]
    assert_an_object_store_gets_the_file_at_once(hadoop, tmp_path, monkeypatch)


def assert_an_object_store_gets_the_file_at_once(hadoop, tmp_path, monkeypatch) -> None:
    module = "lakeproof.engines.spark.accounting.hadoop_storage"
    monkeypatch.setattr(f"{module}._OBJECT_STORES", {"file"})

    hadoop.write_new(f"file:{tmp_path}/object", b"whole")

    assert (tmp_path / "object").read_bytes() == b"whole"
    with pytest.raises(LedgerError, match="is there already"):
        hadoop.write_new(f"file:{tmp_path}/object", b"other")


def test_a_place_that_nothing_reaches_is_refused_with_advice():
    with pytest.raises(LedgerError, match=r"nosuch://x/y is not on this machine .* use a local"):
        storage_for("nosuch://x/y")


@pytest.mark.parametrize("moment", ["os.fsync", "os.link"])
def test_a_process_killed_while_it_writes_leaves_no_file_of_that_name(tmp_path, moment):
    target = tmp_path / "run" / "ledger.json"
    script = (
        "import os, signal, sys\n"
        "from lakeproof.accounting.storage import LocalStorage\n"
        f"{moment} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "LocalStorage().write_new(sys.argv[1], b'x' * 100_000)\n"
    )

    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)

    assert done.returncode == -9
    assert not target.exists()
    assert LocalStorage().files(str(target.parent)) == ()
    # The directory was used: another run does not begin in it.
    assert not LocalStorage().is_empty(str(target.parent))


def test_of_many_writers_at_once_one_writes_its_whole_file(tmp_path):
    target = tmp_path / "ledger.json"
    script = (
        "import sys\n"
        "from lakeproof.accounting.storage import LocalStorage\n"
        "sys.stdin.read()\n"
        "try:\n"
        "    LocalStorage().write_new(sys.argv[1], sys.argv[2].encode() * 100_000)\n"
        "except Exception as problem:\n"
        "    sys.exit(7 if 'is there already' in str(problem) else 1)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(target), name], stdin=subprocess.PIPE)
        for name in "abcd"
    ]
    for writer in writers:
        writer.stdin.close()

    codes = [writer.wait(timeout=60) for writer in writers]

    assert sorted(codes) == [0, 7, 7, 7]
    assert target.read_bytes() == b"abcd"[codes.index(0) : codes.index(0) + 1] * 100_000
    assert names_in(tmp_path) == ["ledger.json"]


def test_a_mount_without_links_still_gets_whole_files_and_refuses_old_ones(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    target = tmp_path / "ledger.json"

    LocalStorage().write_new(str(target), b"first")

    with pytest.raises(LedgerError, match="is there already"):
        LocalStorage().write_new(str(target), b"second")
    assert target.read_bytes() == b"first"
    assert names_in(tmp_path) == ["ledger.json"]


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)

    with pytest.raises(LedgerError, match=r"ledger.json cannot be written: No space left"):
        LocalStorage().write_new(str(tmp_path / "ledger.json"), b"data")
    assert names_in(tmp_path) == []


def test_a_changed_file_is_listed_with_its_new_size_and_time(tmp_path):
    file = tmp_path / "a.json"
    file.write_bytes(b"1")
    os.utime(file, ns=(0, 1_700_000_000_123_999_999))

    assert LocalStorage().files(str(tmp_path)) == (FileDigest("a.json", 1, 1_700_000_000_123),)


@pytest.mark.parametrize(
    ("path", "around"),
    [
        ("/a/b", "/a"),
        ("/a/b/", "/a"),
        ("/a", "/"),
        ("/", "/"),
        ("a", "."),
        ("a/b", "a"),
        (".", "./.."),
        ("../a", ".."),
        ("..", "../.."),
        ("s3a://bucket/a/b", "s3a://bucket/a"),
        ("s3a://bucket/a", "s3a://bucket"),
        ("s3a://bucket", "s3a://bucket"),
    ],
)
def test_the_folder_around_a_path(path, around):
    assert parent(path) == around


def test_paths_are_joined_by_one_slash():
    assert join("/", "a") == "/a"
    assert join("a/", "b", "c") == "a/b/c"
    assert join("s3a://bucket", "a") == "s3a://bucket/a"


@pytest.mark.parametrize(
    ("location", "directory", "kept"),
    [
        ("/runs/r1/errors/", "/runs/r1", "errors/"),
        ("/runs/r1/a/../b", "/runs/r1/", "b"),
        ("file:/runs/r1/b", "/runs/r1", "b"),
        ("file:///runs/r1/b", "file:/runs/r1", "b"),
        ("/runs/r10/b", "/runs/r1", "/runs/r10/b"),
        ("file:///elsewhere/b", "/runs/r1", "file:///elsewhere/b"),
        ("s3a://bucket/r1/errors/", "s3a://bucket/r1", "errors/"),
        ("s3a://bucket/r10/b", "s3a://bucket/r1", "s3a://bucket/r10/b"),
        ("s3a://bucket/b", "/runs/r1", "s3a://bucket/b"),
    ],
)
def test_locations_inside_a_run_directory_are_kept_relative_to_it(location, directory, kept):
    assert relative_location(location, directory) == kept
    found = resolved_location(kept, directory)
    assert relative_location(found, directory) == kept


def test_a_relative_location_outside_becomes_absolute_since_it_would_be_read_as_inside(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    assert relative_location("runs/r1/errors/", "runs/r1") == "errors/"
    assert relative_location("out", "runs/r1") == f"{tmp_path}/out"
    assert resolved_location("errors/", "runs/r1") == "runs/r1/errors/"


def test_a_run_directory_is_named_by_its_moment_in_utc_and_its_run(tmp_path):
    from datetime import datetime, timedelta, timezone

    moment = datetime(2026, 1, 1, 0, 5, 9, tzinfo=timezone(timedelta(hours=2)))

    assert new_run_directory(tmp_path, "baseline-test", moment) == (
        f"{tmp_path}/1231_220509_baseline-test"
    )
    assert new_run_directory("s3a://b/runs/", "r", moment) == "s3a://b/runs/1231_220509_r"
    with pytest.raises(ConfigError, match="is not a slug"):
        new_run_directory(tmp_path, "../other")
