"""What the pages tell people to type works, and prints what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from page_blocks import COMMANDS, DOCS, LANGUAGES, PAGES, ROOT, blocks_of
from run_page import read_page, same_lines

from lakeproof.checks.catalogue import check_names

RUN = [page for page in PAGES if any(not block.not_run for block in blocks_of(page))]
NOT_RUN_MAX = 3
PAGE_SECONDS_MAX = 900
BY_MAKE = ("Makefile", "pyproject.toml", "requirements.txt", "scripts", "src", "tests", ".venv")
"""What `make` needs of the repository."""

LONG_PAGES = (
    "accounting.md",
    "airflow.md",
    "bad-rows.md",
    "ci.md",
    "configuration.md",
    "contracts.md",
    "README.md",
    "incremental.md",
    "reconciliation.md",
    "running.md",
    "selection.md",
    "session.md",
    "suites.md",
    "thresholds.md",
    "trusted-layer.md",
)
"""Their own tests, and those of the CLI, do what they say; start.md has the first steps of it."""

WRITTEN_BY_SPARK = ("accounting.md",)
"""Pages where Spark itself writes to a relative path: Java stays in the folder where it started."""


def name_of(page):
    return str(page.relative_to(ROOT))


def new_reader():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


@pytest.fixture(scope="module")
def shared_reader():
    """A process of its own: the one of the tests has a session on another lakehouse."""
    with new_reader() as process:
        yield process


@pytest.fixture
def reader(page, shared_reader):
    if page.name not in WRITTEN_BY_SPARK:
        yield shared_reader
        return
    with new_reader() as process:
        yield process


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in LONG_PAGES else ()) for page in RUN],
    ids=map(name_of, RUN),
)
def test_every_block_of_the_page_does_what_the_page_says(page, tmp_path, reader):
    for name in BY_MAKE if page.name == "README.md" else ():
        (tmp_path / name).symlink_to(ROOT / name)
    # The tables of the start are there for every other page.
    made = [] if page.name == "start.md" else ["make_sales.py"]
    done = reader.submit(read_page, page, tmp_path, made).result(timeout=PAGE_SECONDS_MAX)
    assert done == sum(not block.not_run for block in blocks_of(page)) > 0


def test_every_block_is_of_a_kind_that_is_run_or_known():
    kinds = {name_of(page): {block.language for block in blocks_of(page)} for page in PAGES}
    assert {page: kind - LANGUAGES for page, kind in kinds.items() if kind - LANGUAGES} == {}


def test_no_command_hides_where_it_is_not_run():
    """Indented code and the generated pages are not looked into by the runner."""
    typed = ("    lakeproof ", "    make ", "    $ ")
    indented = {
        name_of(page)
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith(typed)
    }
    generated = {
        name_of(page)
        for page in (DOCS / "reference").rglob("*.md")
        if COMMANDS & {block.language for block in blocks_of(page)}
    }
    assert (indented, generated) == (set(), set())


def test_few_blocks_are_not_run_and_each_says_why():
    left = [block.not_run for page in PAGES for block in blocks_of(page) if block.not_run]
    assert len(left) <= NOT_RUN_MAX, left


def test_the_guide_has_an_example_of_each_check():
    text = (DOCS / "guides" / "suites.md").read_text(encoding="utf-8")
    assert [
        name for name in check_names() if not re.search(rf'"{name}",\s+"(sales|baskets)"', text)
    ] == []


def test_lines_that_are_shown_must_have_been_printed():
    printed = ["Run run-20250102t030405-abcdef: 2 rules", "PASSED  1 rule", "GATE OPEN"]
    assert same_lines(("Run run-20260102t030405-fedcba: 2 rules", "...", "GATE OPEN"), printed)
    assert same_lines(("...",), printed)
    assert not same_lines(("GATE OPEN",), printed)
    assert not same_lines(("...", "GATE CLOSED"), printed)
    assert not same_lines(("...", "PASSED  2 rules", "..."), printed)


def test_the_site_has_no_broken_link_and_fetches_nothing_from_elsewhere(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    index = (tmp_path / "build" / "docs" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?https?:', index) == []
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write("\n[gone](gone.md)\n")
    broken = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert broken.returncode != 0
