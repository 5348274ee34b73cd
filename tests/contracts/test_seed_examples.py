"""Every example of the RFC runs as the RFC says: inside a small contract, and as a file alone."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from seed_examples import COLUMNS_LEFT_OUT, EXAMPLES

from lakeproof import ContractError, load_contract, run
from lakeproof.cli.main import main
from lakeproof.config import Config
from lakeproof.contracts.coverage import coverage
from lakeproof.contracts.gathering import gather

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
NO_COLUMN = "needs 'column', for it stands on no property of the contract"
NO_TABLE = "it stands on no object of the contract"

V2_COLUMN = EXAMPLES["v2 column"].replace(COLUMNS_LEFT_OUT, f"{COLUMNS_LEFT_OUT}    columns:\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("required", [("skipped", "no property here is required")]),
        ("tolerance", [("skipped", "no property here is required")]),
        ("soda", [("error", NO_COLUMN)]),
        ("sql", [("runs", "sql_value, must be true"), ("runs", "column_type")]),
        ("must fail", [("error", "${column} cannot be identified")]),
        ("text", [("skipped", "a text for people")]),
        ("column types", [("error", NO_COLUMN)] * 5),
        ("table type", [("error", NO_TABLE)]),
        ("sql type", [("error", "${table} cannot be identified")]),
        ("custom", [("error", NO_TABLE)]),
        ("v2 table", [("skipped", "countCheck has no bounds")]),
    ],
)
def test_an_example_alone_loads_and_says_of_each_rule_what_becomes_of_it(name, expected):
    contract = load_contract(EXAMPLES[name], source=f"{name}.yaml")
    covered = coverage(gather(contract, Config(), NOW).rules)
    assert len(covered) == len(expected)
    for one, (status, told) in zip(covered, expected, strict=True):
        assert one.status == status
        assert told in one.what
        assert one.location.startswith(f"{name}.yaml:")


def test_the_one_example_that_is_no_yaml_is_refused_with_its_place():
    with pytest.raises(ContractError, match=r"^v2\.yaml:3:15: not valid YAML"):
        load_contract(EXAMPLES["v2 column"], source="v2.yaml")


def test_lint_finds_the_column_that_cannot_be_identified_with_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stock.yaml").write_text(EXAMPLES["must fail"], encoding="utf-8")
    done = CliRunner().invoke(main, ["lint", "stock.yaml"])
    assert done.exit_code == 2
    (told,) = [line for line in done.stdout.splitlines() if "cannot be identified" in line]
    assert told.startswith("stock.yaml:5:5: ")
    assert "${column} cannot be identified" in told


def on_column(name, *columns):
    """An object of that name with the example on the first of its columns, all required."""
    first, *others = columns
    rules = textwrap.indent(EXAMPLES[name], " " * 4)
    lines = [f"  - name: {column}\n    required: true\n" for column in (first, *others)]
    return "".join(["  properties:\n", lines[0], rules, *lines[1:]])


def on_table(name, *columns):
    """An object with the example beside its columns, all required but the last."""
    lines = [f"  - name: {column}\n    required: true\n" for column in columns]
    lines[-1] = lines[-1].replace("true", "false")
    return "".join([textwrap.indent(EXAMPLES[name], " " * 2), "  properties:\n", *lines])


def inside(name):
    """What the example says of its own object, where its second line names it."""
    text = V2_COLUMN if name == "v2 column" else EXAMPLES[name]
    own = text.replace("# ...\n", "").split("\n", 2)[2]
    return textwrap.indent(textwrap.dedent(own), " " * 2)


def numbered(rows, value):
    return f"SELECT {value} AS a FROM range({rows})"


TWO_NULLABLE = "SELECT {} AS a, {} AS b, CAST(NULL AS INT) AS c FROM range(4)"
UNITS = (
    "SELECT CASE WHEN id = 0 THEN 'pounds' WHEN id <= {twice} THEN concat('u', id + 500) "
    "WHEN id >= {unknown} THEN concat('x', id) ELSE concat('u', id) END AS a, "
    "if(id {uk}, 'UK', 'FR') AS country FROM range(1000)"
)
# name, what stands inside the object, its rows, the statuses of the example's rules
CASES = [
    ("required_good", on_column("required", "a"), numbered(4, "id"), ["passed"]),
    ("required_bad", on_column("required", "a"), numbered(4, "nullif(id, 2)"), ["failed"]),
    (
        "required_both",
        on_table("required", "a", "b", "c"),
        TWO_NULLABLE.format("id", "nullif(id, 2)"),
        ["passed", "failed"],
    ),
    ("within", on_column("tolerance", "a"), numbered(101, "if(id < 2, NULL, id)"), ["passed"]),
    ("exactly", on_column("tolerance", "a"), numbered(100, "if(id < 2, NULL, id)"), ["failed"]),
    ("sizes", on_column("soda", "a"), numbered(20, "if(id < 10, 'XS', 'S')"), ["passed"]),
    ("few_sizes", on_column("soda", "a"), numbered(20, "if(id < 9, 'XS', 'S')"), ["failed"]),
    ("stock", inside("sql"), "SELECT -1 AS qty UNION ALL SELECT 0", ["passed"]),
    ("no_stock", inside("sql"), "SELECT -1 AS qty UNION ALL SELECT NULL", ["failed"]),
    ("must_fail", inside("must fail"), "SELECT 1 AS qty", ["error"]),
    ("emails", on_column("text", "a"), numbered(1, "'x@example.org'"), ["skipped"]),
    # Of 1,000 rows 9 values come twice and 29 are no country: just below each limit;
    # then 10 and 30, which are the limits.
    (
        "units",
        on_column("column types", "a", "country"),
        UNITS.format(twice=9, unknown=971, uk="= 0"),
        ["failed", "passed", "passed", "passed", "passed"],
    ),
    (
        "more_units",
        on_column("column types", "a", "country"),
        UNITS.format(twice=10, unknown=970, uk="<= 1"),
        ["failed"] * 5,
    ),
    ("rows_100", on_table("table type", "a"), numbered(100, "id"), ["passed"]),
    ("rows_120", on_table("table type", "a"), numbered(120, "id"), ["passed"]),
    ("rows_121", on_table("table type", "a"), numbered(121, "id"), ["failed"]),
    ("known", on_column("sql type", "a"), numbered(3600, "nullif(id, 0)"), ["passed"]),
    ("too_many", on_column("sql type", "a"), numbered(3600, "id"), ["failed"]),
    ("expected", on_table("custom", "a"), numbered(10_000, "id"), ["passed"]),
    ("too_few", on_table("custom", "a"), numbered(9_999, "id"), ["failed"]),
    ("v2_table", inside("v2 table"), numbered(1, "id"), ["skipped"]),
    ("v2_good", inside("v2 column"), "SELECT 1 AS rcvr_id", ["passed"]),
    ("v2_bad", inside("v2 column"), "SELECT CAST(NULL AS INT) AS rcvr_id", ["failed"]),
]
COUNTRIES = """\
- name: countryID
  properties:
  - name: id
"""


@pytest.fixture(scope="module")
def results(spark):
    """The results of all examples' own rules, by object: one contract, one run."""
    objects = "".join(f"- name: {name}\n{text}" for name, text, _, _ in CASES)
    known = "SELECT concat('u', id) AS id FROM range(1000) UNION ALL SELECT 'pounds'"
    frames = {name: spark.sql(query) for name, _, query, _ in CASES}
    outcome = run(
        spark,
        f"id: seed\nschema:\n{objects}{COUNTRIES}",
        tables={**frames, "countryID": spark.sql(known)},
        clock=lambda: NOW,
    )
    found = {}
    for result in outcome.results:
        if result.declared["origin"] == "quality":
            owner = result.check_name.removeprefix("seed/").split(":")[0].split(".")[0]
            found.setdefault(owner, []).append(result)
    return found


@pytest.mark.parametrize(("name", "expected"), [(case[0], case[3]) for case in CASES])
def test_an_example_in_a_contract_runs_as_the_text_says(results, name, expected):
    found = results[name]
    assert [result.status for result in found] == expected, [one.details for one in found]


def test_the_rule_of_no_column_is_one_error_that_names_it(results):
    (result,) = results["must_fail"]
    assert result.details.startswith("${column} cannot be identified")


def test_a_tolerance_of_the_rfc_is_strict_and_says_so(results):
    (result,) = results["exactly"]
    assert (result.failing_rows, result.threshold) == (2, "< 2 %")


def test_what_a_rule_of_version_2_says_about_itself_is_in_its_result(results):
    (result,) = results["v2_table"]
    assert (result.severity, result.dimension) == ("error", "completeness")
    said = {
        "method": "reconciliation",
        "businessImpact": "operational",
        "schedule": "0 20 * * *",
        "scheduler": "cron",
        "toolName": "Elevate",
        "toolRuleName": "DQ.rw.tab1.CountCheck",
        "templateName": "CountCheck",
    }
    assert said.items() <= result.declared.items()


def test_an_example_alone_runs_on_the_one_table_that_is_given(spark):
    table = {"rows": spark.range(120)}
    assert run(spark, EXAMPLES["table type"], tables=table).ok
    (sql,) = run(spark, EXAMPLES["sql type"], tables=table).results
    assert sql.status == "error"
    assert sql.details.startswith("${column} cannot be identified")


def test_an_example_with_its_own_object_runs_alone_on_the_table_of_that_name(spark):
    stock = {"StockTable": spark.sql("SELECT 7 AS qty")}
    results = run(spark, EXAMPLES["sql"], tables=stock).results
    assert [result.status for result in results] == ["passed", "passed"]
