"""Keys with several rows: which copies have a partner on the other side, and which do not."""

from __future__ import annotations

from lakeproof.engines.spark.pairs.hash_join import same_key
from lakeproof.engines.spark.pairs.rows import SOURCE, TARGET, PairRows
from lakeproof.model.names import quote
from lakeproof.planning.pairs.steps import CompareStep


def has_copies() -> str:
    """The condition that a key has more than one row on a side."""
    return "source_rows > 1 OR target_rows > 1"


def row_sql(step: CompareStep) -> str:
    """The compared values of a row as one; it is there even if they are all NULL, or none."""
    names = [f"value_{number}" for number in range(len(step.columns))]
    return f"struct({', '.join(['true AS is_there', *names])})"


def misses_sql(step: CompareStep) -> list[str]:
    """For each column whether `source_row` and `target_row`, both there, differ in it."""
    return [
        f"CASE WHEN source_row IS NULL OR target_row IS NULL OR ({equal}) THEN 0L ELSE 1L END "
        f"AS misses_{number}"
        for number, equal in enumerate(equal_columns(step))
    ]


def equal_columns(step: CompareStep) -> list[str]:
    """For each column the condition that `source_row` and `target_row` are equal in it."""
    return [
        column.equal_sql.format(
            source=f"source_row.value_{number}", target=f"target_row.value_{number}"
        )
        for number, column in enumerate(step.columns)
    ]


def copies_sql(rows: PairRows, drilled_sql: str, once: str) -> str:
    """The keys of view `once` that have copies, judged anew, with the columns of that view.

    The row shown of either side is one without a partner, so there is none if all have one.
    """
    carried = ("null_key", "source_rows", "target_rows")
    misses = [f"misses_{number}" for number in range(len(rows.step.columns))]
    columns = [
        *(f"once.{name}" for name in (*rows.identity, *carried)),
        "found.shown.source_row AS source_row",
        "found.shown.target_row AS target_row",
        *(f"coalesce(found.{name}, 0L) AS {name}" for name in misses),
    ]
    # Spark must not broadcast on its own here: how many keys there are is anybody's guess.
    return (
        f"SELECT /*+ MERGE(found) */ {', '.join(columns)}\n"
        f"FROM (SELECT * FROM {quote(once)} WHERE {has_copies()}) once\n"
        f"LEFT JOIN (\n{_unmatched_sql(rows, drilled_sql, once)}\n) found\n"
        f"ON {same_key(rows, 'once', 'found')}"
    )


def _unmatched_sql(rows: PairRows, drilled_sql: str, once: str) -> str:
    """For each key its pairs of unmatched rows: in what they differ, and the first of them.

    A pair that differs in no column within the tolerances is a match after all.
    """
    keys = ", ".join(rows.identity)
    misses = [f"misses_{number}" for number in range(len(rows.step.columns))]
    sums = "".join(f", sum({name}) AS {name}" for name in misses)
    differs = " OR ".join(f"{name} > 0" for name in misses) or "false"
    of_pair = "".join(f", {sql}" for sql in misses_sql(rows.step))
    return (
        f"SELECT {keys}, min_by(struct(source_row, target_row), struct(NOT has_partner, pair)) "
        f"AS shown{sums}\n"
        f"FROM (SELECT *{of_pair} FROM (\n{_pairs_sql(rows, drilled_sql, once)}\n))\n"
        f"WHERE source_row IS NULL OR target_row IS NULL OR {differs}\nGROUP BY {keys}"
    )


def _pairs_sql(rows: PairRows, drilled_sql: str, once: str) -> str:
    """Rows without an equal one, in pairs by rank: first those with the same exact columns.

    Both sides number those alike, so that the number alone finds the partner. A row is left
    alone if the other side has none left. Where several columns are inexact, two copies may be
    paired so that they differ although another pairing would match: a difference too many, never
    one too few.
    """
    keys = ", ".join(rows.identity)
    counts = (
        f"least(count_if(side = {SOURCE}) OVER (PARTITION BY {{0}}), "
        f"count_if(side = {TARGET}) OVER (PARTITION BY {{0}}))"
    )
    alike = f"{keys}, {', '.join(rows.hashes)}"
    exact = f"{keys}, exact_hash"
    order = ", ".join([*_inexact(rows), *rows.hashes])
    return (
        f"SELECT {keys}, has_partner, pair, "
        f"any_value(compared) FILTER (WHERE side = {SOURCE}) AS source_row, "
        f"any_value(compared) FILTER (WHERE side = {TARGET}) AS target_row\n"
        f"FROM (SELECT *, row_number() OVER (PARTITION BY {keys}, side, has_partner "
        "ORDER BY exact_hash, place) AS pair\n"
        "FROM (SELECT *, place <= partners AS has_partner\n"
        f"FROM (SELECT *, row_number() OVER (PARTITION BY {exact}, side ORDER BY {order}) "
        f"AS place, {counts.format(exact)} AS partners\n"
        f"FROM (SELECT *, row_number() OVER (PARTITION BY {alike}, side ORDER BY {order}) "
        f"AS copy, {counts.format(alike)} AS matched\n"
        f"FROM (\n{_rows_sql(rows, drilled_sql, once)}\n))\n"
        "WHERE copy > matched)))\n"
        f"GROUP BY {keys}, has_partner, pair"
    )


def _rows_sql(rows: PairRows, drilled_sql: str, once: str) -> str:
    keys, hashes = ", ".join(rows.identity), ", ".join(rows.hashes)
    return (
        f"SELECT /*+ MERGE(suspect) */ side, {keys}, {hashes}, exact_hash, "
        f"{row_sql(rows.step)} AS compared\nFROM (\n{drilled_sql}\n) drilled\n"
        f"LEFT SEMI JOIN (SELECT {keys} FROM {quote(once)} WHERE {has_copies()}) suspect\n"
        f"ON {same_key(rows, 'drilled', 'suspect')}"
    )


def _inexact(rows: PairRows) -> list[str]:
    """The values that let rows be equal though their hashes differ; numbers and moments only."""
    return [
        f"compared.value_{number}"
        for number, column in enumerate(rows.step.columns)
        if not column.is_exact
    ]
