"""What file statistics decide is what a scan of the rows finds, field by field."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakeproof import QualityCheck, run_checks
from spark_settings import FOR_FEW_RECORDS, WITH_GENERATED_CODE, under

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PREFIXES = {"delta": "spark_catalog.statistics", "iceberg": "iceberg.statistics"}
# Without generated code Spark gives NULL for bounds that Iceberg has: nothing would be decided.
SETTINGS = {"delta": FOR_FEW_RECORDS, "iceberg": {**FOR_FEW_RECORDS, **WITH_GENERATED_CODE}}
PROPERTIES = {
    "delta": [
        "'delta.columnMapping.mode' = 'name'",
        "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'",
        "'delta.columnMapping.mode' = 'name', 'delta.checkpointInterval' = '2'",
        "'delta.columnMapping.mode' = 'name', 'delta.dataSkippingNumIndexedCols' = '3'",
    ],
    "iceberg": [
        "'write.delete.mode' = 'copy-on-write'",
        "'write.delete.mode' = 'merge-on-read', 'format-version' = '2'",
        "'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition'",
        "'write.delete.mode' = 'merge-on-read', 'format-version' = '3'",
        "'write.metadata.metrics.default' = 'counts'",
    ],
}
TYPES = {
    "id": "INT",
    "d": "DOUBLE",
    "dec": "DECIMAL(8,2)",
    "s": "STRING",
    "ts": "TIMESTAMP",
    "ntz": "TIMESTAMP_NTZ",
    "day": "DATE",
    "f": "FLOAT",
    "st": "STRUCT<a: INT, b: STRING>",
    "part": "STRING",
}
LONG = "a text that is longer than any bound keeps of it, and then some"
VALUES = {
    "id": ["0", "1", "7", "-3", "2147483647"],
    "d": ["0D", "-0D", "1.5D", "double('NaN')", "-2.25D", "double('Infinity')"],
    "dec": ["0.00", "12.34", "-0.01", "999999.99"],
    "s": ["''", "'a'", "'é'", f"'{LONG}'", f"'{LONG}!'", "'zz'"],
    "ts": ["TIMESTAMP '2026-02-01 10:00:00.123456'", "TIMESTAMP '2026-03-01 11:59:59.999999'"],
    "ntz": ["TIMESTAMP_NTZ '2026-02-01 10:00:00.000001'", "TIMESTAMP_NTZ '2031-01-01 00:00:00'"],
    "day": ["DATE '2026-02-28'", "DATE '1999-12-31'", "DATE '2026-03-02'"],
    "f": ["float(0.1)", "float('NaN')", "float(-0.0)", "float(3)"],
    "st": ["named_struct('a', 1, 'b', 'x')", "named_struct('a', CAST(NULL AS INT), 'b', 'y')"],
    "part": ["'north'", "'south'"],
}


@pytest.fixture(scope="module")
def spark(spark):
    for prefix in PREFIXES.values():
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {prefix}")
    return spark


class RandomTable:
    """A table of a few files with a history that is drawn from a seed."""

    def __init__(self, spark, table_format: str, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311 (a seed, not a secret)
        self.spark = spark
        self.name = f"{PREFIXES[table_format]}.t{seed}"
        self.types = dict(TYPES)
        self.values = {name: list(some) for name, some in VALUES.items()}
        self.format = table_format
        properties = self.draw.choice(PROPERTIES[table_format])
        self.is_partitioned = self.draw.random() < 0.5
        columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
        spark.sql(f"DROP TABLE IF EXISTS {self.name}")
        spark.sql(
            f"CREATE TABLE {self.name} ({columns}) USING {table_format} "
            f"{'PARTITIONED BY (part) ' if self.is_partitioned else ''}"
            f"TBLPROPERTIES ({properties})"
        )

    def grow(self) -> None:
        """A few commits: rows come, rows go, columns change."""
        for _ in range(self.draw.randint(2, 4)):
            self._insert()
        changes = [self._delete, self._rename, self._add, self._promote, self._replace]
        for change in self.draw.sample(changes, self.draw.randint(0, 3)):
            change()
            self._insert()
        if self.draw.random() < 0.5:
            self._delete()

    def _insert(self) -> None:
        """One file: of few different values, so that files differ."""
        some = {
            name: self.draw.sample(self.values[name], self.draw.randint(1, 2))
            for name in self.types
        }
        nulls = {name for name in self.types if self.draw.random() < 0.2}
        rows = ", ".join(
            "(" + ", ".join(self._value(name, some, nulls) for name in self.types) + ")"
            for _ in range(self.draw.randint(1, 5))
        )
        self.spark.sql(f"INSERT INTO {self.name} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")

    def _value(self, name, some, nulls) -> str:
        is_null = name in nulls and self.draw.random() < 0.7
        value = "NULL" if is_null else self.draw.choice(some[name])
        return f"CAST({value} AS {self.types[name]})"

    def _delete(self) -> None:
        self.spark.sql(f"DELETE FROM {self.name} WHERE id = {self.draw.choice([0, 1, 7])}")

    def _rename(self) -> None:
        if "dec" in self.types:
            self.spark.sql(f"ALTER TABLE {self.name} RENAME COLUMN dec TO money")
            self._put("dec", "money", self.types["dec"], self.values["dec"])

    def _add(self) -> None:
        if "late" not in self.types:
            self.spark.sql(f"ALTER TABLE {self.name} ADD COLUMN late INT")
            self.types["late"], self.values["late"] = "INT", ["1", "5"]

    def _promote(self) -> None:
        if self.format == "iceberg" and self.types["id"] == "INT":
            self.spark.sql(f"ALTER TABLE {self.name} ALTER COLUMN id TYPE BIGINT")
            self.types["id"] = "BIGINT"
            self.values["id"].append("3000000000")

    def _replace(self) -> None:
        """A column goes, and another one of its name comes: old files say nothing of it."""
        self.spark.sql(f"ALTER TABLE {self.name} DROP COLUMN f")
        self.spark.sql(f"ALTER TABLE {self.name} ADD COLUMN f INT")
        del self.types["f"]
        self.types["f"], self.values["f"] = "INT", ["-1", "4"]

    def _put(self, old: str, new: str, kind: str, values: list[str]) -> None:
        names = [new if name == old else name for name in self.types]
        kinds = {**self.types, new: kind}
        self.types = {name: kinds[name] for name in names}
        self.values[new] = values

    def checks(self) -> list[QualityCheck]:
        money = "money" if "money" in self.types else "dec"
        found = [self._check("not_null", name) for name in (*self.types, "st.a")]
        found += [
            self._check("range", "id", min_value=-5, max_value=10),
            self._check("range", "d", min_value=-10, max_value=2),
            self._check("range", money, min_value=-1, max_value=100.005),
            self._check("range", "f", min_value=-1, max_exclusive=True, max_value=4),
            self._check("range", "day", min_value="1990-01-01", max_value="2026-12-31"),
            self._check("range", "ts", max_value="2026-02-01T10:00:00.123456Z"),
            self._check("positive", "id"),
            self._check("no_future_dates", "day"),
            self._check("no_future_dates", "ts"),
            self._check("no_future_dates", "ntz"),
            self._check("row_count_range", None, min_count=1),
            self._check("freshness", "ts", max_age="2d"),
            self._check("freshness", "day", max_age="60d"),
            self._check("aggregate", "id", function="max", max_value=100),
            self._check("aggregate", "d", function="min", min_value=-1),
            self._check("aggregate", money, function="max", max_value=100),
            self._check("aggregate", "s", function="null_share", max_value=0.9),
            self._check("accepted_values", "part", accepted=["north"]),
            self._check("invalid_values", "d", invalid_values=[-999.0, float("nan")]),
            self._check("row_expression", None, expression="NOT id IN (7, 1.0D)"),
            self._check("aggregate", "f", function="min", min_value=-1),
            self._check("row_expression", None, expression="id < 100 OR s = 'a'"),
            self._check("row_expression", None, expression="NOT (d >= 1 AND d <= 3)"),
            self._check("row_expression", None, expression="s BETWEEN 'a' AND 'zz'"),
            self._check("row_expression", None, expression="length(part) = 5"),
            self._check("row_expression", None, expression="st.a IN (1, 2) OR st.a IS NULL"),
        ]
        filters = ("part = 'north'", "id >= 1", "day > DATE '2026-01-01'", "s IS NOT NULL")
        some = self.draw.sample(found, 8)
        found += [
            replace(check, name=f"{check.name} if {at}", filter=self.draw.choice(filters))
            for at, check in enumerate(some)
        ]
        return found

    def _check(self, kind: str, column: str | None, **params) -> QualityCheck:
        label = f"{kind} {column} {sorted(params.items())}"
        return QualityCheck(label, kind, self.name, column, params)


def told(result):
    fields = result.to_dict()
    return {k: v for k, v in fields.items() if k not in {"method", "files_read", "duration"}}


def held_against_scan(spark, table_format: str, seed: int) -> list[str]:
    """All rules together, and some few: what one of them needs, the others read as well.

    In every third table all files are verified too: no statistics lie here.
    """
    table = RandomTable(spark, table_format, seed)
    table.grow()
    checks = table.checks()

    def run(some, method, verified=0.0):
        ran = run_checks(
            spark,
            some,
            method=method,
            verify_statistics=verified,
            run_id="one",
            clock=lambda: NOW,
        )
        return {result.check_name: result for result in ran.results}

    scanned = run(checks, "scan")
    for name, result in scanned.items():
        assert (result.method, result.files_read) == ("scan", None), (name, result.details)
    methods = []
    few = [table.draw.sample(checks, 3) for _ in range(4)]
    for some in (checks, *few):
        verified = 1.0 if some is checks and seed % 3 == 0 else 0.0
        for name, result in run(some, "statistics", verified).items():
            assert told(result) == told(scanned[name]), (seed, name)
            methods.append(result.method)
    return methods


def methods_of(spark, table_format: str, seeds: range) -> list[str]:
    with under(spark, SETTINGS[table_format]):
        return [one for seed in seeds for one in held_against_scan(spark, table_format, seed)]


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_statistics_say_what_a_scan_finds(spark, table_format):
    methods = methods_of(spark, table_format, range(3))
    assert methods.count("statistics") > len(methods) / 5
    assert methods.count("mixed") > 0


@pytest.mark.slow
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_statistics_say_what_a_scan_finds_often(spark, table_format):
    methods = methods_of(spark, table_format, range(100, 150))
    assert {"statistics", "mixed", "scan"} <= set(methods)
