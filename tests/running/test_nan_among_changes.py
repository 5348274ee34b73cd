"""NaN that comes and goes is found where a rule says that it is bad."""

from __future__ import annotations

import pytest

from lakeproof import QualityCheck, run_checks
from lakeproof.config import Config, TableSettings
from oracle.kept_state import KeptState, store_in
from oracle.live_tables import CATALOGS, PROPERTIES
from spark_settings import for_few_records

NAN = float("nan")


@pytest.fixture(scope="module")
def spark(spark):
    with for_few_records(spark):
        yield spark


@pytest.mark.parametrize(
    ("table_format", "check", "arguments"),
    [  # alone: a neighbour may have Spark look at every row that it holds
        ("delta", "missing_values", {"missing_values": [NAN]}),
        ("iceberg", "invalid_values", {"invalid_values": [-9, NAN]}),
    ],
)
def test_nan_among_changes_is_bad_where_it_is_in_the_table(spark, table_format, check, arguments):
    space = f"{CATALOGS[table_format]}.nan_changes"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {space}")
    table = f"{space}.{check}"
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in PROPERTIES[table_format].items())
    columns = "(id INT, d DOUBLE)"
    spark.sql(f"CREATE TABLE {table} {columns} USING {table_format} TBLPROPERTIES ({properties})")
    config = Config(tables={table: TableSettings(key=("id",), mode="cdf")})
    kept = KeptState(spark, store_in(table_format, f"nan_{table_format}_{check}"))
    checks = [QualityCheck("rule", check, table, "d", arguments)]

    def bad_after(statement):
        spark.sql(statement)
        (told,) = run_checks(spark, checks, store=kept.settings, config=config).results
        (whole,) = run_checks(spark, checks, config=config).results
        assert (told.failing_rows, told.total_rows) == (whole.failing_rows, whole.total_rows)
        return told.failing_rows, {hit.status for hit in kept.hits().values()}

    assert bad_after(f"INSERT INTO {table} VALUES (1, 5.0)") == (0, set())
    came = f"INSERT INTO {table} VALUES (2, CAST('NaN' AS DOUBLE)), (3, 6.0)"
    assert bad_after(came) == (1, {"open"})
    assert bad_after(f"UPDATE {table} SET d = 7 WHERE id = 2") == (0, {"resolved"})
