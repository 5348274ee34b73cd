"""The generated pages say what the checks say now."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from write_check_pages import FOLDER, pages  # noqa: E402 (the scripts folder comes first)


def test_every_check_has_its_generated_page():
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert on_disk == pages(), "run .venv/bin/python scripts/write_check_pages.py"
