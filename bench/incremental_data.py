"""Orders and customers as Delta tables with a change feed, fifty rules over them, and changes.

The tables as they begin are written once for each number of rows into bench/data; what a benchmark
changes are shallow clones of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lineitem import DATA

from lakeproof import QualityCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS, CUSTOMERS = "spark_catalog.bench.orders", "spark_catalog.bench.customers"
ORDERS_PER_CUSTOMER = 50
BAD_ROWS_PER = 10_000
"""Of so many orders one has no amount to speak of, one an unknown customer."""

FEED = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
WORDS = {"status": ("open", "paid", "sent", "back"), "country": ("DE", "FR", "IT", "PL", "US")}
NUMBERS = ("amount", "price", "discount", "tax", "quantity", "shop")
TEXTS = ("status", "country", "email", "note")
COLUMNS = ("id", "customer_id", *NUMBERS, "day", "ordered_at", *TEXTS)


@dataclass(frozen=True, slots=True)
class Change:
    """One commit: a half of its rows are updated, a quarter deleted, a quarter inserted.

    Those of `recent` are the youngest rows and the ones that follow; others lie anywhere, for the
    orders begin with even ids and get odd ones.
    """

    rows: int
    is_recent: bool


def load_tables(spark: SparkSession, rows: int) -> None:
    """New clones of the tables as they begin, which are written if they are not there yet."""
    customers = rows // ORDERS_PER_CUSTOMER
    parts = max(4, rows // 1_000_000)  # files of some tens of MB, each a range of ids
    begun = {
        ORDERS: f"SELECT {order_sql('2 * id', customers, 0)} FROM range(1, {rows + 1}, 1, {parts})",
        CUSTOMERS: f"SELECT id, concat('customer ', id) AS name FROM range(0, {customers}, 1, 4)",
    }
    spark.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.bench")
    for name, query in begun.items():
        folder = DATA / "incremental" / str(rows) / name.rpartition(".")[2]
        if not Path(folder, "_delta_log").exists():
            spark.sql(query).write.format("delta").options(**FEED).save(str(folder))
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(f"CREATE TABLE {name} SHALLOW CLONE delta.`{folder}`")


def order_sql(order_id: str, customers: int, salt: int) -> str:
    """The columns of an order: numbers and words drawn by its id, a few of them bad."""

    def drawn(number: int, below: int) -> str:
        return f"pmod(xxhash64({order_id}, {number}, {salt}), {below})"

    def word(number: int, name: str) -> str:
        known = ", ".join(f"'{one}'" for one in WORDS[name])
        index = f"CAST({drawn(number, len(WORDS[name]))} AS INT) + 1"
        return f"element_at(array({known}), {index}) AS {name}"

    unknown = f"IF({drawn(1, BAD_ROWS_PER)} = 0, {customers}, 0)"
    cents = f"IF({drawn(2, BAD_ROWS_PER)} = 0, -1, 1 + {drawn(3, 1_000_000)})"
    return f"""
        {order_id} AS id, {drawn(4, customers)} + {unknown} AS customer_id,
        CAST({cents} / 100 AS DECIMAL(12, 2)) AS amount, 1 + {drawn(5, 100_000)} / 7D AS price,
        {drawn(6, 100)} / 100D AS discount, {drawn(7, 20)} / 100D AS tax,
        1 + CAST({drawn(8, 50)} AS INT) AS quantity, 1 + CAST({drawn(9, 900)} AS INT) AS shop,
        date_add(DATE'2020-01-01', CAST({drawn(10, 1500)} AS INT)) AS day,
        timestamp_micros(1577836800000000 + {drawn(11, 130_000_000)} * 1000000) AS ordered_at,
        {word(12, "status")}, {word(13, "country")},
        concat('c', {drawn(14, 10_000_000)}, '@example.com') AS email,
        substr(sha2(CAST({order_id} AS STRING), 256), 1, 12) AS note
    """


def change_orders(spark: SparkSession, change: Change, rows: int, number: int) -> None:
    """Commit the change; `number` makes it another one than those before."""
    drawn = f"pmod(xxhash64(id, {number}), {rows})"
    known, new = f"2 * (1 + {drawn})", f"2 * {drawn} + 1"
    reach = "true"
    if change.is_recent:
        oldest = rows - 2 * change.rows
        known = f"2 * ({oldest} + 1 + pmod(xxhash64(id, {number}), {2 * change.rows}))"
        new = f"2 * ({rows} + {number} * {change.rows} + id)"
        reach = f"t.id > {2 * oldest}"
    quarter = change.rows // 4
    spark.sql(
        f"""
        MERGE INTO {ORDERS} AS t USING (
            SELECT fate, {order_sql("id", rows // ORDERS_PER_CUSTOMER, number)} FROM (
                SELECT id, min(fate) AS fate FROM (
                    SELECT {known} AS id, IF(id % 3 = 2, 'deleted', 'updated') AS fate
                    FROM range({3 * quarter})
                    UNION ALL SELECT {new} AS id, 'inserted' AS fate FROM range({quarter})
                ) GROUP BY id
            )
        ) AS s ON t.id = s.id AND {reach}
        WHEN MATCHED AND s.fate = 'deleted' THEN DELETE
        WHEN MATCHED THEN UPDATE SET {", ".join(f"{name} = s.{name}" for name in COLUMNS)}
        WHEN NOT MATCHED AND s.fate = 'inserted' THEN
            INSERT ({", ".join(COLUMNS)}) VALUES ({", ".join(f"s.{name}" for name in COLUMNS)})
        """
    )


def suite() -> list[QualityCheck]:
    """48 rules over rows and their number, one key, one reference; `id` names the bad rows."""

    def check(check_type: str, column: str | None, **params: object) -> QualityCheck:
        words = [check_type, column or "rows", *map(str, params.values())]
        return QualityCheck(" ".join(words)[:60], check_type, ORDERS, column, params)

    checks = [check("not_null", name) for name in COLUMNS]
    checks += [check("positive", name) for name in ("id", "amount", "price", "quantity", "shop")]
    for high in (10**6, 10**7):
        checks += [check("range", name, min_value=0, max_value=high) for name in NUMBERS]
    checks += [
        check("accepted_values", name, accepted=list(words)) for name, words in WORDS.items()
    ]
    years = {"min_value": "2020-01-01", "max_value": "2026-01-01"}
    checks += [check("range", name, **years) for name in ("day", "ordered_at")]
    checks += [check("not_empty", name) for name in TEXTS]
    checks += [check("length_range", name, max_length=64) for name in ("email", "note")]
    checks += [
        check("range", "customer_id", min_value=0),
        check("matches_pattern", "email", pattern="@example[.]com$"),
        check("not_matches_pattern", "note", pattern="[^0-9a-f]"),
        check("format", "email", kind="email"),
        check("row_expression", None, expression="price * quantity > 0"),
        check("row_expression", None, expression="discount + tax < 2"),
        check("row_count_range", None, min_count=1),
    ]
    params = {"references": CUSTOMERS, "referenced_columns": ["id"]}
    return [
        *checks,
        QualityCheck("id_unique", "uniqueness", ORDERS, "id"),
        QualityCheck("customer_known", "foreign_key", ORDERS, "customer_id", params),
    ]
