"""Records that fail are told apart by requirements and written as error records."""

from __future__ import annotations

import pytest
from adjoint_runs import RUN_ID, BegunRun, rows_of

from lakeproof.accounting.adjoint import Requirement, errors_with_adjoint
from lakeproof.accounting.storage import LocalStorage
from lakeproof.accounting.without_spark.key_text import positional_text
from lakeproof.accounting.without_spark.stored_partitions import open_partition
from lakeproof.engines.spark.accounting.commitments import commitment_of
from lakeproof.engines.spark.accounting.inputs import account_input, open_input
from lakeproof.engines.spark.accounting.partitions import PartitionReader
from lakeproof.model.accounting import AdjointType, KeyUniqueness, Level


@pytest.fixture
def run(tmp_path):
    return BegunRun(tmp_path / "runs of [2026]" / "0131_101112_run-1")


def test_the_first_requirement_that_fails_decides_and_guards_the_next(spark, run):
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    records = spark.sql(
        """
        SELECT * FROM VALUES
            ('good', '12', 'x', NULL), ('text', 'twelve', 'x', NULL),
            ('negative', '-1', NULL, NULL), ('cityless', '5', NULL, NULL),
            ('long', repeat('z', 5000), 'x', NULL),
            ('@a/b.json#77', '1', 'x', NULL), ('@@handle', '2', 'x', NULL),
            ('@a/b.json#78', NULL, NULL, '{broken'), ('typed', NULL, 'x', '{"price": "?"}')
        AS t(_lakeproof_key, price, city, _lakeproof_raw)
        """
    )
    requirements = [
        Requirement(
            "a number",
            "try_cast(price AS INT) IS NOT NULL",
            "type_cast",
            "NOT_A_NUMBER",
            of="price",
        ),
        # In ANSI mode this raises on every text that the requirement before it refuses.
        Requirement(
            "positive", F.col("price").cast("int") > 0, of=F.expr("CAST(price AS INT) + 1")
        ),
        Requirement("has_city", "city <> ''", "null", expected="a city"),
    ]
    result = errors_with_adjoint(records, requirements, run.step("validate"))
    assert rows_of(result.output, "_lakeproof_key") == [("@@handle",), ("good",)]
    assert "_lakeproof_raw" not in result.output.columns
    found = run.error_records()
    assert result.metadata.count() == len(found) == 7
    told = ("source_key", "error_type", "error_code", "morphism_path", "expected", "actual")
    number = ("NOT_A_NUMBER", "validate/a number", "try_cast(price AS INT) IS NOT NULL")
    assert [tuple(record[name] for name in told) for record in found] == [
        ("@a/b.json#77", "null", "NULL_KEY", "validate/readable_key", "a readable key", None),
        ("@a/b.json#78", "parse", "MALFORMED_RECORD", "validate/well_formed",
         "a record that fits the schema", "{broken"),
        ("cityless", "null", "HAS_CITY", "validate/has_city", "a city", None),
        ("long", "type_cast", *number, "z" * 1000),
        ("negative", "validation", "POSITIVE", "validate/positive",
         "(CAST(price AS INT) > 0)", "0"),
        ("text", "type_cast", *number, "twelve"),
        ("typed", "parse", "MALFORMED_RECORD", "validate/well_formed",
         "a record that fits the schema", '{"price": "?"}'),
    ]  # fmt: skip
    assert found[2]["context"] == {"step": "has_city", "identity": "key", "epoch": "2026-01-31"}
    assert found[0]["context"]["identity"] == "position"
    manifest = run.manifest
    for record in found:
        assert record["run_id"] == RUN_ID
        assert record["openlineage_run_id"] == manifest.openlineage_run_id
        assert record["timestamp"] == manifest.started_at
        assert record["_lakeproof_weight"] == 1
    (partition,) = result.partitions
    assert partition.adjoint_location == str(run.directory / "errors")
    assert partition.adjoint_type is AdjointType.ErrorRecords

    more = errors_with_adjoint(
        result.output, [Requirement("small", "price < 10")], run.step("again")
    )
    assert rows_of(more.metadata, "source_key", "error_type") == [("good", "validation")]
    assert len(run.error_records()) == 8
    none = errors_with_adjoint(more.output, [], run.step("none"))
    assert none.metadata.count() == 0
    assert none.output.count() == 1


def test_a_value_that_does_not_fit_is_an_error_whatever_columns_are_read_later(
    spark, run, tmp_path
):
    lines = ['{"id":"good","price":1,"n":2}', '{"id":"badly typed","price":2,"n":"two"}', "{broken"]
    (tmp_path / "lines.json").write_text("\n".join(lines), encoding="utf-8")
    pinned = open_input(
        spark,
        str(tmp_path / "lines.json"),
        schema="id STRING, price INT, n INT",
        storage=LocalStorage(),
    )
    terms = {"salt": "00" * 16, "level": Level.COUNT, "uniqueness": KeyUniqueness.ASSUME}
    frame = account_input(pinned, ["id"], **terms).frame()
    result = errors_with_adjoint(frame, [], run.step("parse"))
    broken = positional_text("lines.json", b"{broken")
    assert [record["source_key"] for record in run.error_records()] == [broken, "badly typed"]
    # Nobody reads `n` any more; the line is as malformed as when the error records were written.
    assert rows_of(result.output.select("_lakeproof_key"), "_lakeproof_key") == [("good",)]
    assert result.output.groupBy().sum("price").collect()[0][0] == 1


def test_a_key_of_broken_bytes_is_the_same_key_in_an_error_record(spark, run):
    rows = "SELECT CAST(X'41FF' AS STRING) AS _lakeproof_key UNION ALL SELECT '@x:41FF#1'"
    frame = spark.sql(f"{rows} UNION ALL SELECT '@@x:41FF'")
    result = errors_with_adjoint(frame, [Requirement("no", "false")], run.step("no"))
    written = {record["source_key"] for record in run.error_records()}
    assert written == {"@x:41FF", "@x:41FF#1", "@@x:41FF"}
    (partition,) = result.partitions
    expected = commitment_of(frame, run.manifest.salt, Level.COMMIT).commitment
    reader = PartitionReader(spark, str(run.directory), {"": ()}, lambda _: LocalStorage())
    stored = reader.stored_keys(partition).withColumnRenamed("source_key", "_lakeproof_key")
    assert commitment_of(stored, run.manifest.salt, Level.COMMIT).commitment == expected
    alone = open_partition(partition, str(run.directory), ())
    assert alone.commitment(run.manifest.salt, Level.COMMIT) == expected
