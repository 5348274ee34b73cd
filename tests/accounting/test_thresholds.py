import pytest

from lakeproof.accounting.thresholds import ErrorThresholds
from lakeproof.errors import LedgerError


@pytest.mark.parametrize(
    ("thresholds", "rate", "errors"),
    [
        (ErrorThresholds.default(), 0.05, 10_000),
        (ErrorThresholds.strict(), 0.01, 100),
        (ErrorThresholds.permissive(), 0.2, 100_000),
    ],
)
def test_presets_are_those_that_users_know(thresholds, rate, errors):
    assert (thresholds.max_rate, thresholds.max_errors) == (rate, errors)
    assert thresholds.early_rows == 10_000


@pytest.mark.parametrize(
    ("limits", "errors", "records", "says"),
    [
        ({"max_errors": 100}, 100, 1000, ""),
        ({"max_errors": 100}, 101, 1000, "101 of 1,000 records are errors (10.1 %); at most 100"),
        ({"max_errors": 0}, 1, 1, "1 of 1 record is an error (100 %); at most 0 may be"),
        ({"max_rate": 0.05}, 5, 100, ""),
        ({"max_rate": 0.05}, 6, 100, "6 of 100 records are errors (6 %); at most 5 % may be"),
        ({"max_rate": 0.29}, 29, 100, ""),
        ({"max_rate": 0.0}, 1, 10**15, "at most 0 % may be"),
        ({"max_rate": 0.05}, 0, 0, ""),
        ({"max_rate": 0.05}, 1, 0, "1 of 0 records is an error; at most 5 % may be"),
        ({"max_rate": 0.0025, "max_errors": 1}, 3, 1000, "at most 1 may be, and at most 0.25 %"),
        ({"early_rate": 0.1}, 1000, 1000, ""),
    ],
)
def test_a_limit_may_be_met_and_not_passed(limits, errors, records, says):
    told = ErrorThresholds(**limits).breach(errors, records)

    assert says in told
    assert bool(told) is bool(says)


@pytest.mark.parametrize(
    ("limits", "errors", "rows", "is_breach"),
    [
        ({"max_rate": 0.05}, 500, 10_000, False),
        ({"max_rate": 0.05}, 501, 10_000, True),
        ({"max_rate": 0.05}, 9_999, 9_999, False),
        ({"max_rate": 0.05, "early_rate": 0.5}, 501, 10_000, False),
        ({"max_rate": 0.05, "early_rows": 10}, 1, 10, True),
        ({"max_rate": 0.05, "early_rows": 0}, 10, 10, False),
        ({"max_errors": 1}, 10_000, 10_000, False),
    ],
)
def test_the_early_breaker_judges_a_whole_early_part_by_its_share(limits, errors, rows, is_breach):
    told = ErrorThresholds(**limits).early_breach(errors, rows)

    assert told.startswith("STRUCTURAL: ") is is_breach
    assert bool(told) is is_breach


def test_without_a_share_there_is_nothing_to_judge_early():
    assert ErrorThresholds.default().is_early
    assert not ErrorThresholds(max_errors=5).is_early
    assert not ErrorThresholds(max_rate=0.1, early_rows=0).is_early


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({}, "without a limit"),
        ({"max_rate": 5}, "max_rate is a share from 0 to 1"),
        ({"max_rate": float("nan")}, "max_rate is a share"),
        ({"max_rate": True}, "max_rate is a share"),
        ({"max_rate": "5 %"}, "max_rate is a share"),
        ({"max_errors": -1}, "max_errors is a number of records"),
        ({"max_errors": 1.5}, "max_errors is a number of records"),
        ({"max_rate": 0.1, "early_rows": None}, "early_rows is a number of records"),
    ],
)
def test_limits_that_are_none_are_refused(limits, says):
    with pytest.raises(LedgerError, match=says):
        ErrorThresholds(**limits)
