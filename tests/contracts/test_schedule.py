"""Cron as Vixie's cron reads it, across clock changes too, and who decides what is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.schedule import Due, is_due, parse_cron

THURSDAY = "2026-01-15T20:00"
BERLIN = "CRON_TZ=Europe/Berlin"


def at(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def fires(cron: str, moment: str) -> bool:
    return parse_cron(cron).fires_at(at(moment))


@pytest.mark.parametrize(
    ("cron", "hit", "miss"),
    [
        ("0 20 * * *", THURSDAY, "2026-01-15T20:01"),
        ("0 20 * * *", "2026-01-15T20:00:59.9", "2026-01-15T08:00"),
        ("*/15 * * * *", "2026-01-15T20:45", "2026-01-15T20:50"),
        ("10-30/10 8,20 * * *", "2026-01-15T08:30", "2026-01-15T08:40"),
        ("0 20 * JAN thu", THURSDAY, "2026-02-19T19:59"),
        ("0 20 * * MON-FRI", THURSDAY, "2026-01-17T20:00"),
        ("0 20 * * 7", "2026-01-18T20:00", THURSDAY),
        ("0 20 * * 0", "2026-01-18T20:00", THURSDAY),
        ("0 20 * * 5-7", "2026-01-18T20:00", THURSDAY),
        ("0 20 ? * 4", THURSDAY, "2026-01-16T20:00"),
        ("0 0 31 * *", "2026-01-31T00:00", "2026-02-28T00:00"),
        ("@daily", "2026-01-15T00:00", THURSDAY),
        ("@Hourly", THURSDAY, "2026-01-15T20:30"),
        ("@weekly", "2026-01-18T00:00", "2026-01-15T00:00"),
        ("@monthly", "2026-02-01T00:00", "2026-02-02T00:00"),
        ("@yearly", "2026-01-01T00:00", "2026-02-01T00:00"),
        (f"{BERLIN} 0 2 * * *", "2026-01-15T01:00", "2026-01-15T02:00"),
        ("TZ=Asia/Kathmandu 45 5 * * *", "2026-01-15T00:00", "2026-01-15T05:45"),
    ],
)
def test_a_schedule_fires_in_its_minute_and_in_no_other(cron, hit, miss):
    assert fires(cron, hit)
    assert not fires(cron, miss)


def test_when_both_days_are_restricted_either_is_enough():
    both = "0 0 1 * MON"
    assert fires(both, "2026-01-01T00:00")  # a Thursday
    assert fires(both, "2026-01-05T00:00")  # a Monday
    assert not fires(both, "2026-01-06T00:00")


def test_a_day_that_starts_with_a_star_is_not_restricted():
    odd_mondays = "0 0 */2 * MON"
    assert fires(odd_mondays, "2026-01-05T00:00")
    assert not fires(odd_mondays, "2026-01-12T00:00")
    assert not fires(odd_mondays, "2026-01-01T00:00")


def test_a_fixed_time_that_the_clock_leaves_out_is_due_right_after():
    # In Berlin 02:00 becomes 03:00 on 2026-03-29, which is 01:00 UTC.
    assert fires(f"{BERLIN} 30 2 * * *", "2026-03-29T01:00Z")
    assert not fires(f"{BERLIN} 30 2 * * *", "2026-03-29T01:30Z")
    assert fires(f"{BERLIN} 30 2 * * *", "2026-03-30T00:30Z")
    assert not fires(f"{BERLIN} 30 4 * * *", "2026-03-29T01:00Z")
    assert not fires(f"{BERLIN} 30 2 1 * *", "2026-03-29T01:00Z")  # another day's


def test_a_fixed_time_that_comes_twice_is_due_once():
    # In Berlin 03:00 becomes 02:00 on 2026-10-25, which is 01:00 UTC.
    assert fires(f"{BERLIN} 30 2 * * *", "2026-10-25T00:30Z")
    assert not fires(f"{BERLIN} 30 2 * * *", "2026-10-25T01:30Z")


def test_with_a_star_the_clock_on_the_wall_decides():
    each_half = f"{BERLIN} 30 * * * *"
    assert fires(each_half, "2026-03-29T00:30Z")
    assert not fires(each_half, "2026-03-29T01:00Z")
    assert fires(each_half, "2026-10-25T00:30Z")
    assert fires(each_half, "2026-10-25T01:30Z")


def test_a_fixed_time_fires_once_on_every_day_of_every_year():
    cron = parse_cron(f"{BERLIN} 15 2 * * *")
    for start in ("2026-03-27T23:00Z", "2026-10-23T22:00Z"):
        minutes = [at(start) + timedelta(minutes=number) for number in range(4 * 24 * 60)]
        fired = [minute for minute in minutes if cron.fires_at(minute)]
        assert len({minute.astimezone(cron.zone).date() for minute in fired}) == len(fired) == 4


@given(
    minute=st.integers(0, 59),
    hour=st.integers(0, 23),
    day=st.integers(1, 31),
    month=st.integers(1, 12),
    moment=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001
)
def test_plain_numbers_are_the_moment_that_they_name(minute, hour, day, month, moment):
    named = (moment.minute, moment.hour, moment.day, moment.month)
    assert parse_cron(f"{minute} {hour} {day} {month} *").fires_at(moment) is (
        named == (minute, hour, day, month)
    )
    exactly = f"{moment.minute} {moment.hour} {moment.day} {moment.month} *"
    assert parse_cron(exactly).fires_at(moment)


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("0 0 20 * * ?", "6 fields, as Quartz writes them. Leave out the seconds"),
        ("0 0 20 * * ? 2026", "7 fields, as Quartz writes them"),
        ("0 20 * *", "4 fields, not minute, hour"),
        ("", "0 fields"),
        ("60 * * * *", "'60' is no minute: 0 to 59"),
        ("* 24 * * *", "'24' is no hour"),
        ("* * 0 * *", "'0' is no day of month"),
        ("* * * 13 *", "'13' is no month: 1 to 12, or jan to dec"),
        ("* * * * 8", "'8' is no day of week"),
        ("* * L * *", "L, W, # and H are not"),
        ("* * 15W * *", "'15W' is no day of month"),
        ("* * * * 5#3", "'5#3' is no day of week"),
        ("H * * * *", "'H' is no minute"),
        ("? * * * *", "'?' is no minute"),
        ("*/0 * * * *", "no step that is a number above 0"),
        ("*/x * * * *", "no step that is a number above 0"),
        ("5/15 * * * *", "write 5-59/15"),
        ("* * * * FRI-MON", "FRI-MON of the day of week runs backwards"),
        ("1,,2 * * * *", "'' is no minute"),
        ("-5 * * * *", "'' is no minute"),
        ("٣ * * * *", "is no minute"),
        ("@reboot", "known words are @yearly"),
        ("@every 5m", "known words are @yearly"),
        ("CRON_TZ=Mars/Base 0 2 * * *", "'Mars/Base' is no IANA zone"),
        ("TZ=../etc/passwd 0 2 * * *", "is no IANA zone"),
    ],
)
def test_what_is_not_five_field_cron_is_refused_with_a_way_out(cron, said):
    with pytest.raises(CheckDefinitionError) as caught:
        parse_cron(cron)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "due", "reason"),
    [
        ({}, Due.DUE, "it has no schedule"),
        ({"scheduler": "cron"}, Due.DUE, "it has no schedule"),
        ({"schedule": "0 20 * * *"}, Due.DUE, "cron 0 20 * * *"),
        ({"schedule": "0 20 * * *", "scheduler": "CRON"}, Due.DUE, "cron 0 20 * * *"),
        ({"schedule": "0 8 * * *", "scheduler": "cron"}, Due.NOT_DUE, "cron 0 8 * * *"),
        ({"schedule": "0 21 * * *", "timezone": "Europe/Berlin"}, Due.DUE, "cron 0 21 * * *"),
        ({"schedule": "TZ=UTC 0 20 * * *", "timezone": "Asia/Tokyo"}, Due.DUE, "cron TZ=UTC"),
        ({"schedule": "0 20 * * *", "scheduler": "airflow"}, Due.UNDECIDABLE, "'airflow' is not"),
        ({"scheduler": "airflow"}, Due.UNDECIDABLE, "scheduler 'airflow' is not cron"),
        ({"schedule": "every evening"}, Due.UNDECIDABLE, "is not five-field cron"),
        ({"schedule": "0 0 20 * * ?", "scheduler": "cron"}, Due.UNDECIDABLE, "as Quartz writes"),
    ],
)
def test_who_decides_whether_a_rule_is_due(declared, due, reason):
    found = is_due(declared, at(THURSDAY))
    assert found.due is due
    assert reason in found.reason


def test_a_time_without_zone_is_in_utc():
    naive = datetime(2026, 1, 15, 20, 0)  # noqa: DTZ001
    assert is_due({"schedule": "0 20 * * *"}, naive).due is Due.DUE
    assert is_due({"schedule": "0 20 * * *"}, at("2026-01-15T21:00+01:00")).due is Due.DUE
