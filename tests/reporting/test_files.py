from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from made_results import failed, report

from lakeproof.errors import ConfigError, LakeproofError
from lakeproof.reporting.files import ReportFile, check_files, files_in, write_files
from lakeproof.reporting.formats import REPORT_FORMATS


@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("junit=out.xml", "junit", "out.xml"),
        ("json=out.txt", "json", "out.txt"),
        ("github=log", "github", "log"),
        ("json=a=b.json", "json", "a=b.json"),
        ("out/r.json", "json", "out/r.json"),
        ("r.jsonl", "jsonl", "r.jsonl"),
        ("r.XML", "junit", "r.XML"),
        ("r.md", "markdown", "r.md"),
        ("r.csv", "csv", "r.csv"),
        ("r.txt", "console", "r.txt"),
        ("./a=b.json", "json", "a=b.json"),
    ],
)
def test_the_kind_is_given_or_told_by_the_suffix(text, kind, path):
    assert ReportFile.parse(text) == ReportFile(kind, Path(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jnit=out.xml", "'jnit' is not one of console, json, jsonl, junit, markdown, github, csv"),
        ("out.html", "suffix is none of .txt, .json, .jsonl, .xml, .md, .csv. Write KIND=PATH"),
        ("out", "suffix is none of"),
        ("", "suffix is none of"),
        ("json=", "names no file"),
    ],
)
def test_what_cannot_be_understood_is_refused(text, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        ReportFile.parse(text)


def test_a_folder_of_reports_holds_one_of_each_kind(tmp_path):
    wanted = files_in(str(tmp_path / "new" / "out"))
    check_files(wanted)
    assert list((tmp_path / "new" / "out").iterdir()) == [], "only the folder is made before"
    made = report(failed("r"))
    write_files(wanted, made)
    found = {path.name: path.read_text() for path in (tmp_path / "new" / "out").iterdir()}
    assert found == {
        known.file_name: known.render(made) + "\n"
        for known in REPORT_FORMATS.values()
        if known.file_name
    }
    assert len(found) == 6


def test_places_that_cannot_be_written_are_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("file/r.json", "folder", "pipe", "nul\0.json", "x" * 300):
        with pytest.raises(ConfigError, match=r"cannot be written: .*\. Name another place"):
            check_files([ReportFile("json", tmp_path / name)])
    twice = [ReportFile("json", tmp_path / "r"), ReportFile("csv", tmp_path / "folder/../r")]
    check_files([ReportFile("json", tmp_path / "r")])
    for pair in (twice, [twice[0], twice[0]]):
        with pytest.raises(ConfigError, match="two reports"):
            check_files(pair)


def test_a_report_that_fails_to_be_written_leaves_the_old_one_whole(tmp_path, monkeypatch):
    place = tmp_path / "r.json"
    place.write_text("old")

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(LakeproofError, match="lakeproof show run run-2025"):
            ReportFile("json", place).write(report(failed("r")))
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("")
    (tmp_path / "link.csv").symlink_to("real.csv")
    ReportFile("csv", tmp_path / "link.csv").write(report(failed("r")))
    assert (tmp_path / "link.csv").is_symlink()
    assert "NULL" in (tmp_path / "real.csv").read_text()
