"""Rules for Soda: contract checks and SodaCL, each line with the drafts that it becomes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from shop_contract import placed

from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.soda import drafts
from lakeproof.contracts.engines.sodacl_thresholds import in_one_unit, read_alarms, read_threshold
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit


def soda(implementation: object, column: str = "", **settings: str) -> list[Draft]:
    entry = {"type": "custom", "engine": "soda", "implementation": implementation}
    return drafts(placed(column, ContractSettings(**settings)), entry)


def line(text: str, **settings: str) -> Draft:
    (draft,) = soda(f"checks for orders:\n  - {text}", **settings)
    return draft


def held(operator: Operator, value: object, unit: Unit = Unit.ROWS, high: object = None):
    return Comparison((Term(operator, value, high),), unit)


NONE_OF_ROWS = held(Operator.MUST_BE, 0)
PERCENT = {"empty_percent": "skip"}
DUPLICATES = {"duplicates": "values"}

LINES = [
    ("row_count > 10", Draft("row_count_range", comparison=held(Operator.GREATER, 10))),
    (
        "row_count between 10 and 20",
        Draft(
            "row_count_range",
            comparison=held(Operator.BETWEEN, 10, high=20),
            choices={"between": "closed"},
        ),
    ),
    (
        "row_count not between 10 and 20",
        Draft(
            "row_count_range",
            comparison=held(Operator.NOT_BETWEEN, 10, high=20),
            choices={"between": "closed"},
        ),
    ),
    ("missing_count(size) = 0", Draft("not_null", ("size_code",), comparison=NONE_OF_ROWS)),
    (
        "missing_percent(size) < 5%",
        Draft(
            "not_null",
            ("size_code",),
            comparison=held(Operator.LESS, 5, Unit.PERCENT),
            choices=PERCENT,
        ),
    ),
    (
        "missing_percent(size) <= 2.5 %",
        Draft(
            "not_null",
            ("size_code",),
            comparison=held(Operator.LESS_OR_EQUAL, Fraction("2.5"), Unit.PERCENT),
            choices=PERCENT,
        ),
    ),
    (
        "duplicate_count(id, size) = 0",
        Draft("uniqueness", ("order_id", "size_code"), comparison=NONE_OF_ROWS, choices=DUPLICATES),
    ),
    (
        "duplicate_percent(id) != 1%",
        Draft(
            "uniqueness",
            ("order_id",),
            comparison=held(Operator.MUST_NOT_BE, 1, Unit.PERCENT),
            choices={**PERCENT, **DUPLICATES},
        ),
    ),
    (
        "avg(price) between 1 and 5.5",
        Draft(
            "aggregate",
            ("price_eur",),
            {"function": "avg"},
            comparison=held(Operator.BETWEEN, 1, Unit.NONE, Fraction("5.5")),
            choices={"between": "closed"},
        ),
    ),
    *(
        (
            f"{metric}(price) >= -1",
            Draft(
                "aggregate",
                ("price_eur",),
                {"function": function},
                comparison=held(Operator.GREATER_OR_EQUAL, -1, Unit.NONE),
            ),
        )
        for metric, function in {
            "min": "min",
            "max": "max",
            "sum": "sum",
            "stddev": "stddev",
            "stddev_pop": "stddev_pop",
            "stddev_samp": "stddev",
            "variance": "variance",
            "var_pop": "variance_pop",
            "var_samp": "variance",
        }.items()
    ),
    (
        "percentile(price, 0.95) < 100",
        Draft(
            "aggregate",
            ("price_eur",),
            {"function": "percentile", "percentile": Decimal("0.95")},
            comparison=held(Operator.LESS, 100, Unit.NONE),
        ),
    ),
    (
        'max_length("address.zip") < 6',
        Draft(
            "aggregate",
            params={"function": "max", "expression": "length(`addr`.`zip_code`)"},
            comparison=held(Operator.LESS, 6, Unit.NONE),
        ),
    ),
    (
        "freshness(at) < 1d",
        Draft("freshness", ("ordered_at",), comparison=held(Operator.LESS, 1, Unit.DAYS)),
    ),
    (
        "freshness(at) < 2h",
        Draft("freshness", ("ordered_at",), comparison=held(Operator.LESS, 2, Unit.HOURS)),
    ),
    (
        "freshness using at < 1d6h30m",
        Draft("freshness", ("ordered_at",), comparison=held(Operator.LESS, 1830, Unit.MINUTES)),
    ),
    (
        "values in (customer) must exist in customers (id)",
        Draft(
            "foreign_key",
            ("customer",),
            {"references": "lake.sales.t_customers", "referenced_columns": ["cid"]},
        ),
    ),
    (
        "values in (customer, size) must exist in crm.sizes (c, s)",
        Draft(
            "foreign_key",
            ("customer", "size_code"),
            {"references": "crm.sizes", "referenced_columns": ["c", "s"]},
        ),
    ),
]


@pytest.mark.parametrize(("text", "draft"), LINES, ids=[text for text, _ in LINES])
def test_each_line_of_sodacl_becomes_its_draft(text, draft):
    assert same(line(text), draft)


def same(found: Draft, expected: Draft) -> bool:
    """Equal, where a number is the same number whatever its type."""
    for name in ("check", "columns", "params", "filter", "error", "skipped", "choices", "severity"):
        assert getattr(found, name) == getattr(expected, name), name
    assert str(found.comparison) == str(expected.comparison)
    return found.comparison == expected.comparison


def test_options_below_a_line_say_what_is_valid():
    text = """
    checks for orders:
      - invalid_count(size) = 0:
          name: Sizes are known
          valid values: [S, M, L]
          missing values: [N/A]
          valid max length: 2
          filter: country = 'UK'
      - invalid_percent(size) < 1%:
          valid regex: ^[SML]$
      - missing_count(size) = 0:
          missing regex: ^-$
    """
    found = soda(text)
    assert [draft.label for draft in found] == [
        "Sizes are known",
        "invalid_percent(size) < 1%",
        "missing_count(size) = 0",
    ]
    assert found[0].params == {
        "valid_values": ["S", "M", "L"],
        "valid_max_length": 2,
        "missing_values": ["N/A"],
    }
    assert found[0].filter == "country = 'UK'"
    assert found[0].choices["name"] == "Sizes are known"
    assert found[1].params == {"pattern": "^[SML]$"}
    assert found[2].params == {"missing_pattern": "^-$"}
    assert not any(draft.notes or draft.error for draft in found)


def test_fail_and_warn_say_what_must_not_be_and_make_a_draft_each():
    text = """
    checks for orders:
      - missing_count(size):
          warn: when > 0
          fail: when >= 10
    """
    failing, warning = soda(text)
    assert (failing.comparison, failing.severity) == (held(Operator.LESS, 10), "")
    assert (warning.comparison, warning.severity) == (held(Operator.LESS_OR_EQUAL, 0), "warning")
    assert failing.label == "missing_count(size) fail"
    assert warning.label == "missing_count(size) warn"


def test_a_line_that_only_warns_is_a_warning():
    (draft,) = soda("checks for orders:\n  - row_count:\n      warn: when < 5")
    assert draft.severity == "warning"
    assert draft.comparison == held(Operator.GREATER_OR_EQUAL, 5)


def test_ranges_of_sodacl_hold_their_ends_whatever_the_setting():
    draft = line("row_count between 1 and 5", between="open")
    assert not draft.comparison.open_ranges
    assert draft.choices == {"between": "closed"}


def test_a_filter_of_a_partition_and_one_of_a_check_are_joined():
    text = """
    filter orders [daily]:
      where: day = current_date()
    checks for orders [daily]:
      - row_count > 0
      - row_count > 1:
          filter: size = 'S' OR size = 'M'
    """
    first, second = soda(text)
    assert first.filter == "day = current_date()"
    assert second.filter == "(\nday = current_date()\n) AND (\nsize = 'S' OR size = 'M'\n)"


def test_a_partition_without_its_filter_is_an_error():
    (draft,) = soda("checks for orders [daily]:\n  - row_count > 0")
    assert "no filter orders [daily]" in draft.error


def test_configurations_hold_for_every_check_of_a_column():
    text = """
    configurations for orders:
      valid values for size: [S]
    checks for orders:
      - invalid_count(size) = 0
    """
    (draft,) = soda(text)
    assert draft.params == {"valid_values": ["S"]}


def test_for_each_column_makes_a_draft_of_each():
    text = """
    for each column C:
      columns: [s%, price, exclude p%]
      checks:
        - missing_count(C) = 0
    """
    (draft,) = soda(text)
    assert draft.columns == ("size_code",)
    found = soda(text.replace("[s%, price, exclude p%]", "[id, size]"))
    assert [(draft.columns, draft.label) for draft in found] == [
        (("order_id",), "missing_count(C) = 0 id"),
        (("size_code",), "missing_count(C) = 0 size"),
    ]


@pytest.mark.parametrize("listed", ["[orders, customers]", "[ord%]", "[include %]"])
def test_for_each_dataset_runs_on_the_rules_own_table(listed):
    text = f"for each dataset D:\n  datasets: {listed}\n  checks:\n    - row_count > 0"
    (draft,) = soda(text)
    assert draft.check == "row_count_range"


def test_for_each_dataset_without_the_rules_own_table_is_an_error():
    text = "for each dataset D:\n  datasets: [customers, exclude ord%]\n  checks: [row_count > 0]"
    (draft,) = soda(text)
    assert "does not name the rule's own object 'orders'" in draft.error


@pytest.mark.parametrize("name", ["orders", "orders_v1", "ORDERS", "public.orders", '"orders"'])
def test_checks_for_the_own_table_run_by_any_of_its_names(name):
    (draft,) = soda({f"checks for {name}": ["row_count > 0"]})
    assert draft.check == "row_count_range"


def test_checks_for_another_table_are_errors_that_name_it():
    found = soda("checks for customers:\n  - row_count > 0\n  - missing_count(id) = 0")
    assert len(found) == 2
    assert all("move it to the `quality` of 'customers'" in draft.error for draft in found)


def test_a_schema_check_asks_for_columns_and_types():
    text = """
    checks for orders:
      - schema:
          fail:
            when required column missing: [id, extra]
            when wrong column type:
              price: double
            when forbidden column present: [pii%]
          warn:
            when schema changes: any
    """
    present, typed, forbidden, changes = soda(text)
    assert (present.check, present.params) == ("schema", {"columns": ["order_id", "extra"]})
    assert (typed.check, typed.params) == ("schema", {"columns": {"price_eur": "double"}})
    assert "'when forbidden column present' is not run" in forbidden.skipped
    assert "'when schema changes' is not run" in changes.skipped


def test_failed_rows_are_those_of_a_condition_or_a_query():
    text = """
    checks for orders:
      - failed rows:
          name: No free orders
          fail condition: price_eur <= 0
      - failed rows:
          fail query: SELECT * FROM orders WHERE price_eur <= 0
          warn: when > 3
    """
    condition, query = soda(text)
    assert condition.check == "row_expression"
    assert condition.params == {"expression": "NOT (\nprice_eur <= 0\n)"}
    assert condition.comparison is None
    assert query.check == "custom_sql"
    assert "`lake`.`sales`.`t_orders`" in query.params["sql"]
    assert query.comparison == held(Operator.LESS_OR_EQUAL, 3)
    assert query.severity == "warning"


@pytest.mark.parametrize(
    ("option", "sql"),
    [
        ("net query: SELECT sum(price_eur) FROM orders", "SELECT sum(price_eur) FROM "),
        ("net expression: sum(price_eur)", "SELECT sum(price_eur) FROM "),
    ],
)
def test_a_metric_of_ones_own_is_a_query(option, sql):
    (draft,) = soda(f"checks for orders:\n  - net > 5:\n      {option}")
    assert draft.check == "sql_value"
    assert draft.params["sql"].startswith(sql)
    assert draft.comparison == held(Operator.GREATER, 5, Unit.NONE)


@pytest.mark.parametrize(
    "text",
    [
        "anomaly detection for row_count",
        "anomaly score for row_count < default",
        "distribution(price) > 0.05",
        "change for row_count < 5",
        "change avg last 7 for row_count < 50",
        "group by",
        "row_count same as customers",
        "values in (customer) must not exist in customers (id)",
        "valid_count(size) > 5",
    ],
)
def test_what_only_soda_can_do_is_skipped_with_the_reason(text):
    draft = line(text)
    assert f"SodaCL {text!r} is not run: " in draft.skipped
    assert not draft.error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("row_cont > 5", "Nearest known: row_count"),
        ("row_count >", "is no comparison such as"),
        ("row_count", "it has no threshold"),
        ("missing_count = 0", "needs a column in brackets"),
        ("missing_count(size) < 5%", "must_be_less_than needs a number, got '5%'"),
        ("freshness(at) < 5", "is held against an age, such as 1d"),
        ("freshness using at with NOW < 1d", "the run's clock is ours"),
        ("percentile(price) < 5", "such as percentile(price, 0.95)"),
        ("values in customer exist", "it is not written as `values in"),
        ("invalid_count(size) = 0", "needs to know what is valid"),
        ("failed rows", "needs `fail condition:` or `fail query:`"),
        ("schema", "needs `fail:` or `warn:`"),
        ("!!", "does not begin with a metric"),
        ("row_count not between (1 and 5]", "write two checks"),
    ],
)
def test_a_line_that_cannot_be_read_is_an_error_with_the_line(text, reason):
    (draft,) = soda({"checks for orders": [text]})
    assert draft.error.startswith(f"SodaCL {text!r}: ")
    assert reason in draft.error


def test_a_bad_line_does_not_stop_its_neighbours():
    found = soda("checks for orders:\n  - nonsense\n  - row_count > 0\n  - [1]\n  - {}")
    assert [bool(draft.error) for draft in found] == [True, False, True, True]


@pytest.mark.parametrize("section", ["discover datasets", "profile columns", "variables"])
def test_a_section_without_checks_is_skipped_with_the_reason(section):
    run, not_run = soda({"checks for orders": ["row_count > 0"], section: {}})
    assert run.check == "row_count_range"
    assert f"SodaCL {section!r} is not run" in not_run.skipped


def test_an_unknown_section_is_an_error():
    _, found = soda({"checks for orders": ["row_count > 0"], "cheks for x": []})
    assert "'cheks for x' is no section" in found.error


CONTRACT_CHECK = {"type": "duplicate_percent", "columns": ["id", "size"], "must_be_less_than": 1.0}


@pytest.mark.parametrize(
    "implementation",
    [
        CONTRACT_CHECK,
        [CONTRACT_CHECK],
        {"checks": [CONTRACT_CHECK]},
        "type: duplicate_percent\ncolumns:\n  - id\n  - size\nmust_be_less_than: 1.0\n",
        "checks:\n  - type: duplicate_percent\n    columns: [id, size]\n    must_be_less_than: 1.0",
        '{"type": "duplicate_percent", "columns": ["id", "size"], "must_be_less_than": 1.0}',
    ],
)
def test_a_contract_check_is_read_from_text_or_values(implementation):
    (draft,) = soda(implementation)
    assert (draft.check, draft.columns) == ("uniqueness", ("order_id", "size_code"))
    assert draft.comparison == held(Operator.LESS, 1.0, Unit.PERCENT)
    assert draft.label == ""


def test_a_rule_without_implementation_is_a_check_by_its_own_keys():
    entry = {
        "code": "invalid_count",
        "engine": "soda",
        "parameters": [
            {"parameter": "valid_values", "value": ["S", "M", "L"]},
            {"parameter": "must_be_greater_than_or_equal", "value": 10},
        ],
    }
    (draft,) = drafts(placed("size"), entry)
    assert draft.params == {"valid_values": ["S", "M", "L"]}
    assert draft.comparison == held(Operator.GREATER_OR_EQUAL, 10)


def test_checks_below_the_columns_of_a_soda_contract_are_about_them():
    found = soda(
        {
            "dataset": "orders",
            "columns": [
                {"name": "id", "checks": [{"type": "no_missing_values"}]},
                {"name": "size", "checks": [{"type": "missing_count", "must_be": 0}]},
            ],
            "checks": [{"type": "rows_present", "name": "not empty"}],
        }
    )
    assert [(draft.check, draft.columns, draft.label) for draft in found] == [
        ("row_count_range", (), "not empty"),
        ("not_null", ("order_id",), "no_missing_values id"),
        ("not_null", ("size_code",), "missing_count size"),
    ]


def test_a_plain_text_is_one_line_of_sodacl():
    (draft,) = soda("row_count > 0")
    assert draft.check == "row_count_range"


def test_a_metric_query_is_a_sql_rule_and_a_metric_expression_is_none():
    query, expression = soda(
        [
            {"type": "metric_query", "query_sql": "SELECT 1 FROM orders", "must_be": 1},
            {"type": "metric_expression", "expression_sql": "sum(a)", "must_be": 1},
        ]
    )
    assert query.check == "sql_value"
    assert query.comparison == held(Operator.MUST_BE, 1, Unit.NONE)
    assert "write it as `type: sql`" in expression.error


@pytest.mark.parametrize(
    ("implementation", "reason"),
    [
        (None, "needs an `implementation`"),
        ({}, "needs an `implementation`"),
        ([], "needs an `implementation`"),
        (5, "needs an `implementation`"),
        ("a: b: c", "the implementation for Soda cannot be read: "),
        ({"type": "missing_cout"}, "Nearest known: missing_count"),
        ({"filter orders [x]": {"where": "a"}}, "has no checks"),
        ({"dataset": "orders", "checks": []}, "has no checks"),
        ({"checks for orders": None}, "a list of checks is due"),
    ],
)
def test_an_implementation_that_cannot_be_read_is_one_error(implementation, reason):
    (draft,) = soda(implementation)
    assert reason in draft.error


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("> 5", {"must_be_greater_than": 5}),
        (">=5", {"must_be_greater_than_or_equal_to": 5}),
        ("= 5", {"must_be": 5}),
        ("<> 5", {"must_not_be": 5}),
        ("< 5%", {"must_be_less_than": "5%"}),
        ("<= 1d", {"must_be_less_than_or_equal_to": Fraction(86_400)}),
        ("between (1 and 5]", {"must_be_greater_than": 1, "must_be_less_than_or_equal_to": 5}),
        ("between [1 and 5)", {"must_be_greater_than_or_equal_to": 1, "must_be_less_than": 5}),
        ("between -5 and -1", {"must_be_between": [-5, -1]}),
        ("NOT BETWEEN 1 AND 5", {"must_not_be_between": [1, 5]}),
    ],
)
def test_a_comparison_is_read_as_our_operators(text, operators):
    assert read_threshold(text) == operators


@pytest.mark.parametrize(
    ("alarm", "operators"),
    [
        ("when > 5", {"must_be_less_than_or_equal_to": 5}),
        ("when >= 5", {"must_be_less_than": 5}),
        ("when < 5", {"must_be_greater_than_or_equal_to": 5}),
        ("when <= 5", {"must_be_greater_than": 5}),
        ("when = 5", {"must_not_be": 5}),
        ("when != 5", {"must_be": 5}),
        ("when between 1 and 5", {"must_not_be_between": [1, 5]}),
        ("when not between 1 and 5", {"must_be_between": [1, 5]}),
        (
            ["when > 5", "when < 1"],
            {"must_be_less_than_or_equal_to": 5, "must_be_greater_than_or_equal_to": 1},
        ),
    ],
)
def test_an_alarm_is_the_opposite_of_what_must_hold(alarm, operators):
    assert read_alarms(alarm) == operators


@pytest.mark.parametrize("alarm", [5, "> 5", ["when > 5", "when > 6"], None])
def test_an_alarm_that_cannot_be_read_is_refused(alarm):
    with pytest.raises(CheckDefinitionError):
        read_alarms(alarm)


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [("2d", "days", 2), ("36h", "hours", 36), ("1d12h", "hours", 36), ("90s", "minutes", 1.5)],
)
def test_an_age_is_told_in_the_largest_unit_that_it_fills(text, unit, number):
    assert in_one_unit(read_threshold(f"< {text}")) == (unit, {"must_be_less_than": number})


def test_a_column_that_no_property_is_stays_as_it_was_written():
    (draft,) = soda("checks for orders:\n  - missing_count(warehouse) = 0")
    assert (draft.check, draft.columns, draft.error) == ("not_null", ("warehouse",), "")
