"""Every promise of service becomes a check, or says why no table can answer it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import Facts
from lakeproof.config import ContractSettings
from lakeproof.contracts.contract import Contract, Object, Property, SlaEntry
from lakeproof.contracts.draft import Setting
from lakeproof.contracts.odcs.durations import read_duration
from lakeproof.contracts.odcs.sla import sla_drafts
from lakeproof.contracts.yaml_document import Document
from lakeproof.durations import Duration, duration_of
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import canonical_payload
from lakeproof.model.column import Column
from lakeproof.model.names import TableName

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
DAY = Decimal(86_400)


def prop(name, physical="", path=""):
    physical = physical or name
    return Property(name, physical, path or physical, name, f"/schema/0/properties/{name}", {})


ORDERS = Object(
    "orders",
    "orders_v1",
    "/schema/0",
    {},
    properties=(prop("created_at", "crt_ts"), prop("loaded_at"), prop("odd.name", "`odd.name`")),
)
CUSTOMERS = Object(
    "customers", "cust", "/schema/1", {}, properties=(prop("joined"), prop("loaded_at"))
)


def drafts(*entries, objects=(ORDERS,), default="", now=NOW):
    sla = tuple(
        SlaEntry(raw, f"/slaProperties/{index}", index) for index, raw in enumerate(entries)
    )
    contract = Contract(
        "c",
        "",
        "1",
        "v3.1.0",
        Document({}),
        objects=objects,
        sla=sla,
        sla_default_element=default,
    )
    setting = Setting(
        contract, None, None, ContractSettings(), lambda name: TableName((name,)), {}, now
    )
    return sla_drafts(setting)


def only(**raw):
    (found,) = drafts(raw)
    return found


# -------------------------------------------------------------------------------- durations


@pytest.mark.parametrize(
    ("value", "unit", "months", "seconds"),
    [
        (4, "d", 0, 4 * DAY),
        ("4", "days", 0, 4 * DAY),
        (" 4 ", "Day", 0, 4 * DAY),
        (1.5, "h", 0, Decimal(5400)),
        (3, "y", 36, 0),
        (3, "yr", 36, 0),
        (0.5, "years", 6, 0),
        (2, "mo", 2, 0),
        (2, "Months", 2, 0),
        (90, "min", 0, Decimal(5400)),
        (2, "weeks", 0, 14 * DAY),
        (30, "sec", 0, Decimal(30)),
        ("24h", None, 0, DAY),
        ("2 days", None, 0, 2 * DAY),
        ("P1Y", None, 12, 0),
        ("P1Y2M10DT2H30M", None, 14, 10 * DAY + 9000),
        ("p2w", None, 0, 14 * DAY),
        ("PT0.5S", None, 0, Decimal("0.5")),
        ("PT1,5H", None, 0, Decimal(5400)),
        ("P0.5Y", None, 6, 0),
        ("P1D", "d", 0, DAY),
        ("daily", None, 0, DAY),
        ("Monthly", None, 1, 0),
    ],
)
def test_durations_are_read_in_units_words_and_iso(value, unit, months, seconds):
    assert read_duration(value, unit) == Duration(months, Decimal(seconds))


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (4, "m", "'m' may be minutes or months. Write min or mo"),
        ("4m", None, "'m' may be minutes or months"),
        (4, None, "the value 4 has no unit. Known: y, mo, w, d, h, min, s"),
        (4, "dais", "the unit 'dais' is not known. Did you mean"),
        (None, "d", "it has no value"),
        (True, "d", "it has no value"),
        ([4], "d", "it has no value"),
        (-4, "d", "neither a number nor a duration"),
        ("soon", "d", "neither a number nor a duration"),
        ("P", None, "neither a number nor a duration"),
        ("PT", None, "neither a number nor a duration"),
        ("P1DT", None, "neither a number nor a duration"),
        ("P1H", None, "neither a number nor a duration"),
        (0.3, "y", "months must be whole"),
        (10**9, "y", "no duration that the calendar can count"),
    ],
)
def test_a_duration_that_means_nothing_or_two_things_is_refused(value, unit, said):
    with pytest.raises(CheckDefinitionError) as caught:
        read_duration(value, unit)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["0s", "1d 12h", "3y", "1y 6mo 2d 3h 4m 5.25s", "45m"])
def test_a_duration_is_written_as_it_is_read(text):
    assert str(duration_of(text)) == text


@pytest.mark.parametrize(
    ("length", "moment", "before"),
    [
        (Duration(1), datetime(2024, 3, 31), datetime(2024, 2, 29)),  # noqa: DTZ001
        (Duration(36), datetime(2024, 2, 29), datetime(2021, 2, 28)),  # noqa: DTZ001
        (Duration(1, DAY), datetime(2026, 1, 1), datetime(2025, 11, 30)),  # noqa: DTZ001
    ],
)
def test_months_are_those_of_the_calendar(length, moment, before):
    assert length.before(moment) == before


# ------------------------------------------------------------------------ from entry to check


@pytest.mark.parametrize("name", ["latency", "LATENCY", "ly", "Ly", "freshness", "Freshness"])
def test_freshness_and_latency_of_one_element_are_the_age_of_the_newest_value(name):
    found = only(property=name, value=4, unit="d", element="orders.created_at")
    assert (found.draft.check, found.draft.columns) == ("freshness", ("crt_ts",))
    assert found.draft.params == {"max_age": "4d"}
    assert (found.owner, found.part.name) == (ORDERS, "created_at")
    assert found.pointer == "/slaProperties/0"
    assert found.what in {"latency", "freshness"}


def test_latency_of_two_elements_is_the_second_minus_the_first():
    found = only(property="latency", value="PT4H", element="orders.created_at, orders.loaded_at")
    assert (found.draft.check, found.draft.columns) == ("delay", ("crt_ts", "loaded_at"))
    assert found.draft.params == {"max_delay": "4h"}
    assert found.draft.choices["latency"] == "orders.loaded_at minus orders.created_at, in each row"


@pytest.mark.parametrize(
    ("name", "check", "params"),
    [
        ("retention", "retention", {"max_age": "3y"}),
        ("re", "retention", {"max_age": "3y"}),
        ("frequency", "max_gap", {"max_gap": "3y"}),
        ("fy", "max_gap", {"max_gap": "3y"}),
    ],
)
def test_retention_and_frequency_have_their_checks(name, check, params):
    found = only(property=name, value=3, unit="y", element="created_at").draft
    assert (found.check, found.columns, found.params) == (check, ("crt_ts",), params)


def test_a_comma_list_or_a_list_gives_one_draft_per_element():
    for element in ("created_at,loaded_at", ["created_at", "orders.loaded_at"]):
        found = drafts({"property": "freshness", "value": "P1D", "element": element})
        assert [one.draft.columns for one in found] == [("crt_ts",), ("loaded_at",)]
        assert len({one.draft.label for one in found}) == 2


def test_the_default_element_stands_in_and_v2_says_column():
    (found,) = drafts({"property": "latency", "value": "P1D"}, default="orders.created_at")
    assert found.draft.columns == ("crt_ts",)
    assert only(property="latency", value="P1D", column="orders.loaded_at").part.name == "loaded_at"


@pytest.mark.parametrize(
    ("element", "columns"),
    [
        ("orders.odd.name", "`odd.name`"),
        ("orders_v1.crt_ts", "crt_ts"),
        ("customers.loaded_at", "loaded_at"),
        ("joined", "joined"),
    ],
)
def test_elements_are_found_by_logical_and_physical_names(element, columns):
    (found,) = drafts(
        {"property": "freshness", "value": "P1D", "element": element}, objects=(ORDERS, CUSTOMERS)
    )
    assert found.draft.columns == (columns,)


@pytest.mark.parametrize(
    ("value", "params"),
    [
        ("09:00-08:00", {"time": "09:00-08:00"}),
        ("9:00", {"time": "9:00"}),
        ("07:30Z", {"time": "07:30Z"}),
        ("09:00 Europe/Berlin", {"time": "09:00", "timezone": "Europe/Berlin"}),
    ],
)
def test_a_time_of_availability_is_a_local_time(value, params):
    found = only(property="timeOfAvailability", value=value, element="orders.created_at").draft
    assert (found.check, found.params) == ("available_by", params)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("generalAvailability", "starts_at"),
        ("GA", "starts_at"),
        ("endOfSupport", "ends_at"),
        ("es", "ends_at"),
        ("endoflife", "ends_at"),
        ("el", "ends_at"),
    ],
)
def test_dates_of_service_need_no_column(name, parameter):
    moment = "2032-05-12T09:30:10-08:00"
    found = only(property=name, value=moment)
    assert found.draft.check == "service_period"
    assert (found.draft.columns, found.draft.params) == ((), {parameter: moment})
    assert (found.owner, found.part) == (ORDERS, None)


def test_what_an_entry_declares_goes_with_it():
    found = only(
        property="freshness",
        value=1,
        unit="d",
        element="created_at",
        id="fresh",
        driver="regulatory",
        schedule="0 20 * * *",
        scheduler="cron",
        customProperties=[{"property": "timezone", "value": "Europe/Berlin"}],
        valueExt=2,
        elemnt="x",
    ).draft
    assert found.choices == {
        "id": "fresh",
        "driver": "regulatory",
        "schedule": "0 20 * * *",
        "scheduler": "cron",
        "timezone": "Europe/Berlin",
    }
    assert any("'elemnt' is no key of a service level" in note for note in found.notes)
    assert any("valueExt '2' is kept, and not checked" in note for note in found.notes)


def test_entries_of_one_name_are_told_apart():
    entry = {"property": "timeOfAvailability", "element": "orders.created_at"}
    found = drafts({**entry, "value": "09:00-08:00"}, {**entry, "value": "08:00-08:00"})
    assert [one.what for one in found] == ["timeOfAvailability", "timeOfAvailability[2]"]


# ---------------------------------------------------------------------------- why it does not


@pytest.mark.parametrize(
    "name",
    [
        *("availability", "av", "throughput", "TH", "errorRate", "er", "timeToDetect", "td"),
        *("timeToNotify", "tn", "timeToRepair", "tr"),
    ],
)
def test_what_no_table_can_answer_is_skipped_with_a_reason(name):
    found = only(property=name, value="95%", unit="%").draft
    assert "is not in its tables" in found.skipped
    assert not found.error


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"property": "retentoin", "value": 1}, "has no meaning that can be checked. Nearest: ret"),
        ({"property": "quality of life"}, "has no meaning that can be checked"),
        ({"property": "freshness", "value": "P1D"}, "it names no element"),
    ],
)
def test_what_cannot_be_tied_to_a_check_is_skipped(raw, said):
    assert said in only(**raw).draft.skipped


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"value": 1}, "the service level has no property"),
        ({"property": "latency", "value": 4, "unit": "m", "element": "created_at"}, "min or mo"),
        ({"property": "latency", "value": 4, "element": "created_at"}, "has no unit"),
        ({"property": "latency", "unit": "d", "element": "created_at"}, "it has no value"),
        (
            {"property": "freshness", "value": "P1D", "element": "orders.creatd_at"},
            "element 'orders.creatd_at' is not in the schema. Nearest: orders.created_at",
        ),
        ({"property": "freshness", "value": "P1D", "element": "orders"}, "is an object"),
        (
            {"property": "latency", "value": "P1D", "element": "created_at,loaded_at,created_at"},
            "3 elements. Name one, or two",
        ),
        ({"property": "timeOfAvailability", "value": "noon"}, "is no time of day such as"),
        ({"property": "generalAvailability", "value": "Available 24/7"}, "is no ISO date"),
        ({"property": "endOfLife"}, "is no ISO date"),
    ],
)
def test_a_promise_that_cannot_be_read_is_an_error_that_says_what_next(raw, said):
    assert said in only(**raw).draft.error


def test_elements_of_two_objects_have_no_delay_and_a_doubtful_one_is_asked_for():
    both = (ORDERS, CUSTOMERS)
    entry = {"property": "latency", "value": "P1D"}
    (apart,) = drafts({**entry, "element": "created_at, customers.joined"}, objects=both)
    assert "are in different objects" in apart.draft.error
    (doubtful,) = drafts({**entry, "element": "loaded_at"}, objects=both)
    assert "in several objects: orders.loaded_at, customers.loaded_at" in doubtful.draft.error


def test_every_draft_that_runs_is_one_that_its_check_takes():
    entries = [
        {"property": name, "value": value, "element": element}
        for name, value, element in (
            ("freshness", "P1M", "created_at"),
            ("latency", "P1Y2M10DT2H30M", "created_at,loaded_at"),
            ("retention", "P3Y", "created_at"),
            ("frequency", "daily", "created_at"),
            ("timeOfAvailability", "09:00-08:00", "created_at"),
            ("generalAvailability", "2022-05-12", ""),
            ("endOfLife", "2042-05-12T09:30:10-08:00", ""),
        )
    ]
    for found in drafts(*entries):
        check = find_check(found.draft.check)
        check.require_limits(check.read(found.draft.columns, found.draft.params))


# ------------------------------------------------------------------------- verdicts and clock


def judged(check, values, now=NOW, total=3, **params):
    kind = find_check(check)
    columns = ("at",) if kind.columns_max else ()
    return kind.judge(values, kind.read(columns, params), Facts(total=total, now=now))


def micros(text):
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("clock", "newest", "days_late"),
    [
        ("2026-01-15T17:00Z", "2026-01-15", 0),  # 09:00-08:00 has just come
        ("2026-01-15T17:00Z", "2026-01-14", 1),
        ("2026-01-15T16:59Z", "2026-01-14", 0),  # not due yet: yesterday's is enough
        ("2026-01-15T16:59Z", "2026-01-12", 2),
        ("2026-01-15T03:00Z", "2026-01-14", 0),  # there it is still the 14th
        ("2026-01-15T17:00Z", "2026-01-20", 0),
    ],
)
def test_from_its_time_on_todays_data_is_there(clock, newest, days_late):
    now = datetime.fromisoformat(clock)
    days = date.fromisoformat(newest).toordinal() - date(1970, 1, 1).toordinal()
    found = judged("available_by", {"days": days}, now, time="09:00-08:00")
    assert (found.failing, found.excess) == (int(days_late > 0), days_late)
    assert found.measures == {"days_late": days_late}


@pytest.mark.parametrize(
    ("unit", "moment", "failing"),
    [
        ("micros", "2026-01-15T08:00:00+00:00", 0),  # midnight there
        ("micros", "2026-01-15T07:59:59+00:00", 1),
        ("local_micros", "2026-01-15T00:00:00+00:00", 0),
        ("local_micros", "2026-01-14T23:59:59+00:00", 1),
    ],
)
def test_the_day_of_a_timestamp_is_the_day_there(unit, moment, failing):
    now = datetime(2026, 1, 15, 18, 0, tzinfo=UTC)
    found = judged("available_by", {unit: micros(moment)}, now, time="09:00-08:00")
    assert found.failing == failing


def test_no_value_is_not_available_and_a_far_one_is():
    assert judged("available_by", {"micros": None}, time="09:00Z").failing == 1
    assert judged("available_by", {"micros": 2**62}, time="09:00Z").failing == 0


def test_a_period_of_service_is_judged_by_the_clock_alone():
    before = judged("service_period", {}, starts_at="2026-02-01")
    assert before.skipped
    assert before.details == "not in service before 2026-02-01, in 16 days"
    inside = judged("service_period", {}, starts_at="2022-05-12", ends_at="2026-01-31")
    assert (inside.failing, inside.measures) == (0, {"days_left": 16})
    assert "16 days left" in inside.details
    over = judged("service_period", {}, ends_at="2026-01-13T12:00:00Z")
    assert (over.failing, over.excess, over.measures) == (1, 2, {"days_left": -2})


def test_the_last_day_of_service_is_part_of_it():
    last = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    assert judged("service_period", {}, last, ends_at="2026-01-31").failing == 0
    after = last + timedelta(seconds=1)
    assert judged("service_period", {}, after, ends_at="2026-01-31").failing == 1


@pytest.mark.parametrize(
    ("check", "params", "said"),
    [
        ("service_period", {}, "needs starts_at, ends_at or both"),
        ("service_period", {"ends_at": "soon"}, "write an ISO date or moment"),
        ("service_period", {"starts_at": "2027-01-01", "ends_at": "2026-01-01"}, "after it ends"),
        ("available_by", {"time": "0900"}, "write a time of day"),
        ("available_by", {"time": "25:00"}, "write a time of day"),
        ("available_by", {"time": "09:00Z", "timezone": "Europe/Berlin"}, "Give one of them"),
        ("retention", {"max_age": "1.5mo"}, "Months and years need a whole number of months"),
        ("retention", {"max_age": "-1d"}, "write a duration such as"),
        ("max_gap", {"max_gap": float("nan")}, "write a duration such as"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(check, params, said):
    kind = find_check(check)
    with pytest.raises(CheckDefinitionError) as caught:
        kind.read(("at",) if kind.columns_max else (), params)
    assert said in str(caught.value)


def test_a_delay_of_a_column_against_itself_is_refused():
    with pytest.raises(CheckDefinitionError, match="against itself"):
        find_check("delay").read(("a", "A"), {"max_delay": "1d"})


def test_equal_durations_are_one_rule():
    kind = find_check("retention")
    texts = {
        canonical_payload(kind.identity(kind.read(("at",), {"max_age": age})))
        for age in ("36h", "1d 12h", "PT36H", 129_600, timedelta(hours=36))
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("type_text", "max_age", "sql"),
    [
        ("date", "3y", "`at` < CAST('2023-01-15' AS DATE)"),
        ("date", "36h", "`at` < CAST('2026-01-14' AS DATE)"),
        ("timestamp", "36h", "`at` < CAST('2026-01-14 00:00:00.000000+00:00' AS TIMESTAMP)"),
        ("timestamp_ntz", "1mo", "`at` < CAST('2025-12-15 12:00:00.000000' AS TIMESTAMP_NTZ)"),
        ("timestamp", "9999y", "FALSE"),
    ],
)
def test_what_is_kept_too_long_is_older_than_the_calendar_says(type_text, max_age, sql):
    kind = find_check("retention")
    arguments = kind.read(("at",), {"max_age": max_age})
    assert kind.violates(Column("at", type_text), arguments, NOW).sql("spark") == sql


def test_freshness_counts_months_by_the_calendar():
    march = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
    exactly = micros("2026-02-28T12:00:00+00:00")
    assert judged("freshness", {"micros": exactly}, march, max_age="1mo").failing == 0
    late = judged("freshness", {"micros": exactly - 1}, march, max_age="P1M")
    assert late.failing == 1
    assert late.bound == "age <= 1mo"
    days = date(2026, 2, 28).toordinal() - date(1970, 1, 1).toordinal()
    assert judged("freshness", {"days": days}, march, max_age="1mo").failing == 0
    assert judged("freshness", {"days": days - 1}, march, max_age="1mo").failing == 1


def test_a_rule_is_the_same_on_every_day():
    entries = [
        {"property": "retention", "value": "P1M", "element": "created_at"},
        {"property": "freshness", "value": "P1M", "element": "created_at"},
        {"property": "endOfLife", "value": "2026-01-15"},
    ]
    assert drafts(*entries) == drafts(*entries, now=NOW + timedelta(days=40))


def test_a_service_level_without_a_property_is_told_each_name_once():
    known = only(value=1).draft.error.partition("Known: ")[2].split(", ")
    assert known == sorted(set(known))
