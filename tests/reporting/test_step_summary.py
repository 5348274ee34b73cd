"""What `--format github` adds to the page of a job."""

from __future__ import annotations

from made_results import failed, report

from lakeproof.cli.report_options import SUMMARY_BYTES_MAX, Reports
from lakeproof.cli.streams import Results


def test_a_summary_larger_than_github_takes_is_cut_at_a_line(tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    many = [failed(f"rule_{number}", details="é" * 900) for number in range(700)]
    Reports("github").write(Results(None), report(*many))
    assert SUMMARY_BYTES_MAX * 0.9 < summary.stat().st_size < 1024 * 1024
    assert summary.read_text().endswith(
        "|\n\nCut here: the rest is in the log and in the reports.\n\n"
    )


def test_a_summary_that_cannot_be_written_costs_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    Reports("github").write(Results(None), report(failed("r")))
    assert capsys.readouterr().err.startswith("lakeproof: no step summary: ")
