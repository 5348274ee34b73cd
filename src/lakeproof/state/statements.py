"""The statements of the results table, public under the names of seed 001.

They are what the store itself runs, so a job of one's own can write results the same way:

    spark.sql(build_quality_results_ddl("iceberg"))
    spark.sql(build_quality_result_insert(result))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from lakeproof.config import FORMATS
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.model.outcome import DETAILS_CHARACTERS_MAX, CheckResult, CheckStatus
from lakeproof.state import literals
from lakeproof.state.delta import DELTA
from lakeproof.state.iceberg import ICEBERG
from lakeproof.state.table_format import TableFormat
from lakeproof.state.tables import RESULTS

RESULTS_TABLE = "iceberg.lakehouse._quality_results"

_FORMATS: Mapping[str, TableFormat] = {known.name: known for known in (ICEBERG, DELTA)}


def table_format(name: str) -> TableFormat:
    if name not in _FORMATS:
        raise ConfigError(f"store format {name!r} is not one of {', '.join(FORMATS)}")
    return _FORMATS[name]


def build_quality_results_ddl(format: str = "iceberg", table: str = RESULTS_TABLE) -> str:  # noqa: A002 (the seed's name)
    """CREATE TABLE IF NOT EXISTS for the results: the seed's ten columns, then ours."""
    chosen = table_format(format)
    return RESULTS.ddl(TableName.parse(table), chosen.name, chosen.properties)


def build_quality_result_insert(
    result: CheckResult | Sequence[CheckResult],
    table: str = RESULTS_TABLE,
    format: str = "iceberg",  # noqa: A002 (as in the DDL)
) -> str:
    """One statement that adds the results that are not there yet, by (run_id, rule_key).

    Running it again adds nothing. Any text in a result is safe in it.
    """
    results = [result] if isinstance(result, CheckResult) else list(result)
    if not results:
        raise ValueError("no results to insert")
    run_ids = [literals.storable(one.run_id) for one in results]
    names = [f"`{column.name}`" for column in RESULTS.columns]
    return (
        f"MERGE INTO {TableName.parse(table).sql} t\n"
        f"USING ({literals.rows(RESULTS, [result_row(one) for one in results])}) s\n"
        "ON t.`run_id` = s.`run_id` AND t.`rule_key` = s.`rule_key`"
        # Implied by the line above; said so that files of other runs are not even opened.
        f" AND t.`run_id` BETWEEN {literals.text(min(run_ids))} AND {literals.text(max(run_ids))}\n"
        f"{table_format(format).insert_guard}\n"
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)})"
        f" VALUES ({', '.join(f's.{name}' for name in names)})"
    )


def result_row(result: CheckResult) -> dict[str, object]:
    """A result as the table holds it, by column name."""
    row = {column.name: getattr(result, _field_of(column.name)) for column in RESULTS.columns}
    row["column_name"] = result.column_name or ""
    row["details"] = result.details[:DETAILS_CHARACTERS_MAX]
    row["executed_at"] = datetime.fromisoformat(result.executed_at)
    return row


def result_of_row(row: Mapping[str, Any]) -> CheckResult:
    """The result that a row of the table was written from.

    What a store of an older version does not have, or another writer left NULL, is as if not
    given. A status that nobody knows stays as it is: the gate closes on it.
    """
    given: dict[str, Any] = {
        **dict.fromkeys(("check_name", "check_type", "table_name", "column_name", "details"), ""),
        **dict.fromkeys(("status", "executed_at"), ""),
        **dict.fromkeys(("failing_rows", "total_rows"), 0),
    }
    for name, value in row.items():
        if value is not None and _field_of(name) in _RESULT_FIELDS:
            given[_field_of(name)] = tuple(value) if isinstance(value, list) else value
    if given["status"] in set(CheckStatus):
        given["status"] = CheckStatus(given["status"])
    if isinstance(given["executed_at"], datetime):
        given["executed_at"] = literals.moment_text(given["executed_at"])
    # Arrow gives a map as pairs; a number that JSON does not have was kept as NULL.
    measures = dict(given.get("measures", ()))
    given["measures"] = {k: math.nan if v is None else v for k, v in measures.items()}
    given["declared"] = dict(given.get("declared", ()))
    return CheckResult(**given)


_RESULT_FIELDS = frozenset(item.name for item in fields(CheckResult))


def _field_of(column: str) -> str:
    """`try` is a word that Python keeps for itself."""
    return "try_number" if column == "try" else column


def previous_measures_sql(
    results: TableName, rule_ids: Sequence[str], run_id: str, intents: TableName | None = None
) -> str:
    """The newest measure of each rule in other runs; with `intents`, from before this run began."""
    began = ""
    if intents is not None:
        began = (
            f" AND executed_at < (SELECT min(created_at) FROM {intents.sql} "
            f"WHERE run_id = {literals.text(run_id)})"
        )
    return (
        f"SELECT rule_id, max_by(measure, executed_at) AS measure FROM {results.sql} "
        f"WHERE rule_id IN ({literals.texts(rule_ids)}) AND run_id <> {literals.text(run_id)} "
        f"AND measure IS NOT NULL AND status <> 'error'{began} GROUP BY rule_id"
    )
