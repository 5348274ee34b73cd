"""Every spelling of the operators gives one comparison, and a bad value names its key."""

from decimal import Decimal
from fractions import Fraction

import pytest

from lakeproof.config import ContractSettings
from lakeproof.contracts.odcs.operators import (
    OPERATOR_KEYS,
    choices_of,
    operator_notes,
    read_comparison,
)
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Comparison, Operator, Term, Unit

DEFAULTS = ContractSettings()


def read(entry, unit=Unit.ROWS, settings=DEFAULTS):
    return read_comparison(entry, settings, unit=unit)


def test_an_entry_without_operators_has_no_comparison():
    assert read({"metric": "rowCount", "unit": "nonsense"}) is None


@pytest.mark.parametrize(
    ("keys", "operator"),
    [
        (("mustBe", "must_be"), Operator.MUST_BE),
        (("mustNotBe", "must_not_be"), Operator.MUST_NOT_BE),
        (("mustBeGreaterThan", "must_be_greater_than"), Operator.GREATER),
        (
            (
                "mustBeGreaterOrEqualTo",
                "must_be_greater_than_or_equal_to",
                "must_be_greater_than_or_equal",
                "must_be_greater_or_equal",
            ),
            Operator.GREATER_OR_EQUAL,
        ),
        (("mustBeLessThan", "must_be_less_than"), Operator.LESS),
        (
            (
                "mustBeLessOrEqualTo",
                "must_be_less_than_or_equal_to",
                "must_be_less_than_or_equal",
                "must_be_less_or_equal",
            ),
            Operator.LESS_OR_EQUAL,
        ),
    ],
)
def test_spellings_are_one_operator(keys, operator):
    for key in keys:
        assert read({key: 10}) == Comparison((Term(operator, 10),), Unit.ROWS)


@pytest.mark.parametrize(
    ("key", "operator"),
    [
        ("mustBeBetween", Operator.BETWEEN),
        ("must_be_between", Operator.BETWEEN),
        ("mustNotBeBetween", Operator.NOT_BETWEEN),
        ("must_not_be_between", Operator.NOT_BETWEEN),
    ],
)
def test_ranges_have_two_bounds(key, operator):
    assert read({key: [1, 2.5]}) == Comparison((Term(operator, 1, 2.5),), Unit.ROWS)


def test_every_operator_of_the_standard_has_a_snake_spelling():
    snake = {operator for key, operator in OPERATOR_KEYS.items() if "_" in key}
    assert snake == set(Operator)


def test_several_operators_must_all_hold_and_are_noted():
    entry = {"mustBeGreaterThan": 0, "must_be_less_than": 100}
    found = read(entry)
    assert found.terms == (Term(Operator.GREATER, 0), Term(Operator.LESS, 100))
    assert found.holds(50)
    assert not found.holds(100)
    (note,) = operator_notes(entry)
    assert note.startswith("mustBeGreaterThan and must_be_less_than must all hold")


def test_numbers_may_be_text_and_are_noted():
    assert read({"mustBeLessThan": " 10 "}).terms == (Term(Operator.LESS, 10),)
    assert read({"mustBe": "2.50"}).terms == (Term(Operator.MUST_BE, Decimal("2.50")),)
    assert operator_notes({"mustBe": "2.50"}) == ("mustBe is a number written as text",)
    assert operator_notes({"mustBe": 2}) == ()


def test_percent_may_carry_its_sign():
    found = read({"mustBeLessThan": "2%", "unit": "percent"})
    assert found == Comparison((Term(Operator.LESS, 2),), Unit.PERCENT)


@pytest.mark.parametrize(
    ("entry", "unit", "expected"),
    [
        ({"mustBe": 0}, Unit.ROWS, Unit.ROWS),
        ({"mustBe": 0, "unit": "rows"}, Unit.ROWS, Unit.ROWS),
        ({"mustBe": 0, "unit": "Percent"}, Unit.ROWS, Unit.PERCENT),
        ({"mustBe": 0, "unit": "percent"}, Unit.NONE, Unit.PERCENT),
        ({"mustBe": 0, "unit": "EUR"}, Unit.NONE, Unit.NONE),
        ({"mustBe": 0, "unit": "d"}, Unit.DAYS, Unit.DAYS),
        ({"mustBe": 0}, Unit.PERCENT, Unit.PERCENT),
    ],
)
def test_the_unit_comes_from_the_entry_or_the_kind_of_number(entry, unit, expected):
    assert read(entry, unit).unit is expected


def test_a_query_may_be_held_against_truth_and_text():
    assert read({"mustBe": True}, Unit.NONE).terms == (Term(Operator.MUST_BE, True),)
    assert read({"mustNotBe": "007"}, Unit.NONE).terms == (Term(Operator.MUST_NOT_BE, "007"),)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"mustBeBetween": [1, 2, 3]}, "mustBeBetween needs a list of two numbers"),
        ({"mustBeBetween": 5}, "mustBeBetween needs a list of two numbers"),
        ({"mustBeBetween": [5, 1]}, "write the smaller number first"),
        ({"must_be_between": [5, 5.0]}, "for one number write mustBe"),
        ({"mustBeBetween": [1, "x"]}, "mustBeBetween needs a number, got 'x'"),
        ({"mustBeLessThan": "soon"}, "mustBeLessThan needs a number, got 'soon'"),
        ({"mustBeLessThan": True}, "mustBeLessThan needs a number, got True"),
        ({"mustBe": True}, "mustBe needs a number, got True"),
        ({"mustBe": None}, "mustBe has no value"),
        ({"mustBe": [1]}, "mustBe needs a number"),
        ({"mustBe": float("nan")}, "mustBe needs a number, got nan"),
        ({"mustBe": "1e999999999"}, "mustBe needs a number"),
        ({"mustBe": 10**500}, "mustBe needs a number"),
        ({"mustBeLessThan": "2%"}, "for a share add unit: percent"),
        ({"mustBeLessThan": 150, "unit": "percent"}, "percent are from 0 to 100"),
        ({"mustBe": -1, "unit": "percent"}, "percent are from 0 to 100"),
        ({"mustBe": 0, "unit": "bytes"}, "unit is 'bytes'; write rows"),
        ({"mustBeGreater": 1}, "did you mean mustBeGreaterThan"),
    ],
)
def test_a_bad_operator_names_its_key_and_value(entry, told):
    with pytest.raises(CheckDefinitionError) as refused:
        read(entry)
    assert told in str(refused.value)


def test_the_readings_of_the_standard_go_into_the_comparison():
    settings = ContractSettings(duplicates="surplus", between="open", empty_percent="pass")
    found = read({"mustBeBetween": [0, 100], "unit": "percent"}, settings=settings)
    assert found == Comparison(
        (Term(Operator.BETWEEN, 0, 100),),
        Unit.PERCENT,
        open_ranges=True,
        duplicates="surplus",
        empty_passes=True,
    )
    assert choices_of(found, settings) == {"between": "open", "empty_percent": "pass"}


def test_only_choices_that_matter_are_recorded():
    assert choices_of(read({"mustBe": 0}), DEFAULTS) == {}
    assert choices_of(None, DEFAULTS) == {}


def test_an_exact_fraction_is_a_number():
    found = read({"mustBeLessThan": Fraction(1, 3), "unit": "percent"})
    assert found.terms == (Term(Operator.LESS, Fraction(1, 3)),)
