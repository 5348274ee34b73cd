"""`ls` and the selection options; sources of checks; what lint says of an empty suite."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from types import ModuleType

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.cli.sources import with_sources
from lakeproof.cli.suites import load_suites
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.suite import QualityCheck

SUITE = """
SALES = [
    QualityCheck("order_known", "not_null", "sales", "order_id", tags=["nightly"]),
    QualityCheck("order_unique", "uniqueness", "sales", "order_id"),
    QualityCheck("amount_positive", "positive", "shop.sales", "amount", severity="warning"),
    QualityCheck("odd", "uniqe", "sales", "order_id"),
    QualityCheck("each", "not_null", "visits", for_each_column=["a", "b"]),
]
NOTHING = []
"""
_numbers = itertools.count()


@pytest.fixture
def sales(suite_file):
    return f"{suite_file(SUITE)}:SALES"


def names(done):
    assert done.exit_code == 0, done.output
    return [line.split("  ")[0] for line in done.stdout.splitlines()]


def test_ls_lists_every_rule_of_the_suite_with_what_it_checks(lakeproof, sales):
    done = lakeproof("ls", sales)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "order_known  not_null on sales.order_id #nightly",
        "order_unique  uniqueness on sales.order_id",
        "amount_positive  positive on sales.amount",
        "odd  uniqe on sales.order_id  (cannot run: see lakeproof lint)",
        "each:a  not_null on visits.a",
        "each:b  not_null on visits.b",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--select", "order_*"], ["order_known", "order_unique"]),
        (["--select", "table:visits tag:nightly"], ["order_known", "each:a", "each:b"]),
        (["--select", "table:visits", "--select", "odd"], ["odd", "each:a", "each:b"]),
        (["--select", "table:sales,severity:warning"], ["amount_positive"]),
        (["--select", "name:each:*", "--exclude", "column:b"], ["each:a"]),
        (["--exclude", "check:not_null check:uniq*"], ["amount_positive"]),
    ],
)
def test_ls_lists_what_the_options_mean(lakeproof, sales, options, expected):
    assert names(lakeproof("ls", sales, *options)) == expected


def test_ls_as_json_is_one_document_with_sources(lakeproof, sales):
    done = lakeproof("ls", sales, "--select", "odd amount_positive", "--format", "json")
    document = json.loads(done.stdout)
    assert document["total"] == 2
    first, second = document["rules"]
    module = sales.partition(":")[0]
    assert first == {
        "name": "amount_positive",
        "check": "positive",
        "table": "iceberg.shop.sales",
        "column": "amount",
        "severity": "warning",
        "dimension": "validity",
        "tags": [],
        "source": f"{module}.py:6",
        "problem": "",
    }
    assert "Unknown check type" in second["problem"]


def test_nothing_selected_exits_5_with_the_nearest_names(lakeproof, sales):
    done = lakeproof("ls", sales, "--select", "order_knwon")
    assert (done.exit_code, done.stdout) == (5, "")
    assert done.stderr == (
        "lakeproof: nothing selected of 6 rules: order_knwon matches no rule "
        "(nearest: order_known, order_unique)\n"
    )


def test_allow_empty_accepts_it(lakeproof, sales):
    done = lakeproof("ls", sales, "--select", "zzz", "--allow-empty")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing selected of 6 rules" in done.stderr


def test_an_empty_suite_selects_nothing(lakeproof, suite_file):
    done = lakeproof("ls", f"{suite_file(SUITE)}:NOTHING")
    assert done.exit_code == 5
    assert "the suite holds no rules" in done.stderr


def test_a_term_that_meets_nothing_beside_others_is_a_warning(lakeproof, sales):
    done = lakeproof("ls", sales, "--select", "order_known tag:nigthly")
    assert names(done) == ["order_known"]
    assert done.stderr == "lakeproof: warning: tag:nigthly matches no rule (nearest: nightly)\n"


def test_a_selection_that_cannot_be_read_exits_2_before_the_suite_is_loaded(lakeproof, folder):
    done = lakeproof("ls", "not.there:AT_ALL", "--select", "tabel:x")
    assert done.exit_code == 2
    assert "Did you mean table:?" in done.stderr


def test_ls_never_loads_pyspark(folder, sales):
    look = (
        "import sys\nfrom lakeproof.cli.main import main\n"
        f"try: main(['ls', {sales!r}, '--select', 'odd'])\n"
        "except SystemExit: print('pyspark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.fixture
def kept(folder, spark, warehouse, suite_file, lakeproof):
    """A suite of which one run is kept, in a store of its own; gives its name and the options."""
    number = next(_numbers)
    space = f"cli_select_{number}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS iceberg.{space}")
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{space}.sales USING iceberg AS "
        "SELECT id AS order_id, CAST(id AS DOUBLE) AS amount FROM range(3)"
    )
    (folder / "lakeproof.toml").write_text(
        f"default_namespace = '{space}'\n[store]\nnamespace = 'cli_select_state_{number}'\n",
        encoding="utf-8",
    )
    name = suite_file(
        "ALL = [QualityCheck('known', 'not_null', 'sales', 'order_id'),\n"
        "       QualityCheck('positive', 'positive', 'sales', 'amount'),\n"
        "       QualityCheck('spelled', 'not_null', 'sales', 'amont'),\n"
        "       QualityCheck('fresh', 'uniqueness', 'sales', 'order_id')]\n"
        "FIRST = ALL[:3]\n"
    )
    return name, ("--warehouse", str(warehouse))


def test_status_selects_by_the_last_run_that_had_the_rule(lakeproof, kept):
    name, options = kept
    early = lakeproof("ls", f"{name}:ALL", "--select", "status:failed", *options)
    assert early.exit_code != 0
    assert lakeproof("run", f"{name}:FIRST", *options, "--run-id", "one").exit_code == 1
    for term, expected in (
        ("status:failed", ["positive"]),
        ("status:error", ["spelled"]),
        ("status:passed status:new", ["known", "fresh"]),
    ):
        assert names(lakeproof("ls", f"{name}:ALL", "--select", term, *options)) == expected


def test_each_check_has_the_line_where_it_was_written(suite_file, folder):
    name = suite_file(
        "import lakeproof.model.suite as words\n"
        "Q = QualityCheck\n"
        "from lakeproof import QualityCheck as Check\n"
        "A = [\n"
        "    QualityCheck('one', 'not_null', 't', 'a'),\n"
        "    words.QualityCheck(\n"
        "        name='two', check_type='not_null', table_name='t'),\n"
        "    Q('three', 'not_null', 't'), Check('four', 'not_null', 't'),\n"
        "    QualityCheck('own', 'not_null', 't', source='elsewhere.yaml:7'),\n"
        "]\n"
        "B = []\n"
        "for column in ('x', 'y'):\n"
        "    B.append(QualityCheck(f'{column}_known', 'not_null', 't', column))\n"
        "C = [QualityCheck('each', 'not_null', 't', for_each_column=['x', 'y']), *A[:1]]\n"
        "D = [QualityCheck('twice', 'not_null', 't'),\n"
        "     QualityCheck('twice', 'not_null', 't')]\n"
    )

    def sources(suite):
        (loaded,) = load_suites([f"{name}:{suite}"])
        return [check.source for check in loaded.checks]

    assert sources("A") == [*(f"{name}.py:{line}" for line in (6, 7, 9, 9)), "elsewhere.yaml:7"]
    assert sources("B") == [f"{name}.py:12", f"{name}.py:12"]
    assert sources("C") == [f"{name}.py:15", f"{name}.py:6"]
    assert sources("D") == [f"{name}.py:16", f"{name}.py:17"]


def test_a_suite_imported_from_elsewhere_has_the_lines_of_that_place():
    (loaded,) = load_suites(["lakeproof.demo:SALES_CHECKS"])
    lines = [check.source.rpartition(":") for check in loaded.checks]
    assert {path for path, _, _ in lines} <= {
        "lakeproof/demo/suites.py",
        "src/lakeproof/demo/suites.py",
    }
    assert len({line for _, _, line in lines}) == len(loaded.checks)


def test_without_a_source_text_no_line_is_made_up_and_the_type_stays():
    class Own(QualityCheck):
        pass

    given = [Own("a", "not_null", "t"), 42]
    assert list(with_sources(given, ModuleType("made_up"), "CHECKS")) == given


def test_lint_of_an_empty_suite_exits_5_and_says_so(lakeproof, suite_file):
    name = f"{suite_file(SUITE)}:NOTHING"
    done = lakeproof("lint", name)
    assert (done.exit_code, done.stdout) == (5, "0 rules, no findings\n")
    assert done.stderr == f"lakeproof: no rules in {name}\n"


def test_an_unknown_check_names_those_that_contain_the_word_first():
    with pytest.raises(CheckDefinitionError, match=r"Nearest known: not_null"):
        find_check("null")
    with pytest.raises(CheckDefinitionError, match=r"Nearest known: row_count_range"):
        find_check("row_count")
