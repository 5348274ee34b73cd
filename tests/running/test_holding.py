"""What was suppressed stays in the numbers, and no longer closes the gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import KeyCounts
from lakeproof.model.comparison import Comparison, Operator, Term, Unit
from lakeproof.model.names import TableName
from lakeproof.model.rule import Logic, Rule
from lakeproof.model.standing import KeyTotals
from lakeproof.model.threshold import Threshold
from lakeproof.running.holding import held_against

TABLE = TableName(("c", "s", "t"))
NONE_ALLOWED = Comparison((Term(Operator.MUST_BE, 0),), Unit.ROWS)


def rule_of(check, threshold=None, comparison=None, **arguments):
    columns = ("a",)
    given = find_check(check).read(columns, arguments)
    logic = Logic(TABLE, check, 1, columns, given)
    return Rule(
        key="r",
        rule_id="id",
        logic=logic,
        table=TABLE,
        table_label="t",
        columns=columns,
        arguments=given,
        threshold=threshold or Threshold(),
        comparison=comparison,
    )


def rows_found(rule, failing, total=100):
    return find_check(rule.check).judge(failing, total, "a", rule.arguments)


def keys_found(rule, *, values, surplus, rows, total=100):
    counts = KeyCounts(values, surplus, rows)
    return find_check(rule.check).judge(counts, total, rule.columns, rule.arguments)


def rows(number):
    return KeyTotals(number, number, number)


@pytest.mark.parametrize(
    ("threshold", "failing", "suppressed", "passed"),
    [
        (None, 3, 2, False),
        (None, 3, 3, True),
        (Threshold(rows=1), 3, 2, True),
        (Threshold(rows=1), 3, 1, False),
        (Threshold(share=0.01), 3, 2, True),
        (Threshold(share=0.01), 3, 1, False),
        (Threshold(share=0.03), 3, 0, True),
        (None, 3, 7, True),  # violations may be older than what this run counted
    ],
)
def test_the_tolerance_is_held_against_the_difference(threshold, failing, suppressed, passed):
    rule = rule_of("not_null", threshold)
    held = held_against(rule, rows_found(rule, failing), rows(suppressed))
    assert held.passed is passed
    assert held.failing == failing
    assert held.suppressed == min(suppressed, failing)
    assert held.measure == failing / 100


def test_details_say_how_many_are_suppressed():
    rule = rule_of("not_null")
    found = rows_found(rule, 3)
    assert (
        held_against(rule, found, rows(2)).details == "3 of 100 rows have NULL in a, 2 suppressed"
    )
    assert held_against(rule, found).details == "3 of 100 rows have NULL in a"


def test_of_a_repeated_key_the_rows_beyond_the_first_are_taken_off():
    rule = rule_of("uniqueness", Threshold(rows=2))
    # Keys with 2, 3 and 4 rows: 3 values, 9 rows, 6 of them surplus.
    found = keys_found(rule, values=3, surplus=6, rows=9)
    largest = held_against(rule, found, KeyTotals(1, 4, 3))
    assert (largest.passed, largest.failing, largest.suppressed) == (False, 3, 1)
    both = held_against(rule, found, KeyTotals(2, 7, 5))
    assert (both.passed, both.failing, both.suppressed) == (True, 3, 2)


def test_a_forbidden_null_is_surplus_in_every_row():
    rule = rule_of("unique_key", nulls="forbid")
    found = keys_found(rule, values=1, surplus=1, rows=1)
    assert held_against(rule, found, KeyTotals(1, 1, 1)).passed
    plain = rule_of("unique_key")
    found = keys_found(plain, values=2, surplus=3, rows=5)
    # The store counts every row of a key with NULL as too many; here NULL may stand once.
    assert not held_against(plain, found, KeyTotals(1, 3, 3)).passed


def test_elements_that_are_left_count_for_a_row_each():
    rule = rule_of("not_null")
    found = rows_found(rule, 2)
    found = replace(found, measures={"elements": 5})  # two rows, five bad elements in them
    assert not held_against(rule, found, rows(4)).passed
    assert held_against(rule, found, rows(4)).suppressed == 1
    assert held_against(rule, found, rows(5)).passed


@pytest.mark.parametrize(
    ("comparison", "suppressed", "passed"),
    [
        (NONE_ALLOWED, 2, False),
        (NONE_ALLOWED, 3, True),
        (Comparison((Term(Operator.LESS, 2),), Unit.PERCENT), 1, False),
        (Comparison((Term(Operator.LESS, 2),), Unit.PERCENT), 2, True),
        # A range is no count of what is bad: nothing is taken off.
        (Comparison((Term(Operator.BETWEEN, 2, 3),), Unit.ROWS), 3, True),
        (Comparison((Term(Operator.GREATER, 2),), Unit.ROWS), 3, True),
    ],
)
def test_a_contracts_comparison_is_held_against_the_difference(comparison, suppressed, passed):
    rule = rule_of("not_null", comparison=comparison)
    held = held_against(rule, rows_found(rule, 3), rows(suppressed))
    assert held.passed is passed
    assert held.measure == 3.0
    told = f", {suppressed} suppressed, must be {comparison}"
    assert (told in held.details) is comparison.bounds_above


@pytest.mark.parametrize(
    ("duplicates", "limit", "passed"),
    [
        ("values", 2, True),
        ("values", 1, False),
        ("rows", 5, True),
        ("rows", 4, False),
        ("surplus", 3, True),
        ("surplus", 2, False),
    ],
)
def test_each_number_of_a_key_has_its_own_part_suppressed(duplicates, limit, passed):
    # Keys with 2, 3 and 4 rows, of which the one with 4 is suppressed.
    at_most = Comparison((Term(Operator.LESS_OR_EQUAL, limit),), Unit.ROWS, duplicates=duplicates)
    rule = rule_of("uniqueness", comparison=at_most)
    found = keys_found(rule, values=3, surplus=6, rows=9)
    held = held_against(rule, found, KeyTotals(1, 4, 3))
    assert (held.passed, held.failing, held.suppressed) == (passed, 3, 1)


@pytest.mark.parametrize("known", [{"number": 3}, {"passed": False, "is_faulty": True}])
def test_what_no_row_shows_cannot_be_suppressed(known):
    """A measure has no rows; schemas that differ are no matter of rows."""
    rule = rule_of("not_null")
    held = held_against(rule, replace(rows_found(rule, 3), **known), rows(3))
    assert (held.passed, held.suppressed) == (False, 0)
    assert "suppressed" not in held.details


@pytest.mark.parametrize(("suppressed", "passed"), [(2, False), (3, True)])
def test_of_a_check_that_holds_its_tolerance_itself_all_must_be_suppressed(suppressed, passed):
    rule = rule_of("not_null")
    found = replace(rows_found(rule, 3), passed=False)
    held = held_against(rule, found, rows(suppressed))
    assert (held.passed, held.suppressed) == (passed, suppressed)
