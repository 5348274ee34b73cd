from decimal import Decimal
from fractions import Fraction

import pytest

from lakeproof.model.comparison import Comparison, Operator, Term, Unit


def holds(found, operator, value, high=None, **options):
    return Comparison((Term(operator, value, high),), **options).holds(found)


@pytest.mark.parametrize(
    ("found", "wanted", "is_equal"),
    [
        (0, 0, True),
        (Decimal("0.00"), 0, True),
        (0.1, 0.1, True),
        (Fraction(1, 10), 0.1, True),
        (Decimal("0.00"), "0", True),
        ("0.0", 0, True),
        (True, True, True),
        (True, "true", True),
        (True, "True", True),
        (False, "true", False),
        (5, True, True),
        (0, True, False),
        (0, False, True),
        ("abc", "abc", True),
        ("abc", "abd", False),
        ("abc", 0, False),
        ("nan", 0, False),
        ("true", True, True),
    ],
)
def test_values_are_equal_whether_or_not_they_are_written_as_text(found, wanted, is_equal):
    assert holds(found, Operator.MUST_BE, wanted) is is_equal
    assert holds(found, Operator.MUST_NOT_BE, wanted) is not is_equal


def test_a_range_holds_its_ends_unless_it_is_open():
    assert holds(1, Operator.BETWEEN, 1, 3)
    assert not holds(1, Operator.BETWEEN, 1, 3, open_ranges=True)
    assert not holds(1, Operator.NOT_BETWEEN, 1, 3)
    assert holds(1, Operator.NOT_BETWEEN, 1, 3, open_ranges=True)


def test_all_terms_must_hold_and_none_means_truth():
    both = Comparison((Term(Operator.GREATER, 0), Term(Operator.LESS, 10)))
    assert [both.holds(number) for number in (0, 5, 10)] == [False, True, False]
    assert [Comparison().holds(value) for value in (0, 2, False, True, "true", "no")] == [
        False,
        True,
        False,
        True,
        True,
        False,
    ]


def test_what_cannot_be_ordered_holds_no_order():
    assert not holds("abc", Operator.LESS, 5)
    assert not holds(float("nan"), Operator.GREATER, 5)


@pytest.mark.parametrize(
    ("terms", "is_bad"),
    [
        ([Term(Operator.MUST_BE, 0)], True),
        ([Term(Operator.MUST_BE, 5)], False),
        ([Term(Operator.LESS, 5)], True),
        ([Term(Operator.LESS_OR_EQUAL, 5), Term(Operator.LESS, 9)], True),
        ([Term(Operator.LESS, 5), Term(Operator.GREATER, 1)], False),
        ([Term(Operator.GREATER, 5)], False),
        ([Term(Operator.BETWEEN, 0, 5)], False),
        ([], False),
    ],
)
def test_only_a_bound_from_above_counts_what_is_bad(terms, is_bad):
    assert Comparison(tuple(terms)).bounds_above is is_bad


@pytest.mark.parametrize(
    ("comparison", "told"),
    [
        (Comparison((Term(Operator.MUST_BE, 0),), Unit.ROWS), "0 rows"),
        (Comparison((Term(Operator.MUST_NOT_BE, 5),)), "not 5"),
        (Comparison((Term(Operator.LESS, 2),), Unit.PERCENT), "< 2 %"),
        (Comparison((Term(Operator.NOT_BETWEEN, 1, 3),)), "not between 1 and 3"),
        (
            Comparison((Term(Operator.BETWEEN, 1, 3),), open_ranges=True),
            "between 1 and 3 (ends excluded)",
        ),
        (Comparison(), "true"),
    ],
)
def test_it_reads_as_people_say_it(comparison, told):
    assert str(comparison) == told
