"""A process of its own that commits rows to an Iceberg table one by one, on a signal."""

from __future__ import annotations

import sys

from lakeproof.engines.spark.session import local_session

if __name__ == "__main__":
    warehouse, table, first, count = sys.argv[1:]
    session = local_session(warehouse, cores="1")
    session.sql(f"SELECT count(*) FROM {table}").collect()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in range(int(first), int(first) + int(count)):
        session.sql(f"INSERT INTO {table} VALUES ({number})")
    session.stop()
