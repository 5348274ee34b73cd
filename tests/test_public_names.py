"""What is public is listed, documented, and cheap to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lakeproof

ROOT = Path(__file__).parents[1]


def test_the_public_list_is_what_can_be_imported():
    assert set(lakeproof.__all__) == {*lakeproof._HOME_OF, "__version__"}
    for name in lakeproof.__all__:
        assert getattr(lakeproof, name) is not None


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert [name for name in lakeproof.__all__ if f"`{name}`" not in page] == []


def test_importing_lakeproof_loads_neither_pyspark_nor_sqlglot():
    code = (
        "import sys, lakeproof; lakeproof.QualityCheck, lakeproof.CheckResult, lakeproof.Config; "
        "print([m for m in ('pyspark', 'sqlglot', 'rich', 'py4j') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
