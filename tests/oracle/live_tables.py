"""Real tables and the rows that they must hold: each commit as a statement and as its effect."""

from __future__ import annotations

from dataclasses import dataclass, field

from oracle.conditions import Condition, Row, value_sql
from oracle.shop import CUSTOMER, ORDER, Shop, rows_sql

CATALOGS = {"delta": "spark_catalog", "iceberg": "iceberg"}
PROPERTIES = {
    "delta": {"delta.enableChangeDataFeed": "true"},
    "iceberg": {
        "write.delete.mode": "copy-on-write",
        "write.update.mode": "copy-on-write",
        "write.merge.mode": "copy-on-write",
    },
}


@dataclass
class LiveTable:
    """A real table and the rows that it must hold; `past` are the states it can go back to."""

    spark: object
    name: str
    format: str
    types: dict[str, str]
    key: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    past: list[tuple[int, list[Row]]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def create(self, rows: list[Row], properties: dict[str, str]) -> None:
        settings = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        self.commit(
            f"CREATE TABLE {self.name} USING {self.format} TBLPROPERTIES ({settings}) AS "
            + rows_sql(rows, self.types),
            rows,
        )

    def commit(self, statement: str, rows: list[Row]) -> None:
        """Execute it; the table holds these rows then."""
        self.told.append(statement)
        self.spark.sql(statement).collect()
        self.rows = rows
        self.past.append((self._head(), rows))

    def _head(self) -> int:
        query = (
            f"DESCRIBE HISTORY {self.name} LIMIT 1"
            if self.format == "delta"
            else f"SELECT snapshot_id FROM {self.name}.refs WHERE name = 'main'"
        )
        return self.spark.sql(query).collect()[0][0]

    # ---------------------------------------------------------------------------- operations

    def insert(self, rows: list[Row]) -> None:
        self.commit(f"INSERT INTO {self.name} {rows_sql(rows, self.types)}", self.rows + rows)

    def update(self, where: Condition, column: str, value: object) -> None:
        text = "NULL" if value is None else value_sql(value)
        self.commit(
            f"UPDATE {self.name} SET {column} = {text} WHERE {where.sql}",
            [{**row, column: value} if where.holds(row) else row for row in self.rows],
        )

    def touch(self, where: Condition) -> None:
        """Rows are written again as they were."""
        first = next(iter(self.types))
        statement = f"UPDATE {self.name} SET {first} = {first} WHERE {where.sql}"
        self.commit(statement, self.rows)

    def delete(self, where: Condition | None) -> None:
        kept = [row for row in self.rows if where is not None and not where.holds(row)]
        clause = f" WHERE {where.sql}" if where is not None else ""
        if where is not None and any(where.truth(row) is None for row in self.rows):
            # Iceberg 1.12 drops whole files by `NOT (c = 2)`, with the rows in them whose c is
            # NULL. What it cannot read it asks of each row.
            clause = f" WHERE coalesce({where.sql}, false)"
        self.commit(f"DELETE FROM {self.name}{clause}", kept)

    def merge(self, given: list[Row], leaving: Condition) -> None:
        """Rows with a key that is given take its values, or leave; the others are added."""
        by_key = {self._key(row): row for row in given if None not in self._key(row)}
        given = list(by_key.values())
        if not given:
            return
        here = {self._key(row) for row in self.rows}
        kept = [
            by_key.get(self._key(row), row)
            for row in self.rows
            if self._key(row) not in by_key or not leaving.holds(row)
        ]
        added = [row for row in given if self._key(row) not in here]
        same = " AND ".join(f"t.{name} = s.{name}" for name in self.key)
        column, _, rest = leaving.sql.partition(" ")
        self.commit(
            f"MERGE INTO {self.name} t USING ({rows_sql(given, self.types)}) s ON {same} "
            f"WHEN MATCHED AND t.{column} {rest} THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            kept + added,
        )

    def _key(self, row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in self.key)

    def overwrite(self, rows: list[Row]) -> None:
        self.commit(f"INSERT OVERWRITE {self.name} {rows_sql(rows, self.types)}", rows)

    def compact(self) -> None:
        if self.format == "delta":
            self.commit(f"OPTIMIZE {self.name}", self.rows)
        else:
            catalog, _, table = self.name.partition(".")
            self.commit(
                f"CALL {catalog}.system.rewrite_data_files(table => '{table}', "
                "options => map('rewrite-all', 'true'))",
                self.rows,
            )

    def go_back(self, steps: int) -> None:
        """To the state some commits ago; Iceberg forgets what came after it, Delta goes on."""
        steps = min(steps, len(self.past) - 1)
        position, rows = self.past[-1 - steps]
        if self.format == "delta":
            self.commit(f"RESTORE TABLE {self.name} TO VERSION AS OF {position}", rows)
            return
        catalog, _, table = self.name.partition(".")
        if position == self.past[-1][0]:
            return  # to where it is Iceberg refuses to go
        self.past = self.past[: -1 - steps]
        self.commit(f"CALL {catalog}.system.rollback_to_snapshot('{table}', {position})", rows)

    def make_anew(self) -> None:
        """Dropped, and another table under its name with the same rows."""
        self.spark.sql(f"DROP TABLE {self.name}")
        self.past.clear()
        self.create(self.rows, PROPERTIES[self.format])

    def set_property(self, value: int) -> None:
        statement = f"ALTER TABLE {self.name} SET TBLPROPERTIES ('note' = '{value}')"
        self.commit(statement, self.rows)


def opened(
    spark, table_format: str, shop: Shop, orders: list[Row], customers: list[Row]
) -> tuple[LiveTable, LiveTable]:
    """Both tables of a shop, made with these rows."""
    of_orders = LiveTable(spark, shop.orders, table_format, ORDER, ("order_id", "line"))
    of_customers = LiveTable(spark, shop.customers, table_format, CUSTOMER, ("id",))
    of_orders.create(orders, PROPERTIES[table_format])
    of_customers.create(customers, PROPERTIES[table_format])
    return of_orders, of_customers
