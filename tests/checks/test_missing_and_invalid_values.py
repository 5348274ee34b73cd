"""What is missing and what is invalid: NULL, '', NaN, fields, elements, values of other types."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from golden_sample import array_of

from lakeproof import QualityCheck, run_checks
from lakeproof.checks.catalogue import find_check
from lakeproof.checks.soda_formats import SODA_FORMATS, read_format
from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column

NOW = datetime(2024, 3, 10, tzinfo=UTC)
TABLE = "missing_and_invalid"

# id, code, n, x, day, city, tags; in the row `no_trip` the struct around the city is NULL.
ROWS = """
    (1, 'S', 1, 1.0D, DATE'2024-01-01', 'Rom', array('a', 'b')),
    (2, 'm', -1, CAST('NaN' AS DOUBLE), DATE'9999-12-31', '', array('a', NULL)),
    (3, '', 7, -5.5D, NULL, 'no_trip', array()),
    (4, NULL, NULL, NULL, DATE'2023-06-30', NULL, NULL),
    (5, 'N/A', 100, 0.0D, DATE'2024-02-29', 'Ulm', array('zzz')),
    (6, 'XL-9', 7, 1e300D, DATE'2024-01-01', 'N/A', array('-'))
"""
TRIP = "if(city = 'no_trip', NULL, named_struct('city', city)) AS trip"

MISSING = [
    ("null_alone", "code", {}, 1),
    ("null_and_list", "code", {"missing_values": ["", "N/A"]}, 3),
    ("list_alone", "code", {"missing_values": ["", "N/A"], "null_is_missing": False}, 2),
    ("null_is_listed", "code", {"missing_values": [None, ""], "null_is_missing": False}, 2),
    ("only_null_is_listed", "code", {"missing_values": [None], "null_is_missing": False}, 1),
    ("pattern", "code", {"missing_pattern": "^(N/A|-*)$"}, 3),
    ("case_counts", "code", {"missing_values": ["n/a"]}, 1),
    ("texts_for_a_number", "n", {"missing_values": ["", "N/A", -1]}, 2),
    ("texts_alone_for_a_number", "n", {"missing_values": ["N/A"], "null_is_missing": False}, 0),
    ("a_fraction_for_an_integer", "n", {"missing_values": [7.5, 7]}, 3),
    ("nan_is_a_value", "x", {}, 1),
    ("nan_is_listed", "x", {"missing_values": [float("nan")]}, 2),
    ("a_day_as_text", "day", {"missing_values": ["9999-12-31", "never"]}, 2),
    ("a_field", "trip.city", {"missing_values": ["", "N/A"]}, 4),
    ("elements", "tags[]", {"missing_values": ["-"]}, 2),
]

INVALID = [
    ("valid_values", "code", {"valid_values": ["S", "M"]}, 4),
    ("missing_is_not_invalid", "code", {"valid_values": ["S"], "missing_values": ["", "N/A"]}, 2),
    ("missing_by_pattern", "code", {"valid_values": ["S"], "missing_pattern": "^N|^$"}, 2),
    ("invalid_values", "code", {"invalid_values": ["", "S", "nobody"]}, 2),
    ("pattern_found", "code", {"pattern": "[A-Z]"}, 2),
    ("pattern_in_full", "code", {"pattern": "[A-Z]", "full": True}, 4),
    ("invalid_pattern", "code", {"invalid_pattern": "[0-9/]"}, 2),
    ("length", "code", {"valid_length": 1}, 3),
    ("lengths", "code", {"valid_min_length": 1, "valid_max_length": 3}, 2),
    ("several_demands", "code", {"valid_max_length": 3, "invalid_values": ["m"]}, 2),
    ("format", "code", {"valid_format": "integer"}, 5),
    ("bounds", "n", {"valid_min": 0, "valid_max": 10}, 2),
    ("bounds_without_missing", "n", {"valid_min": 0, "missing_values": [-1, "N/A"]}, 0),
    ("texts_for_a_number", "n", {"invalid_values": ["N/A"]}, 0),
    ("nan_is_out_of_bounds", "x", {"valid_min": -10}, 1),
    ("nan_is_not_listed", "x", {"valid_values": [1, -5.5, 0, 1e300]}, 1),
    ("days", "day", {"valid_min": "2024-01-01", "valid_max": "2024-12-31"}, 2),
    ("a_field", "trip.city", {"valid_values": ["Rom", "Ulm"], "missing_values": ["N/A"]}, 1),
    ("elements", "tags[]", {"valid_max_length": 2}, 1),
    (
        "elements_without_missing",
        "tags[]",
        {"valid_values": ["a", "b"], "missing_values": ["-"]},
        1,
    ),
]


@pytest.fixture(scope="module")
def failing(spark):
    """The number of bad rows by check and name, of one run over one table."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lakehouse")
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.lakehouse.{TABLE} USING iceberg AS "
        f"SELECT *, {TRIP} FROM VALUES {ROWS} AS t(id, code, n, x, day, city, tags)"
    )
    suite = [
        QualityCheck(f"{check}:{name}", check, TABLE, column, params)
        for check, cases in (("missing_values", MISSING), ("invalid_values", INVALID))
        for name, column, params, _ in cases
    ]
    outcome = run_checks(spark, suite, clock=lambda: NOW)
    return {result.check_name: result for result in outcome.results}


@pytest.mark.parametrize(("name", "column", "params", "bad"), MISSING, ids=[c[0] for c in MISSING])
def test_missing_values_finds_exactly_what_is_missing(failing, name, column, params, bad):
    result = failing[f"missing_values:{name}"]
    assert (result.status.value, result.failing_rows) == ("failed" if bad else "passed", bad), (
        result.details
    )


@pytest.mark.parametrize(("name", "column", "params", "bad"), INVALID, ids=[c[0] for c in INVALID])
def test_invalid_values_finds_exactly_what_is_invalid(failing, name, column, params, bad):
    result = failing[f"invalid_values:{name}"]
    assert (result.status.value, result.failing_rows) == ("failed" if bad else "passed", bad), (
        result.details
    )


def test_the_details_say_what_was_asked(failing):
    assert failing["missing_values:null_and_list"].details == (
        "3 of 6 rows have code missing (NULL or '', 'N/A')"
    )
    assert failing["invalid_values:several_demands"].details == (
        "2 of 6 rows have code invalid (invalid values m; valid max length 3)"
    )


FORMATS = {
    "integer": (["0", " -12 ", "+ 7"], ["1.0", "", "a", "1 2", "٣"]),
    "positive integer": (["0", "+1"], ["-1"]),
    "negative integer": (["0", "-1", "- 1"], ["1", "+1"]),
    "decimal": (["1", "1.5", "1,5", ".5", "-1.5"], ["1.", "1.5.2", "1,000.5"]),
    "positive decimal": (["1.5", "0,0"], ["-1.5"]),
    "negative decimal": (["-1,5", "0.00"], ["1.5"]),
    "decimal point": (["1.5"], ["1,5"]),
    "positive decimal point": (["1.5"], ["-1.5", "1,5"]),
    "negative decimal point": (["-1.5", ".0"], ["1.5", "-1,5"]),
    "decimal comma": (["1,5"], ["1.5"]),
    "positive decimal comma": (["1,5"], ["-1,5"]),
    "negative decimal comma": (["-1,5"], ["1,5"]),
    "percentage": (["5%", "-5.5 %", "1,5%"], ["5", "%"]),
    "positive percentage": (["5%"], ["-5%"]),
    "negative percentage": (["-5%", "0%"], ["5%"]),
    "percentage point": (["5.5%"], ["5,5%"]),
    "positive percentage point": (["5.5%"], ["-5.5%"]),
    "negative percentage point": (["-5.5%"], ["5.5%"]),
    "percentage comma": (["5,5%"], ["5.5%"]),
    "positive percentage comma": (["5,5%"], ["-5,5%"]),
    "negative percentage comma": (["-5,5%"], ["5,5%"]),
    "money": (["1,234.50 EUR", "1.234,50 usd", "-3 CHF"], ["$5", "5", "1 EURO"]),
    "money point": (["1,234.50 EUR", "1234.5 EUR"], ["1.234,50 EUR"]),
    "money comma": (["1.234,50 EUR"], ["1,234.50 EUR"]),
    "date us": (["12/31/2024", "1-2-99"], ["31/12/2024", "2024-12-31", "13/01/2024"]),
    "date eu": (["31/12/2024", "1.2.99"], ["12/31/2024"]),
    "date inverse": (["2024/12/31", "2024-1-2"], ["31/12/2024"]),
    "date iso 8601": (
        ["2024-02-29", "20240229", "2024-W05-3", "2024-366", "2024-01-31T23:59:59.5+01:00"],
        ["2023-02-29", "2024-13-01", "2024-01-31T25:00", "2024-W54"],
    ),
    "time 24h": (["23:59:59", "0:00", "09:05:00.123"], ["24:00", "9:5", "9:60"]),
    "time 24h nosec": (["23:59"], ["23:59:59"]),
    "time 12h": (["12:59:59", "1:00 PM", "01:00am"], ["13:00", "0:30"]),
    "time 12h nosec": (["12:59 pm"], ["12:59:59"]),
    "timestamp 24h": (["23:59:59"], ["23:59"]),
    "timestamp 12h": (["11:59:59 AM"], ["11:59", "23:59:59"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
    "ip address": (["10.0.0.255"], ["10.0.0.256", "::1"]),
    "ipv4 address": (["10.0.0.255"], ["10.0.0"]),
    "ipv6 address": (["::1", "2001:db8::ff"], ["10.0.0.1"]),
    "email": (["a.b@example.org"], ["a@b", "a b@example.org"]),
    "phone number": (
        ["+12 123 123 1234", "123 123 1234", "+1 123-123-1234", "555-2368", "555-ABCD",
         "(206) 555-1212", "+49 30 1234567"],
        ["12", "phone", "123-12-1234"],
    ),
    "credit card number": (
        ["4111111111111111", "4111-1111-1111-1111", "4111 1111 1111 1111"],
        ["411111111111", "4111-1111 1111-1111", "4111111111111111111111"],
    ),
}  # fmt: skip


def test_every_format_of_soda_is_there_and_tried():
    assert set(FORMATS) == set(SODA_FORMATS)
    assert len(SODA_FORMATS) == 41


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_admits_what_its_name_says_and_nothing_else(name):
    # Nothing in these patterns means another thing to Python, but for the end of the text.
    pattern = re.compile(SODA_FORMATS[name].replace(r"\z", r"\Z").replace("*+", "*"))
    good, bad = FORMATS[name]
    assert [text for text in good if not pattern.search(text)] == []
    assert [
        text for text in [*bad, "", f"{good[0]}\n", f"\n{good[0]}"] if pattern.search(text)
    ] == []


def test_spark_reads_the_formats_as_python_does(spark):
    tried = [
        (name, text, is_good)
        for name, sides in FORMATS.items()
        for texts, is_good in zip(sides, (True, False), strict=True)
        for text in texts
    ]
    check = find_check("invalid_values")
    selected = []
    for number, (name, text, _) in enumerate(tried):
        arguments = check.read(["c"], {"valid_format": name})
        column = Column("c", "string", sql=f"'{text}'")
        selected.append(f"{check.violates(column, arguments, NOW).sql('spark')} AS c{number}")
    found = spark.sql(f"SELECT {', '.join(selected)}").first()
    wrong = [one for one, is_bad in zip(tried, found, strict=True) if is_bad is one[2]]
    assert wrong == []


@pytest.mark.parametrize("given", ["date_us", "Date US", " date  us "])
def test_a_formats_name_may_be_written_with_underscores(given):
    assert read_format("invalid_values", "valid_format", given) == "date us"


@pytest.mark.parametrize(
    ("check", "params", "reason"),
    [
        ("missing_values", {"null_is_missing": False}, "nothing that would be missing"),
        ("missing_values", {"missing_values": "x"}, "must be list"),
        ("missing_values", {"missing_values": [["x"]]}, "no text, number"),
        ("missing_values", {"missing_pattern": "("}, "no regular expression"),
        ("invalid_values", {}, "needs one of the parameters valid_values"),
        ("invalid_values", {"missing_values": ["x"]}, "needs one of the parameters valid_values"),
        ("invalid_values", {"valid_values": []}, "is empty"),
        ("invalid_values", {"valid_format": "date uz"}, "Did you mean 'date us'?"),
        ("invalid_values", {"valid_min": 5, "valid_max": 1}, "above max_value"),
        ("invalid_values", {"valid_length": 1, "valid_max_length": 2}, "give one"),
        ("invalid_values", {"valid_length": -1}, "no length is below 0"),
        ("invalid_values", {"pattern": ""}, "is empty"),
    ],
)
def test_a_wrong_definition_is_refused(check, params, reason):
    with pytest.raises(CheckDefinitionError) as refused:
        find_check(check).read(["c"], params)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("params", "column", "reason"),
    [
        ({"pattern": "a"}, Column("c", "int"), "a text column"),
        ({"valid_format": "uuid"}, Column("c", "int"), "a text column"),
        ({"valid_min": 1}, Column("c", "string"), "a numeric, date or timestamp column"),
        ({"valid_length": 1}, Column("c", "int"), "a text, binary, array or map column"),
        ({"valid_values": ["a"]}, Column("c", "int"), "cannot be compared"),
        ({"valid_values": ["a"]}, array_of("string"), "cannot be compared"),
    ],
)
def test_a_demand_that_a_type_cannot_keep_is_refused(params, column, reason):
    check = find_check("invalid_values")
    with pytest.raises(CheckDefinitionError) as refused:
        check.violates(column, check.read(["c"], params), NOW)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"missing_values": ["a", "b"]}, {"missing_values": ["b", "a", "a"]}),
        ({"missing_values": [None, "a"]}, {"missing_values": ["a"], "null_is_missing": True}),
    ],
)
def test_the_same_logic_has_the_same_id(first, second):
    suite = [
        QualityCheck(str(n), "missing_values", "t", "c", p) for n, p in enumerate((first, second))
    ]
    one, other = rules_of(suite, Config())
    assert one.rule_id == other.rule_id
