"""Bookings of an airline as JSON lines, with errors planted in known numbers.

    .venv/bin/python examples/airline/generate.py [--records 349660] [--folder build/airline]

The same number of records gives the same bytes on every machine. Of 349,660 records 345,000 are
good, 4,000 have no price above zero (500 of them none at all), 150 lines are malformed and 510
break a rule of the airline. Other numbers of records are shared out in the same proportions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

RECORDS = 349_660
FILTERED = 4_000
PARSE_ERRORS = 150
VALIDATION_ERRORS = 510
DAYS = 31
FILES = 4
FIRST_DAY = date(2025, 3, 1)

AIRLINES = ("AF", "BA", "IB", "KL", "LH", "LX", "OS", "SK")
AIRPORTS = ("AMS", "ARN", "BCN", "CDG", "FRA", "GVA", "LHR", "MAD", "OSL", "VIE", "ZRH")
CABINS = ("ECONOMY", "ECONOMY", "ECONOMY", "PREMIUM", "BUSINESS")
CHANNELS = ("WEB", "APP", "AGENT", "CALL_CENTRE")
TIERS = (None, None, "SILVER", "GOLD")
LETTERS = "ABCDEFGHJKLMPQRSTUVWXYZ"

# Prime and above any number of records: i -> i * STRIDE % records meets every position once, so
# the planted errors lie scattered and are still counted exactly.
_STRIDE = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Shares:
    """How many records meet each fate."""

    aggregated: int
    filtered: int
    parse_errors: int
    validation_errors: int


def shares_of(records: int) -> Shares:
    """The planted numbers; at least five of each kind, so that every fault there is occurs."""
    filtered, parse, validation = (
        max(5, records * planted // RECORDS)
        for planted in (FILTERED, PARSE_ERRORS, VALIDATION_ERRORS)
    )
    return Shares(records - filtered - parse - validation, filtered, parse, validation)


def lines(records: int) -> Iterator[str]:
    """Every line of the dataset, in order, without line ends."""
    shares, chance = shares_of(records), Random(2025)  # noqa: S311 (data, not secrets)
    filtered_from = shares.parse_errors
    validation_from = filtered_from + shares.filtered
    good_from = validation_from + shares.validation_errors
    for number in range(1, records + 1):
        booking = _booking(number, chance)
        position = number * _STRIDE % records
        if position < filtered_from:
            yield _malformed(json.dumps(booking), position)
            continue
        if position < validation_from:
            booking["ticket_price"] = (None, *[0, -booking["ticket_price"]] * 4)[position % 8]
        elif position < good_from:
            booking |= _broken_rule(booking, position)
        yield json.dumps(booking)


def _booking(number: int, chance: Random) -> dict[str, object]:
    """A booking without fault; only `random()` is drawn, which is the same in every Python."""
    draws = [chance.random() for _ in range(12)]
    day = FIRST_DAY + timedelta(days=number % DAYS)
    departure = datetime(day.year, day.month, day.day) + timedelta(  # noqa: DTZ001 (local time)
        minutes=300 + 5 * int(draws[0] * 200)
    )
    origin = int(draws[1] * len(AIRPORTS))
    destination = (origin + 1 + int(draws[2] * (len(AIRPORTS) - 1))) % len(AIRPORTS)
    airline, cabin = _one_of(AIRLINES, draws[3]), _one_of(CABINS, draws[4])
    return {
        "segment_id": f"BKG_{number:06}",
        "pnr": "".join(LETTERS[int(draws[5] * 23**place) % 23] for place in range(1, 7)),
        "airline": airline,
        "flight_number": f"{airline}{100 + int(draws[6] * 900)}",
        "flight_date": day.isoformat(),
        "origin": AIRPORTS[origin],
        "destination": AIRPORTS[destination],
        "departure_time": departure.isoformat(),
        "arrival_time": (departure + timedelta(minutes=50 + int(draws[7] * 150))).isoformat(),
        "booked_at": (departure - timedelta(hours=2 + int(draws[8] * 4000))).isoformat() + "Z",
        "cabin": cabin,
        "fare_basis": f"{cabin[0]}{int(draws[8] * 10)}{origin:02}FLX",
        "ticket_price": (3900 + int(draws[9] * 60000)) / 100,
        "currency": "EUR",
        "passengers": 1 + int(draws[10] * 4),
        "bags": int(draws[11] * 3),
        "channel": _one_of(CHANNELS, draws[11]),
        "loyalty_tier": _one_of(TIERS, draws[10]),
        "refundable": draws[9] > 0.8,  # noqa: PLR2004 (the dearer fares)
        "seat": f"{1 + int(draws[7] * 32)}{LETTERS[int(draws[6] * 6)]}",
    }


def _one_of(choices: tuple, draw: float) -> object:
    return choices[int(draw * len(choices))]


def _malformed(line: str, position: int) -> str:
    """A line that is no booking: cut off, a text without its quotes, a price that is no number."""
    price = line.index('"ticket_price": ') + len('"ticket_price": ')
    return (
        line[: len(line) * 2 // 3],
        line.replace('"pnr": "', '"pnr": ', 1),
        f'{line[:price]}"n/a"{line[line.index(",", price) :]}',
    )[position % 3]


def _broken_rule(booking: dict[str, object], position: int) -> dict[str, object]:
    """What is wrong with a booking that can be read."""
    return (
        {"airline": "ZZ"},
        {"airline": None},
        {"passengers": 0},
        {"destination": booking["origin"]},
        {"arrival_time": booking["departure_time"]},
    )[position % 5]


def write_dataset(folder: Path, records: int = RECORDS) -> Path:
    """The dataset `airline-clean` in this folder, in four files; gives its path."""
    dataset = folder / "datasets" / "airline-clean"
    dataset.mkdir(parents=True, exist_ok=True)
    made = lines(records)
    for file in range(FILES):
        count = records * (file + 1) // FILES - records * file // FILES
        with (dataset / f"bookings-{file + 1}.json").open("w", encoding="utf-8") as out:
            out.writelines(f"{next(made)}\n" for _ in range(count))
    return dataset


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=RECORDS)
    options.add_argument("--folder", type=Path, default=Path("build/airline"))
    given = options.parse_args()
    write_dataset(given.folder, given.records)


if __name__ == "__main__":
    main()
