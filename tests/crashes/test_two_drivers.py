"""Two drivers that start in the same second on one suite leave what one does."""

from __future__ import annotations

import time

import pytest
from checked_shop import CheckedShop

from crashes.killed_incremental import GIVEN_WAY
from spark_settings import for_few_records

START_SECONDS = 2.0


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.fixture(scope="module")
def shops(spark):
    return CheckedShop.in_both_formats(spark, "raced")


def race(shop: CheckedShop, drivers, names: tuple[str, str]) -> tuple[list[int], list[str]]:
    """How both ended, and what is wrong with the state after those that ended well."""
    at = str(int((time.time() + START_SECONDS) * 1000))
    codes = drivers.end(*((shop.format, shop.name, name, at) for name in names))
    won = [name for name, code in zip(names, codes, strict=True) if code == 0]
    return codes, [line for name in won for line in shop.wrong(name, "")]


@pytest.mark.parametrize(
    ("table_format", "is_one_run"),
    [
        ("delta", False),
        ("iceberg", False),
        ("iceberg", True),
        *(
            pytest.param(table_format, number % 4 == 0, marks=pytest.mark.slow)
            for number in range(10)
            for table_format in ("delta", "iceberg")
        ),
    ],
)
def test_two_drivers_in_the_same_second_leave_what_one_does(
    shops, drivers, table_format, is_one_run
):
    shop = shops[table_format]
    name = f"race-{shop.steps:02}"
    names = (name, name) if is_one_run else (f"{name}-a", f"{name}-b")
    codes, wrong = race(shop, drivers, names)
    shop.change()

    assert 0 in codes
    assert set(codes) <= {0, GIVEN_WAY}
    assert wrong == []
