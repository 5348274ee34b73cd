import json
import subprocess
import sys
from datetime import UTC, date, datetime
from hashlib import sha256
from uuid import UUID

import pytest

from lakeproof.accounting.code_identity import code_identity
from lakeproof.accounting.manifest import (
    ManifestInput,
    RunSettings,
    find_manifest,
    load_manifest,
    manifest_from_json,
    manifest_to_json,
    new_manifest,
    time_ordered_uuid,
)
from lakeproof.accounting.storage import LocalStorage
from lakeproof.errors import ConfigError, LedgerError
from lakeproof.model.accounting import (
    DatasetPosition,
    FileDigest,
    KeyColumn,
    KeyUniqueness,
    Level,
    Lineage,
)

NOON = datetime(2026, 1, 31, 12, 0, 0, 7, tzinfo=UTC)
KEY = (KeyColumn("segment_id", "string"),)
FILES = DatasetPosition("files", "in", "json", files=(FileDigest("a.json", 5, 1, "aa"),))


def manifest_of(**options):
    inputs = [ManifestInput("", FILES, KEY), ManifestInput("rates", DatasetPosition("frame"))]
    return new_manifest("baseline-test", RunSettings(), inputs, now=NOON, **options)


def test_a_manifest_tells_what_ran_on_what_and_comes_back_exactly():
    settings = RunSettings(Level.COUNT, Lineage.FULL, KeyUniqueness.ASSUME, "2026-W05")
    inputs = [ManifestInput("", FILES, KEY)]

    manifest = new_manifest("baseline-test", settings, inputs, engine={"spark": "4.1.4"}, now=NOON)

    assert manifest.started_at == "2026-01-31T12:00:00.000007Z"
    assert manifest.started == NOON
    assert (manifest.level, manifest.lineage) == (Level.COUNT, Lineage.FULL)
    assert manifest.key_uniqueness is KeyUniqueness.ASSUME
    assert manifest.epoch == "2026-W05"
    assert manifest.key == KEY
    assert manifest.inputs[0].position.files[0].sha256 == "aa"
    assert manifest.engine["spark"] == "4.1.4"
    assert manifest.engine["python"] == ".".join(map(str, sys.version_info[:3]))
    assert manifest.engine["lakeproof"]
    assert manifest_from_json(manifest_to_json(manifest)) == manifest


def test_each_run_has_a_salt_and_an_openlineage_id_of_its_own():
    one, two = manifest_of(), manifest_of()

    assert bytes.fromhex(one.salt) != bytes.fromhex(two.salt)
    assert len(one.salt) == 32
    assert UUID(one.openlineage_run_id).version == 7
    assert UUID(one.openlineage_run_id).variant == "specified in RFC 4122"
    assert one.openlineage_run_id != two.openlineage_run_id
    assert one.epoch == "2026-01-31"


def test_openlineage_ids_are_ordered_by_time():
    moments = [datetime(year, 1, 1, tzinfo=UTC) for year in (1999, 2024, 2026, 2200)]

    ids = [str(time_ordered_uuid(moment)) for moment in moments]

    assert ids == sorted(ids)
    assert int(ids[2].replace("-", "")[:12], 16) == int(moments[2].timestamp() * 1000)


def test_the_hash_of_a_configuration_follows_its_values_and_not_its_order_or_secrets():
    config = {"rate": 0.5, "n": 1, "on": date(2026, 1, 1), "nested": {"a": [1, None, True]}}
    again = dict(reversed(config.items()))
    one = manifest_of(config={**config, "password": "hunter2", "url": "s3://key:secret@host/x"})

    assert one.config["nested"] == {"a": [1, None, True]}
    assert one.config["on"] == "2026-01-01"
    assert one.config["password"] == "***"  # noqa: S105 - that it is hidden
    assert "hunter2" not in manifest_to_json(one)
    assert "secret" not in manifest_to_json(one)
    assert manifest_of(config=config).config_sha256 == manifest_of(config=again).config_sha256
    assert manifest_of(config=config).config_sha256 != manifest_of().config_sha256


def test_code_is_known_by_commit_branch_and_changes(tmp_path):
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert code_identity(tmp_path).git_commit == ""
    assert code_identity(tmp_path).git_dirty is None
    git("init", "--initial-branch=trunk")
    (tmp_path / "job.py").write_text("1", encoding="utf-8")
    git("add", "job.py")
    git("commit", "-m", "one")
    (tmp_path / "untracked").write_text("", encoding="utf-8")
    clean = code_identity(tmp_path)
    (tmp_path / "job.py").write_text("2", encoding="utf-8")

    assert clean.git_commit == git("rev-parse", "HEAD")
    assert (clean.git_branch, clean.git_dirty) == ("trunk", False)
    assert code_identity(tmp_path).git_dirty is True
    git("checkout", "--detach")
    assert code_identity(tmp_path).git_branch == ""


def test_the_started_script_is_known_by_its_hash_and_git_need_not_be_there(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        "from lakeproof.accounting.code_identity import code_identity\n"
        "code = code_identity()\n"
        "print(code.main_script, code.main_script_sha256, repr(code.git_commit), sep='\\n')\n",
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, str(script)], env={"PATH": ""}, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["job.py", sha256(script.read_bytes()).hexdigest(), "''"]


def test_the_manifest_of_a_capture_is_found_up_to_three_folders_above(tmp_path):
    run, storage = tmp_path / "run", LocalStorage()
    manifest = manifest_of()
    storage.write_new(str(run / "manifest.json"), manifest_to_json(manifest).encode())

    for path in (run, f"{run}/", run / "errors", f"file:{run}/adjoint/filtered_keys/x.parquet"):
        directory, found = find_manifest(str(path), storage)
        assert found == manifest
        assert directory.endswith(str(run))
    assert load_manifest(str(run), storage) == manifest
    with pytest.raises(LedgerError, match=r"lies in no run directory.*initialize_input"):
        find_manifest(str(run / "a" / "b" / "c" / "d"), storage)


def test_a_manifest_keeps_unknown_fields_and_refuses_what_it_cannot_read():
    tree = json.loads(manifest_to_json(manifest_of()))
    tree["code"]["design_sha256"] = "ff"
    tree["inputs"][0]["position"]["etag"] = "e"

    read = manifest_from_json(json.dumps(tree))

    assert json.loads(manifest_to_json(read)) == tree
    for broken, says in [
        ({**tree, "manifest_version": "2.0"}, "manifest_version '2.0' is not one"),
        ({"run_id": "x"}, "manifest_version '' is not one"),
        ({**tree, "salt": 5}, "m.json: salt must be text, found 5"),
        ({**tree, "engine": {"spark": 4}}, "m.json: engine.spark must be text"),
    ]:
        with pytest.raises(LedgerError, match=says):
            manifest_from_json(json.dumps(broken), "m.json")


def test_a_run_id_that_is_no_slug_is_refused():
    with pytest.raises(ConfigError, match="is not a slug"):
        new_manifest("../x", RunSettings(), [])
