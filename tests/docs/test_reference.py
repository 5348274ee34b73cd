"""The generated pages say what the checks say now."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from write_reference import FOLDER, pages  # noqa: E402 (the scripts folder comes first)


def test_the_generated_reference_is_what_the_code_says():
    for name, wanted in pages().items():
        found = (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True)
        assert found == wanted.splitlines(keepends=True), (
            "run .venv/bin/python scripts/write_reference.py"
        )


def test_no_page_is_left_of_a_check_that_is_gone():
    on_disk = {f"checks/{path.name}" for path in (FOLDER / "checks").glob("*.md")}
    assert on_disk == {name for name in pages() if name.startswith("checks/")}
