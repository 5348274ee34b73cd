import json
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone

import pytest

from lakeproof.errors import ConfigError
from lakeproof.gating.policy import decide
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.state import literals
from lakeproof.state.delta import DELTA
from lakeproof.state.iceberg import ICEBERG
from lakeproof.state.statements import (
    build_quality_result_insert,
    build_quality_results_ddl,
    result_of_row,
)
from lakeproof.state.tables import SCHEMA_VERSION, TABLES

SEED_COLUMNS = [
    "check_name",
    "check_type",
    "table_name",
    "column_name",
    "status",
    "failing_rows",
    "total_rows",
    "details",
    "dag_run_id",
    "executed_at",
]


def result(**changes):
    fields = {
        "check_name": "c",
        "check_type": "not_null",
        "table_name": "sales",
        "column_name": "id",
        "status": CheckStatus.PASSED,
        "failing_rows": 0,
        "total_rows": 1,
        "details": "",
        "executed_at": "2026-03-01T12:00:00+00:00",
        "run_id": "r",
        "rule_key": "k",
    }
    return CheckResult(**{**fields, **changes})


def document(sql):
    """The rows that a statement carries."""
    return json.loads(b64decode(re.search(r"unbase64\('([^']*)'\)", sql)[1]))


@pytest.mark.parametrize("format_name", ["iceberg", "delta"])
def test_results_have_the_seeds_columns_first_and_in_order(format_name):
    ddl = build_quality_results_ddl(format_name, "c.n.t")
    columns = re.findall(r"^  `(\w+)` (\S+)", ddl, re.MULTILINE)
    assert [name for name, _ in columns][:10] == SEED_COLUMNS
    assert dict(columns)["failing_rows"] == "BIGINT"
    assert dict(columns)["executed_at"] == "TIMESTAMP_NTZ"
    assert f"USING {format_name}" in ddl
    assert f"'lakeproof.schema_version' = '{SCHEMA_VERSION}'" in ddl


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("progress", "table_name rule_id mode watermark_col last_version last_value processed_at"),
        ("key_index", "table_name rule_id key_hash key_json count first_seen last_seen"),
    ],
)
def test_state_of_increments_has_the_columns_of_seed_002_first(kind, columns):
    names = [column.name for column in TABLES[kind].columns]
    assert " ".join(names[:7]) == columns


def test_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="'parquet' is not one of iceberg, delta"):
        build_quality_results_ddl("parquet")


def test_comments_of_columns_need_no_quoting():
    for table in TABLES.values():
        for text in (table.meaning, *(column.meaning for column in table.columns)):
            assert not set(text) & set("'\\$"), text


def test_details_are_cut_and_a_missing_column_is_empty():
    (row,) = document(build_quality_result_insert(result(details="é" * 1500, column_name=None)))
    assert (row["details"], row["column_name"]) == ("é" * 1000, "")


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00.000001Z",
        "2026-03-01T12:00:00.000001",
        "2026-03-01T14:00:00.000001+02:00",
    ],
)
def test_moments_are_stored_in_utc_to_the_microsecond(text):
    (row,) = document(build_quality_result_insert(result(executed_at=text)))
    assert row["executed_at"] == "2026-03-01 12:00:00.000001"


def test_hostile_text_never_reaches_the_statement_as_text():
    hostile = "'; DROP TABLE x; -- \\' ${spark.app.name} \u2019 \x00 \ud800"
    sql = build_quality_result_insert(result(run_id=hostile, details=hostile))
    assert "DROP" not in sql
    assert "$" not in sql
    assert document(sql)[0]["details"] == hostile.replace("\ud800", "\ufffd")


def test_numbers_without_json_form_become_null():
    rows = document(
        build_quality_result_insert(
            [result(measure=float(value)) for value in ("nan", "inf", "-inf", "0.1")]
        )
    )
    assert [row["measure"] for row in rows] == [None, None, None, 0.1]


def test_measures_without_json_form_become_null_in_the_map():
    numbers = {"a": float("nan"), "b": float("-inf"), "c": 3}
    (row,) = document(build_quality_result_insert(result(measures=numbers)))
    assert row["measures"] == {"a": None, "b": None, "c": 3}


def test_a_row_without_most_columns_still_makes_a_result_that_closes_the_gate():
    found = result_of_row({"check_name": "c", "status": "perhaps", "tags": None, "odd": 1})
    assert (found.check_name, found.status, found.tags) == ("c", "perhaps", ())
    assert not decide([found]).is_open


def test_no_results_make_no_statement():
    with pytest.raises(ValueError, match="no results"):
        build_quality_result_insert([])


def test_literals_keep_plain_text_readable():
    assert literals.text('{"kind":"delta","value":3}') == '\'{"kind":"delta","value":3}\''
    assert literals.texts([]) == "CAST(NULL AS STRING)"
    east = timezone(timedelta(hours=5))
    assert literals.moment(datetime(2026, 3, 1, 5, tzinfo=east)) == literals.moment(
        datetime(2026, 3, 1, tzinfo=UTC)
    )


def test_files_are_told_apart_by_columns_that_the_table_has_and_small_logs_by_none():
    for table in TABLES.values():
        names = {column.name for column in table.columns}
        assert names.issuperset(table.looked_up_by or ())
    found = {kind: DELTA.extremes_of(table.looked_up_by) for kind, table in TABLES.items()}
    none = {"delta.dataSkippingNumIndexedCols": "0"}
    assert found == {
        "results": {},
        "violations": {},
        "progress": none,
        "intents": none,
        "key_index": {"delta.dataSkippingStatsColumns": "rule_id,token,near,tile"},
    }
    assert not any(ICEBERG.extremes_of(table.looked_up_by) for table in TABLES.values())
