"""A suite becomes rules; whatever cannot is one rejected rule with its reason, never a raise."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal

import pytest

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.rule import RejectedRule, Rule, Severity
from lakeproof.model.suite import QualityCheck


def check(**changes):
    return QualityCheck(
        **{
            "name": "rule",
            "check_type": "not_null",
            "table_name": "sales",
            "column_name": "c",
            **changes,
        }
    )


def rules(*checks):
    return rules_of(checks, Config())


def only(**changes):
    (found,) = rules(check(**changes))
    return found


def accepted(*values):
    return {"check_type": "accepted_values", "params": {"accepted": list(values)}}


def between(low=None, high=None):
    return {"check_type": "range", "params": {"min_value": low, "max_value": high}}


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)

# Each is one mistake in one check, and a word of the reason that its author must read.
MISTAKES = {
    "unknown check": ({"check_type": "uniq"}, "Unknown check type: uniq"),
    "check is no text": ({"check_type": 5}, "check_type"),
    "name missing": ({"name": None}, "name"),
    "name blank": ({"name": "  "}, "name"),
    "table missing": ({"table_name": None}, "table_name"),
    "table unreadable": ({"table_name": "a..b"}, "a..b"),
    "table is no unicode": ({"table_name": "\ud800"}, ""),
    "column missing": ({"column_name": None}, "column_name"),
    "column list empty": ({"column_name": []}, "column_name"),
    "column is no unicode": ({"column_name": "\ud800"}, ""),
    "too many columns": ({"column_name": ["a", "b"]}, "one column"),
    "33 columns": (
        {"check_type": "uniqueness", "column_name": [f"c{at}" for at in range(33)]},
        "32",
    ),
    "column where none fits": (
        {"check_type": "row_count_range", "params": {"min_count": 1}},
        "no column_name",
    ),
    "column and for_each_column": ({"for_each_column": ["a"]}, "not both"),
    "params are no mapping": ({"params": None}, "mapping"),
    "parameter unknown": ({"params": {"negate": True}}, "negate"),
    "parameter key is no text": ({"params": {1: 2}}, "unknown parameter 1"),
    "severity unknown": ({"severity": "fatal"}, "error, warning, info"),
    "severity is a list": ({"severity": ["error"]}, "severity"),
    "severity empty": ({"severity": ""}, "severity"),
    "severity twice": ({"severity": "error", "criticality": "error"}, "not both"),
    "tolerance above 1": ({"tolerance": 1.5}, "from 0 to 1"),
    "tolerance below 0": ({"tolerance": -0.1}, "from 0 to 1"),
    "tolerance NaN": ({"tolerance": float("nan")}, "from 0 to 1"),
    "tolerance text": ({"tolerance": "1%"}, "from 0 to 1"),
    "tolerance true": ({"tolerance": True}, "from 0 to 1"),
    "absolute tolerance below 0": ({"absolute_tolerance": -1}, "0 or more"),
    "absolute tolerance 1.5": ({"absolute_tolerance": 1.5}, "0 or more"),
    "timeout 0": ({"timeout_seconds": 0}, "above 0"),
    "timeout NaN": ({"timeout_seconds": float("nan")}, "above 0"),
    "timeout text": ({"timeout_seconds": "5"}, "above 0"),
    "filter empty": ({"filter": " "}, "filter"),
    "filter is no text": ({"filter": 5}, "filter"),
    "filter does not parse": ({"filter": "a = "}, "line 1"),
    "filter has a query": ({"filter": "a IN (SELECT 1)"}, "custom_sql"),
    "tags are None": ({"tags": None}, "tags"),
    "tags are one text": ({"tags": "pii"}, "tags"),
    "for_each_column is a number": ({"column_name": None, "for_each_column": 5}, "for_each_column"),
    "for_each_column is one text": (
        {"column_name": None, "for_each_column": "abc"},
        "for_each_column",
    ),
    "accepted missing": ({"check_type": "accepted_values"}, "accepted"),
    "accepted empty": (accepted(), "empty"),
    "accepted only NULL": (accepted(None), "empty"),
    "accepted a plain text": (
        {"check_type": "accepted_values", "params": {"accepted": "A, B"}},
        "must be a list",
    ),
    "accepted a mapping": (accepted({"a": 1}), ""),
    "accepted a complex number": (accepted(1j), ""),
    "accepted a time of day": (accepted(time(1)), ""),
    "accepted half a surrogate": (accepted("\ud800"), ""),
    "accepted a signalling NaN": (accepted(Decimal("sNaN")), ""),
    "accepted contains itself": (accepted(ENDLESS), ""),
    "accepted JSON too deep": (
        {"check_type": "accepted_values", "params": {"accepted": "[" * 9999 + "]" * 9999}},
        "",
    ),
    "range without bounds": ({"check_type": "range"}, "min_value, max_value or both"),
    "range upside down": (between(2, 1), "above"),
    "range upside down in two number types": (between(2, 1.5), "above"),
    "range with NaN": (between(float("nan"), 1), "NaN"),
    "range with a signalling NaN": (between(Decimal("sNaN")), "NaN"),
    "range with a truth value": (between(True), "min_value"),
    "row counts missing": (
        {"check_type": "row_count_range", "column_name": None},
        "min_count, max_count or both",
    ),
    "row counts upside down": (
        {
            "check_type": "row_count_range",
            "column_name": None,
            "params": {"min_count": 2, "max_count": 1},
        },
        "above",
    ),
    "row count 1.5": (
        {"check_type": "row_count_range", "column_name": None, "params": {"min_count": 1.5}},
        "must be int",
    ),
    "zone unknown": (
        {"check_type": "no_future_dates", "params": {"timezone": "Mars/Olympus"}},
        "IANA",
    ),
    "zone is a folder": (
        {"check_type": "no_future_dates", "params": {"timezone": "America"}},
        "IANA",
    ),
    "zone is a path": (
        {"check_type": "no_future_dates", "params": {"timezone": "../../etc/passwd"}},
        "IANA",
    ),
    "query missing": ({"check_type": "custom_sql", "column_name": None}, "sql"),
    "query writes": (
        {"check_type": "custom_sql", "column_name": None, "params": {"sql": "DROP TABLE sales"}},
        "SELECT",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_mistake_is_one_rejected_rule_with_the_reason(mistake):
    changes, word = MISTAKES[mistake]
    before, found, after = rules(check(name="a"), check(**changes), check(name="z"))
    assert isinstance(before, Rule)
    assert isinstance(after, Rule)
    assert isinstance(found, RejectedRule)
    assert word in found.reason
    assert found.key.startswith(str(changes.get("name", "rule")))


@pytest.mark.parametrize("entry", [None, "not_null", {"name": "x"}, QualityCheck])
def test_an_entry_that_is_no_check_has_its_own_result(entry):
    first, second = rules(check(), entry)
    assert isinstance(first, Rule)
    assert isinstance(second, RejectedRule)
    assert second.key == "entry_2"
    assert "not a QualityCheck" in second.reason


def test_an_unknown_check_names_the_nearest_ones():
    assert "uniqueness" in only(check_type="unikness").reason
    assert "is_unique" in only(check_type="is_uniqe").reason


def test_an_unknown_parameter_names_the_nearest_one():
    assert "Did you mean 'min_value'?" in only(check_type="range", params={"min_valu": 1}).reason


def test_a_rejected_rule_keeps_what_is_known_of_it():
    found = only(
        check_type="uniq", severity="warning", tags=["pii"], dimension="d", column_name=["a", "b"]
    )
    assert (found.check, found.table_label, found.column_label) == ("uniq", "sales", "a,b")
    assert (found.severity, found.tags, found.dimension) == (Severity.WARNING, ("pii",), "d")


def test_a_name_used_twice_is_refused_the_second_time_and_every_entry_has_a_key_of_its_own():
    found = rules(*(check() for _ in range(3)), check(name="rule#2"))
    assert isinstance(found[0], Rule)
    assert all(isinstance(rule, RejectedRule) for rule in found[1:3])
    assert "used again" in found[1].reason
    keys = [rule.key for rule in found]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({}, Severity.ERROR),
        ({"severity": "error"}, Severity.ERROR),
        ({"severity": "warning"}, Severity.WARNING),
        ({"severity": "info"}, Severity.INFO),
        ({"criticality": "error"}, Severity.ERROR),
        ({"criticality": "warn"}, Severity.WARNING),
        ({"criticality": "warning"}, Severity.WARNING),
    ],
)
def test_severity_and_its_alias(changes, severity):
    assert only(**changes).severity is severity


def test_for_each_column_makes_one_rule_of_each_column():
    found = rules(check(column_name=None, for_each_column=["a", "b", "a"], severity="info"))
    assert [rule.key for rule in found] == ["rule:a", "rule:b"]
    assert [rule.columns for rule in found] == [("a",), ("b",)]
    assert len({rule.rule_id for rule in found}) == 2
    assert {rule.severity for rule in found} == {Severity.INFO}


def test_for_each_column_reads_names_as_column_name_does():
    (one,) = rules(check(column_name=None, for_each_column=["cafe\u0301"]))
    assert one.columns == only(column_name="cafe\u0301").columns


def test_a_bad_check_over_many_columns_is_one_rejected_rule_for_each():
    found = rules(check(column_name=None, for_each_column=["a", "b"], params={"x": 1}))
    assert [rule.key for rule in found] == ["rule:a", "rule:b"]
    assert all(isinstance(rule, RejectedRule) for rule in found)


def test_a_rule_knows_its_short_and_its_full_table_name():
    found = only(table_name="lakehouse.Sales")
    assert found.table_label == "Sales"
    assert str(found.table) == "iceberg.lakehouse.Sales"


def test_tolerances_are_kept_with_the_rule():
    found = only(tolerance=1, absolute_tolerance=5)
    assert (found.threshold.share, found.threshold.rows) == (1.0, 5)


def test_a_check_brings_its_dimension_unless_the_rule_has_one():
    assert only().dimension == "completeness"
    assert only(dimension="mine").dimension == "mine"


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("2024-01-01T10:00:00+10:00", "2024-01-01T05:00:00+00:00"),  # midnight UTC, then 5:00
        ("20240101", "2024-01-02"),
        ("2024-01-01", datetime(2024, 1, 1, tzinfo=UTC)),
        (0, Decimal("0.5")),
        (float("-inf"), float("inf")),
        (7, 7),
        (datetime(2024, 1, 1), datetime(2024, 1, 2, tzinfo=UTC)),  # noqa: DTZ001 - naive is UTC
    ],
)
def test_a_range_that_is_not_upside_down_is_a_rule(low, high):
    assert isinstance(only(**between(low, high)), Rule)
