"""Good and bad rows of a frame: nothing lost, nothing read early, the verdicts of a run."""

from __future__ import annotations

from collections import Counter

import pytest

from actions.executions import newest_execution, newest_job
from lakeproof import CheckDefinitionError, QualityCheck, run_checks, split
from lakeproof.config import Config, TableSettings

TABLE = "iceberg.splitting.orders"
CONFIG = Config(tables={TABLE: TableSettings(key=("id",))})
ROWS = 300

ROW_CHECKS = [
    QualityCheck("code_present", "not_null", TABLE, "code"),
    QualityCheck("amount_positive", "positive", TABLE, "amount"),
    QualityCheck("amount_range", "range", TABLE, "amount", {"max_value": 80}, filter="id > 100"),
    QualityCheck("same_again", "positive", TABLE, "amount"),
    QualityCheck("items_positive", "positive", TABLE, "items[].price"),
    QualityCheck("tags_known", "accepted_values", TABLE, "tags{}", {"accepted": ["a", "b"]}),
    QualityCheck("holds", "row_expression", TABLE, params={"expression": "amount <> 7"}),
]
KEY_CHECKS = [
    QualityCheck("id_unique", "uniqueness", TABLE, "id"),
    QualityCheck("code_key", "unique_key", TABLE, "code", {"nulls": "forbid"}),
]
TABLE_CHECKS = [
    QualityCheck("rows", "row_count_range", TABLE, params={"min_count": 10_000}),
    QualityCheck("query", "custom_sql", TABLE, params={"sql": f"SELECT * FROM {TABLE}"}),
]


@pytest.fixture(scope="module")
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.splitting")
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT id % 290 AS id, "
        "if(id % 50 = 0, NULL, concat('c', id % 280)) AS code, "
        "CAST(if(id % 41 = 0, 'NaN', CAST(id % 100 - 1 AS STRING)) AS DOUBLE) AS amount, "
        "array(named_struct('price', CAST(id % 9 - 1 AS INT)), NULL) AS items, "
        f"map('k', if(id % 30 = 0, 'z', 'a'), 'l', NULL) AS tags FROM range({ROWS})"
    )
    return spark.table(TABLE)


def texts(frame) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in frame.collect())


def breaking(bad) -> Counter[str]:
    return Counter(name for row in bad.collect() for name in row["_lakeproof_rules"])


def test_good_and_bad_together_are_the_frame(orders):
    good, bad = split(orders, [*ROW_CHECKS, *KEY_CHECKS, *TABLE_CHECKS], config=CONFIG)
    assert good.columns == orders.columns
    assert bad.columns == [*orders.columns, "_lakeproof_rule_ids", "_lakeproof_rules"]
    parts = texts(good) + texts(bad.select(*orders.columns))
    assert sum(parts.values()) == ROWS
    assert parts == texts(orders)
    assert good.count() > 0


def test_rows_are_marked_as_often_as_a_run_counts_them(spark, orders):
    _, bad = split(orders, ROW_CHECKS, config=CONFIG)
    outcome = run_checks(spark, ROW_CHECKS, config=CONFIG)
    counted = {result.check_name: result.failing_rows for result in outcome.results}
    assert min(counted.values()) > 0
    assert dict(breaking(bad)) == counted


def test_a_key_marks_every_row_that_shares_it(spark, orders):
    _, bad = split(orders, KEY_CHECKS, config=CONFIG)
    outcome = run_checks(spark, KEY_CHECKS, config=CONFIG)
    involved = {
        result.check_name: int(result.measures["rows_involved"]) for result in outcome.results
    }
    assert involved["id_unique"] == 20
    assert dict(breaking(bad)) == involved


def test_what_is_wrong_with_the_table_is_smeared_over_no_row(orders):
    halves = split(orders, TABLE_CHECKS, config=CONFIG)
    assert halves.not_judged == ("rows", "query")
    assert (halves.good.count(), halves.bad.count()) == (ROWS, 0)


def test_bad_rows_carry_the_ids_that_a_run_records(spark, orders):
    _, bad = split(orders, ROW_CHECKS, config=CONFIG)
    outcome = run_checks(spark, ROW_CHECKS, config=CONFIG)
    ids = {result.rule_id for result in outcome.results}
    assert {one for row in bad.collect() for one in row["_lakeproof_rule_ids"]} == ids


def test_nothing_is_read_before_the_caller_asks(spark, orders):
    before = newest_execution(spark), newest_job(spark)
    split(orders, [*ROW_CHECKS, *KEY_CHECKS], config=CONFIG)
    assert (newest_execution(spark), newest_job(spark)) == before


def test_a_stream_of_three_batches_is_judged_as_the_table_is(spark, orders, tmp_path):
    folder = tmp_path / "in"
    orders.repartition(3).write.parquet(str(folder))
    stream = (
        spark.readStream.schema(orders.schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    )
    good, bad = split(stream, ROW_CHECKS, config=CONFIG)
    batches: list[int] = []

    def keep(name):
        def write(frame, number):
            batches.append(number)
            frame.write.mode("append").parquet(str(tmp_path / name))

        return write

    for name, half in (("good", good), ("bad", bad)):
        query = (
            half.writeStream.foreachBatch(keep(name))
            .option("checkpointLocation", str(tmp_path / f"{name}-progress"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    assert batches == [0, 1, 2, 0, 1, 2]
    whole_good, whole_bad = split(orders, ROW_CHECKS, config=CONFIG)
    assert texts(spark.read.parquet(str(tmp_path / "good"))) == texts(whole_good)
    assert texts(spark.read.parquet(str(tmp_path / "bad"))) == texts(whole_bad)


def test_a_stream_refuses_by_name_what_needs_other_rows(spark, orders, tmp_path):
    orders.write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(orders.schema).parquet(str(tmp_path / "in"))
    with pytest.raises(CheckDefinitionError, match="id_unique, code_key, rows, query"):
        split(stream, [*ROW_CHECKS, *KEY_CHECKS, *TABLE_CHECKS], config=CONFIG)


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ([QualityCheck("x", "not_null", TABLE, "nope")], "'x' cannot run.*no column 'nope'"),
        ([QualityCheck("x", "no_such", TABLE, "id")], "'x' cannot run.*Unknown check"),
        (
            [QualityCheck("x", "not_null", "a", "id"), QualityCheck("y", "not_null", "b", "id")],
            "one table",
        ),
        ([], "at least one check"),
        ([QualityCheck("x", "row_expression", TABLE, params={"expression": "id"})], "condition"),
    ],
)
def test_a_check_that_cannot_run_is_refused_at_once(orders, checks, told):
    with pytest.raises(CheckDefinitionError, match=told):
        split(orders, checks, config=CONFIG)


def test_bad_rows_cannot_be_split_again_unnoticed(orders):
    _, bad = split(orders, ROW_CHECKS, config=CONFIG)
    with pytest.raises(CheckDefinitionError, match="_lakeproof_rule_ids"):
        split(bad, ROW_CHECKS, config=CONFIG)
