"""Keys of an input and of the partitions they went to, and bookings to aggregate.

All in bench/data, written once for each number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lineitem import DATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("json", "parquet")
LOST, FOREIGN, DOUBLED = 7, 5, 3
"""Records of the tampered filter table that are gone, from elsewhere, or also aggregated."""

ERRORS_SCHEMA = "source_key STRING, error_type STRING"
_KEY = "concat('BKG_', lpad(CAST(id AS STRING), 9, '0'))"
_STEP = "'{}' AS morphism_id, 'bench' AS run_id, '2025-03-01' AS epoch"


@dataclass(frozen=True, slots=True)
class KeyTables:
    """Where the tables of one contest are; of each hundred keys 95 are aggregated, 4 filtered."""

    rows: int
    tampered: bool = False

    @property
    def folder(self) -> Path:
        return DATA / "ledger" / str(self.rows)

    @property
    def input(self) -> Path:
        return self.folder / "input"

    @property
    def reverse_joins(self) -> Path:
        return self.folder / "reverse_joins"

    @property
    def filtered_keys(self) -> Path:
        return self.folder / ("filtered_keys_tampered" if self.tampered else "filtered_keys")

    @property
    def errors(self) -> Path:
        return self.folder / "errors"

    @property
    def truth(self) -> dict[str, int]:
        """What a verification must say."""
        if not self.tampered:
            return {"missing": 0, "extra": 0, "duplicate": 0}
        return {"missing": LOST, "extra": FOREIGN, "duplicate": DOUBLED}


def load_keys(spark: SparkSession, rows: int) -> None:
    """Write the tables that are not there yet."""
    numbers = f"range(0, {rows}, 1, 16)"
    tables, changed = KeyTables(rows), KeyTables(rows, tampered=True)
    filtered = f"SELECT id FROM {numbers} WHERE id % 100 BETWEEN 95 AND 98"
    tampered = f"""
        {filtered} AND NOT (id % 100 = 95 AND id < {100 * LOST})
        UNION ALL SELECT id + {rows} FROM range({FOREIGN})
        UNION ALL SELECT id * 100 FROM range({DOUBLED})
    """
    _write(spark, tables.input, f"SELECT {_KEY} AS segment_id, id AS amount FROM {numbers}")
    _write(
        spark,
        tables.reverse_joins,
        f"SELECT struct(date_add(DATE'2025-03-01', CAST(id % 31 AS INT)) AS flight_date) AS "
        f"group_key, {_KEY} AS source_key, {_STEP.format('daily_revenue_aggregation')} "
        f"FROM {numbers} WHERE id % 100 < 95",
    )
    for place, ids in ((tables.filtered_keys, filtered), (changed.filtered_keys, tampered)):
        _write(
            spark,
            place,
            f"SELECT {_KEY} AS source_key, 'ticket_price > 0' AS filter_predicate, "
            f"{_STEP.format('positive_price_filter')} FROM ({ids})",
        )
    if not (tables.errors / "_SUCCESS").exists():
        errors = spark.sql(
            f"SELECT {_KEY} AS source_key, 'booking_rules' AS morphism_path, 'bench' AS run_id, "
            f"if(id % 200 = 99, 'parse', 'validation') AS error_type "
            f"FROM {numbers} WHERE id % 100 = 99"
        )
        errors.write.mode("overwrite").partitionBy("error_type").json(str(tables.errors))


def bookings_folder(rows: int, file_format: str) -> Path:
    return DATA / "ledger" / f"bookings_{rows}" / file_format


def load_bookings(spark: SparkSession, rows: int) -> None:
    """The same bookings of twenty fields in each format, if they are not there yet."""
    for file_format in FORMATS:
        folder = bookings_folder(rows, file_format)
        if not (folder / "_SUCCESS").exists():
            _bookings(spark, rows).write.mode("overwrite").format(file_format).save(str(folder))


def bookings_schema(spark: SparkSession) -> str:
    fields = _bookings(spark, 1).schema.fields
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in fields)


def _bookings(spark: SparkSession, rows: int) -> DataFrame:
    def drawn(seed: int, below: int) -> str:
        return f"CAST(pmod(xxhash64(id, {seed}), {below}) AS INT)"

    def one_of(seed: int, *choices: str) -> str:
        texts = ", ".join(f"'{choice}'" for choice in choices)
        return f"element_at(array({texts}), 1 + {drawn(seed, len(choices))})"

    airline = one_of(1, "AF", "BA", "IB", "KL", "LH", "LX", "OS", "SK")
    airports = "AMS", "ARN", "BCN", "CDG", "FRA", "GVA", "LHR", "MAD", "OSL", "VIE", "ZRH"
    departure = f"timestampadd(MINUTE, {drawn(2, 44640)}, TIMESTAMP'2025-03-01 00:00:00Z')"
    return spark.sql(
        f"""
        SELECT {_KEY} AS segment_id, upper(substr(md5(CAST(id AS STRING)), 1, 6)) AS pnr,
               {airline} AS airline, concat({airline}, {drawn(3, 900)} + 100) AS flight_number,
               date_add(DATE'2025-03-01', CAST(id % 31 AS INT)) AS flight_date,
               {one_of(4, *airports)} AS origin, {one_of(5, *airports)} AS destination,
               {departure} AS departure_time,
               timestampadd(MINUTE, 50 + {drawn(6, 150)}, {departure}) AS arrival_time,
               timestampadd(HOUR, -{drawn(7, 4000)}, {departure}) AS booked_at,
               {one_of(8, "ECONOMY", "PREMIUM", "BUSINESS")} AS cabin,
               concat('Y', {drawn(9, 100)}, 'FLX') AS fare_basis,
               CAST((3900 + {drawn(10, 60000)}) / 100 AS DECIMAL(10, 2)) AS ticket_price,
               'EUR' AS currency, 1 + {drawn(11, 4)} AS passengers, {drawn(12, 3)} AS bags,
               {one_of(13, "WEB", "APP", "AGENT", "CALL_CENTRE")} AS channel,
               {one_of(14, "NONE", "SILVER", "GOLD")} AS loyalty_tier,
               {drawn(15, 5)} = 0 AS refundable,
               concat(1 + {drawn(16, 32)}, {one_of(17, "A", "B", "C", "D", "E", "F")}) AS seat
        FROM range(0, {rows}, 1, 8)
        """
    )


def _write(spark: SparkSession, folder: Path, query: str) -> None:
    if not (folder / "_SUCCESS").exists():
        spark.sql(query).write.mode("overwrite").parquet(str(folder))
