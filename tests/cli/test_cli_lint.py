from __future__ import annotations

import json
import subprocess
import sys

import pytest

GOOD = "CHECKS = [QualityCheck('known', 'not_null', 'sales', 'id')]\n"


def test_a_good_suite_has_no_findings(lakeproof, suite_file):
    done = lakeproof("lint", f"{suite_file(GOOD)}:CHECKS")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "1 rule, no findings\n", "")


def test_each_bad_rule_is_one_line_with_its_place_and_reason(lakeproof, suite_file):
    name = suite_file(
        "CHECKS = [QualityCheck('a', 'uniqe', 'sales', 'id'),\n"
        "          QualityCheck('b', 'range', 'sales', 'id', {'mim': 1}),\n"
        "          QualityCheck('fine', 'not_null', 'sales', 'id')]\n"
    )
    done = lakeproof("lint", f"{name}:CHECKS")
    assert done.exit_code == 2
    first, second, last = done.stdout.splitlines()
    assert f"{name}.py:2: a: Unknown check type: uniqe" in first
    assert f"{name}.py:3: b: " in second
    assert last == "3 rules, 2 findings"


def test_a_name_used_by_two_suites_is_a_finding_of_the_second(lakeproof, suite_file):
    one, two = suite_file(GOOD), suite_file(GOOD)
    done = lakeproof("lint", f"{one}:CHECKS", f"{two}:CHECKS")
    assert done.exit_code == 2
    found, count = done.stdout.splitlines()
    assert f"{two}.py:2: known#2: the name 'known' is used again" in found
    assert count == "2 rules, 1 finding"


def test_rules_made_of_columns_are_counted_each(lakeproof, suite_file):
    name = suite_file(
        "A = [QualityCheck('each', 'not_null', 'sales', for_each_column=['x', 'y'])]\n"
        "B = [QualityCheck('odd', 'nonsense', 'sales', 'x')]\n"
    )
    done = lakeproof("lint", f"{name}:A", f"{name}:B")
    assert f"{name}.py:3: odd: " in done.stdout
    assert done.stdout.endswith("3 rules, 1 finding\n")


def test_json_is_one_document_even_if_the_suite_prints(lakeproof, suite_file):
    name = suite_file("print('a suite that talks')\nCHECKS = [QualityCheck('a', 'x', 'sales')]\n")
    done = lakeproof("lint", f"{name}:CHECKS", "--format", "json")
    document = json.loads(done.stdout)
    assert document["rules"] == 1
    assert list(document["findings"][0]) == ["suite", "rule", "reason", "source"]
    assert "a suite that talks" in done.stderr


def test_a_watermark_that_allows_no_lateness_is_noted(lakeproof, suite_file, folder):
    text = '[tables."sales"]\nwatermark = "at"\n[tables."b"]\nwatermark = {column = "at", '
    (folder / "lakeproof.toml").write_text(f"{text}allowed_lateness = 0}}", encoding="utf-8")
    done = lakeproof("lint", f"{suite_file(GOOD)}:CHECKS")
    assert done.exit_code == 0
    note, told = done.stdout.splitlines()
    assert "lakeproof.toml: note: table sales: watermark at allows no lateness" in note
    assert 'watermark = {column = "at", allowed_lateness = "2h"}' in note
    assert told == "1 rule, no findings"


def test_what_is_not_a_check_is_a_finding(lakeproof, suite_file):
    name = suite_file("CHECKS = [QualityCheck('a', 'not_null', 'sales', 'id'), 42]\n")
    done = lakeproof("lint", f"{name}:CHECKS")
    assert f"{name}:CHECKS: entry_2: entry 2 of the suite is a int" in done.stdout


def test_hostile_names_stay_on_their_line(lakeproof, suite_file):
    name = suite_file("CHECKS = [QualityCheck('a\\x1b[2J\\nb', 'x\\u202e', 'sales', 'id')]\n")
    done = lakeproof("lint", f"{name}:CHECKS")
    assert len(done.stdout.splitlines()) == 2
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_it_never_loads_pyspark(folder, suite_file):
    call = ["lint", f"{suite_file(GOOD)}:CHECKS"]
    look = (
        "import sys\nfrom lakeproof.cli.main import main\n"
        f"try: main({call!r})\nexcept SystemExit: print('pyspark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout.splitlines() == ["1 rule, no findings", "False"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{name}", "is neither of the form package.module:NAME, such as"),
        ("{name}:", "is neither of the form package.module:NAME"),
        ("{name}.py:CHECKS", "of a file in this folder, write {name}:NAME"),
        ("{name}:CHEKS", "has no 'CHEKS'. Nearest: CHECKS."),
        ("{name}:checks", "has no 'checks'. Nearest: CHECKS."),
        ("{name}:ONE", "'ONE' is one QualityCheck; put it into a list"),
        ("{name}:WORDS", "'WORDS' is a list of str, not a list of QualityCheck"),
        ("{name}:NUMBER", "'NUMBER' is a int, not a list of QualityCheck"),
        ("{name}x:CHECKS", "no module '{name}x' here"),
        ("{name}x:CHECKS", "Nearest: {name}"),
        ("lakeproof.demos:CHECKS", "no module 'lakeproof.demos' here"),
        ("lakeproof.demos:CHECKS", "Nearest: demo"),
    ],
)
def test_a_suite_that_cannot_be_found_says_what_where_and_what_is_near(
    lakeproof, suite_file, given, told
):
    name = suite_file(
        GOOD + "ONE = CHECKS[0]\nWORDS = ['a']\nNUMBER = 7\n",
    )
    done = lakeproof("lint", given.format(name=name))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert told.format(name=name) in done.stderr


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module"),
        ("raise ValueError('so it goes')", "ValueError: so it goes"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_module_that_does_not_import_is_a_suite_error(lakeproof, suite_file, body, told):
    done = lakeproof("lint", f"{suite_file(body)}:CHECKS")
    assert done.exit_code == 2
    assert told in done.stderr
