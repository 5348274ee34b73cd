"""As a script, a driver with a Spark of its own: it changes a shop and dies, or runs again.

Arguments: the warehouse's folder, the format, and the point to die at or `again`.
"""

from __future__ import annotations

import json
import sys

from crashes.checked_shop import CheckedShop
from lakeproof import faults, local_session
from oracle.kept_state import KeptState


class NoSpark:
    """Executes nothing, so that a shop's commits only have their effect on its rows."""

    def sql(self, _statement: str) -> NoSpark:
        return self

    def collect(self) -> list[list[int]]:
        return [[0]]


def main(warehouse: str, table_format: str, point: str) -> None:
    spark = local_session(warehouse, cores="2")
    if point != "again":
        shop = CheckedShop(spark, table_format, "shop")
        shop.run("first")
        shop.change()
        faults.arm_from_environment()
        shop.run("second")
        return
    shop = CheckedShop(NoSpark(), table_format, "shop")
    shop.spark, shop.kept = spark, KeptState(spark, shop.kept.settings)
    shop.see("first", "first")
    shop.change()
    shop.run("second")
    print(json.dumps(shop.wrong("second", "second")))  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    main(*sys.argv[1:])
