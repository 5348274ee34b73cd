"""State is the user's own: other programs read the same rows."""

from pathlib import Path

from weighed_scene import WeighedScene, Weight

from lakeproof.config import StoreSettings
from lakeproof.state import open_store

SEED_QUERIES = (
    """
-- Latest results for the sales table
SELECT check_name, status, failing_rows, total_rows, details, executed_at
FROM iceberg.lakehouse._quality_results
WHERE table_name = 'sales'
ORDER BY executed_at DESC
LIMIT 20;
""",
    """
-- Failure trend over time
SELECT DATE(executed_at) AS check_date,
       COUNT(*) FILTER (WHERE status = 'failed') AS failures,
       COUNT(*) FILTER (WHERE status = 'passed') AS passes
FROM iceberg.lakehouse._quality_results
WHERE table_name = 'sales'
GROUP BY DATE(executed_at)
ORDER BY check_date DESC;
""",
)


def test_queries_of_the_seed_run_unchanged(spark, make_result):
    store = open_store(spark, StoreSettings())
    store.prepare()
    # Later than whatever other tests record here, so that these are the latest.
    store.record_results(
        [
            make_result(run_id="seed", rule_key="f", executed_at="2999-12-31T23:59:59.999999Z"),
            make_result(
                run_id="seed", rule_key="p", status="passed", executed_at="2999-12-31T23:59:59Z"
            ),
        ]
    )
    latest = spark.sql(SEED_QUERIES[0]).collect()
    assert [row["status"] for row in latest[:2]] == ["failed", "passed"]
    assert latest[0]["executed_at"].microsecond == 999999
    trend = spark.sql(SEED_QUERIES[1]).collect()[0]
    assert (str(trend["check_date"]), trend["failures"], trend["passes"]) == ("2999-12-31", 1, 1)


def _read_iceberg(spark, settings, table):
    from pyiceberg.catalog.sql import SqlCatalog

    root = Path(spark.conf.get("spark.sql.catalog.iceberg.warehouse"))
    catalog = SqlCatalog(
        "iceberg", uri=f"sqlite:///{root.parent / 'catalog.db'}", warehouse=str(root)
    )
    try:
        return catalog.load_table((settings.namespace, table)).scan().to_arrow()
    finally:
        catalog.close()


def _read_delta(spark, settings, table):
    from deltalake import DeltaTable

    root = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    return DeltaTable(root / f"{settings.namespace}.db" / table).to_pyarrow_table()


def test_other_engines_read_the_rows_that_spark_reads(spark, scene, make_result):
    store = scene.store()
    run_id = f"run of {scene.table}"
    store.record_results(
        [make_result(run_id=run_id, tags=("a", "b"), details="é\n'\\", measures={"a": 1.5})]
    )
    scene.run(run_id, {"a": 1, "b": 2})
    weights = [Weight("unique", "one", 1)]
    WeighedScene(spark, scene.settings).batch(run_id, weights, 1, is_rebuilt=True)
    read = {"iceberg": _read_iceberg, "delta": _read_delta}[scene.settings.format]
    for table in scene.settings.tables.values():
        name = f"{scene.settings.catalog}.{scene.settings.namespace}.{table}"
        by_spark = [
            row.asDict(recursive=True) for row in spark.sql(f"SELECT * FROM {name}").collect()
        ]
        by_other = read(spark, scene.settings, table).to_pylist(maps_as_pydicts="strict")
        assert len(by_spark) > 0
        assert sorted(map(repr, by_other)) == sorted(map(repr, by_spark)), table
