"""Drivers that check a shop incrementally; as a script, Connect clients that die or race.

The script keeps one process with everything imported and forks a driver for each line it reads:
a driver is there in a tenth of a second instead of three. The fork comes before the first
connection, of which it would make two.
"""

from __future__ import annotations

import os
import sys
import time
import traceback

from lakeproof import faults, run_checks
from lakeproof.errors import AlreadyRunningError, FencedError
from oracle.kept_state import store_in
from oracle.shop import Shop, config_of

NAMESPACE = "killed"
GIVEN_WAY = 4
"""The exit code of one that another driver was faster than."""
FEW = {"present", "unique", "parent", "count"}


def shop_in(table_format: str, name: str) -> Shop:
    catalog = {"iceberg": "iceberg", "delta": "spark_catalog"}[table_format]
    prefix = f"{catalog}.{NAMESPACE}"
    return Shop(f"{prefix}.{name}_orders", f"{prefix}.{name}_customers", name)


def few_checks(shop: Shop) -> list:
    """A rule of each kind that stands on changes; test_killed_runs has those that do not."""
    return [check for check in shop.checks if check.name.removeprefix(f"{shop.name}_") in FEW]


def run(spark, table_format: str, name: str, run_id: str, **options):
    shop = shop_in(table_format, name)
    return run_checks(
        spark,
        few_checks(shop),
        store=store_in(table_format, f"{NAMESPACE}_{name}"),
        run_id=run_id,
        config=config_of([shop]),
        **options,
    )


def drive(address: str, table_format: str, name: str, run_id: str, point: str) -> None:
    """A driver of its own; `point` is where it dies, or the moment at which it starts."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(address).getOrCreate()
    if point.isdecimal():
        time.sleep(max(0.0, int(point) / 1000 - time.time()))
        run(spark, table_format, name, run_id)
        return
    os.environ["LAKEPROOF_FAULT"] = f"{point}:kill"
    faults.arm_from_environment()
    run(spark, table_format, name, run_id)


def forked(address: str, words: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        drive(address, *words)
        code = 0
    except (AlreadyRunningError, FencedError):
        code = GIVEN_WAY
    except BaseException:  # noqa: BLE001 (a forked process must not go on as its parent)
        traceback.print_exc()
    finally:
        os._exit(code)


def serve(address: str) -> None:
    """For each line, its drivers (parted by `;`) at once; answers with how each ended."""
    import pyspark.sql.connect.session  # noqa: F401 (imported once, before any fork)

    for line in sys.stdin:
        children = [forked(address, one.split()) for one in line.split(";")]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(*codes, flush=True)  # noqa: T201 (the test reads it)


if __name__ == "__main__":
    serve(sys.argv[1])
