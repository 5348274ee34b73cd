"""All rows of some keys, judged: what is wrong with each, how it is counted and what is shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_steps import Made, all_rows_sql, made_rows

from lakeproof.engines.spark.pairs.differences import differences_view, find_differences
from lakeproof.engines.spark.pairs.output import ensure_output, write_differences
from lakeproof.engines.spark.pairs.texts import listed_names
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName, quote
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm, NullKeyPolicy

pytestmark = pytest.mark.usefixtures("interpreted")

KEY = [Made("the key", "string")]
COLUMNS = [
    Made("amount", "decimal(10,2)"),
    Made("at", "timestamp"),
    Made("rate", "double", digits=2),
    Made("email", "string", is_hidden=True),
    Made("tags", "map<string,int>"),
]
MOMENT = "TIMESTAMP '2024-03-10 06:00:00.000001 UTC'"
GOOD = {"amount": "1.00", "at": MOMENT, "rate": "0.5D", "email": "'s'", "tags": "map('a', 1)"}


def row(key: str | None, **values: str) -> str:
    name = "CAST(NULL AS STRING)" if key is None else f"'{key}'"
    cells = {**GOOD, **values}
    cells["amount"] = f"CAST({cells['amount']} AS DECIMAL(10,2))"
    return f"({name}, {', '.join(cells.values())})"


def table(*rows: str) -> str:
    return f"SELECT * FROM VALUES {', '.join(rows)} AS t(`the key`, {', '.join(GOOD)})"


SOURCE = table(
    row("equal"),
    row("lost"),
    row("changed", amount="10.00", rate="NULL"),
    row("changed_hidden", email="'one'"),
    row("forgiven", rate="0.1249D"),
    row("not_forgiven", rate="0.1249D", amount="3"),
    row("all_null", amount="NULL", at="NULL", rate="NULL", email="NULL", tags="NULL"),
    row("copied_alike"),
    row("copied_alike"),
    row("one_too_many", rate="0.25D"),
    row("one_too_many", rate="0.25D"),
    row("one_of_two_changed", amount="1"),
    row("one_of_two_changed", amount="2"),
    row("copies_forgiven", rate="0.1249D"),
    row("copies_forgiven", rate="0.2D"),
    row("copies_crossed", amount="5", rate="0.7D"),
    row("copies_crossed", amount="6"),
    row("copies_crossed", amount="7"),
    row(None),
)
TARGET = table(
    row("equal"),
    row("added"),
    row("added"),
    row("changed", amount="12.50"),
    row("changed_hidden", email="NULL"),
    row("forgiven", rate="0.1251D"),
    row("not_forgiven", rate="0.1251D", amount="4"),
    row("all_null", amount="NULL", at="NULL", rate="NULL", email="NULL", tags="NULL"),
    row("copied_alike"),
    row("copied_alike"),
    row("one_too_many", rate="0.25D"),
    row("one_of_two_changed", amount="1"),
    row("one_of_two_changed", amount="3"),
    row("copies_forgiven", rate="0.2D"),
    row("copies_forgiven", rate="0.1251D"),
    row("copies_crossed", amount="5", rate="0.9D"),
    row("copies_crossed", amount="8"),
    row(None),
)

COPIES = {  # kind, rows in the source, in the target, share of the mismatches
    "fail": {
        "added": ("missing_in_source", 0, 2, 2),
        "copied_alike": ("surplus", 2, 2, 2),
        "one_too_many": ("surplus", 2, 1, 1),
        "one_of_two_changed": ("changed", 2, 2, 3),
        "copies_forgiven": ("surplus", 2, 2, 2),
        "copies_crossed": ("changed", 3, 2, 4),
    },
    "multiset": {
        "added": ("missing_in_source", 0, 2, 2),
        "one_too_many": ("surplus", 2, 1, 1),
        "one_of_two_changed": ("changed", 2, 2, 1),
        "copies_crossed": ("changed", 3, 2, 2),
    },
}
SINGLE = {
    "lost": ("missing_in_target", 1, 0, 1),
    "changed": ("changed", 1, 1, 1),
    "changed_hidden": ("changed", 1, 1, 1),
    "not_forgiven": ("changed", 1, 1, 1),
    None: ("null_key", 1, 1, 1),
}


def name_in(violation_key: str) -> str | None:
    value = json.loads(violation_key)["the key"]
    return value and value[1]


@pytest.fixture(scope="module", params=["fail", "multiset"])
def found(request, spark, interpreted):
    rows = made_rows(
        SOURCE,
        TARGET,
        KEY,
        COLUMNS,
        duplicates=DuplicatePolicy(request.param),
        null_keys=NullKeyPolicy.FAIL,
        algorithm=HashAlgorithm.XXHASH128,
    )
    differences = find_differences(spark, rows, all_rows_sql(rows))
    yield request.param, rows.step, differences
    differences.release()


def test_each_key_has_its_kind_and_its_share_of_the_mismatches(spark, found):
    policy, step, differences = found
    listed = {
        one["the key"]: (one.difference, one.source_rows, one.target_rows)
        for one in differences.frame.collect()
    }
    expected = SINGLE | COPIES[policy]
    assert listed == {key: told[:3] for key, told in expected.items()}
    violations = spark.sql(step.sql).collect()
    keys = {name_in(one.violation_key): (one.occurrences, one.excess) for one in violations}
    assert keys == {key: (max(told[1:3]), told[3]) for key, told in expected.items()}


def test_the_totals_are_those_of_the_keys(found):
    policy, _, differences = found
    expected = SINGLE | COPIES[policy]
    kinds = [told[0] for told in expected.values()]
    assert differences.differing == len(expected)
    assert differences.excess == sum(told[3] for told in expected.values())
    assert differences.missing_in_target == kinds.count("missing_in_target") == 1
    assert differences.missing_in_source == kinds.count("missing_in_source") == 1
    assert differences.changed == kinds.count("changed")
    assert differences.null_keys == 1
    keys_wrong = len(expected) - kinds.count("surplus")
    assert differences.surplus_rows == differences.excess - keys_wrong
    assert (differences.source_rows, differences.target_rows) == (19, 18)
    assert differences.unequal_copies == 1 + 2 + 1 + 1
    assert differences.duplicate_keys == 6


def test_columns_are_counted_over_the_pairs_of_rows(found):
    """Of copies those are paired that agree in every exact column, then the rest by rank."""
    _, _, differences = found
    mismatches = {column.name: column.mismatches for column in differences.columns}
    # amount: changed, not_forgiven, one_of_two_changed, copies_crossed (6 or 7 against 8)
    # rate: changed, copies_crossed (0.7 against 0.9)
    assert mismatches == {"amount": 4, "at": 0, "rate": 2, "email": 1, "tags": 0}
    assert list(mismatches) == [column.name for column in COLUMNS]


def test_samples_show_what_differs_in_the_order_of_the_key_and_hide_what_is_secret(found):
    policy, _, differences = found
    by_kind: dict[str, list] = {}
    for sample in differences.samples:
        by_kind.setdefault(sample.kind, []).append(sample)
    changed = {sample.key["the key"]: sample for sample in by_kind["changed"]}
    assert list(changed) == sorted(changed)
    assert changed["changed"].differing == ("amount", "rate")
    assert changed["changed"].source == {"amount": "10.00", "rate": None}
    assert changed["changed"].target == {"amount": "12.50", "rate": "0.5"}
    assert changed["changed_hidden"].source == {"email": "***"}
    assert changed["changed_hidden"].target == {"email": "***"}
    assert changed["copies_crossed"].differing == ("amount", "rate")
    (lost,) = by_kind["missing_in_target"]
    assert lost.target == {}
    assert lost.source == {
        "amount": "1.00",
        "at": "2024-03-10 06:00:00.000001Z",
        "rate": "0.5",
        "email": "***",
        "tags": '{"a":1}',
    }
    assert list(lost.source) == [column.name for column in COLUMNS]
    surplus = {sample.key["the key"]: sample for sample in by_kind["surplus"]}
    assert surplus["one_too_many"].source["rate"] == "0.25"
    assert surplus["one_too_many"].target == {}
    assert ("copied_alike" in surplus) == (policy == "fail")
    assert by_kind["null_key"][0].key == {"the key": None}


def test_what_was_observed_is_said_in_a_few_words(spark, found):
    _, step, _ = found
    told = {name_in(one.violation_key): one.observed for one in spark.sql(step.sql).collect()}
    assert told["lost"] == "missing in target"
    assert told["added"] == "missing in source, 2 copies"
    assert told["changed"] == "amount: 10.00 -> 12.50; rate: NULL -> 0.5"
    assert told["changed_hidden"] == "email: *** -> ***"
    assert told["one_too_many"] == "2 copies in source, 1 in target"
    assert told["copies_crossed"] == "3 copies in source, 2 in target; rate: 0.7 -> 0.9"
    assert told[None] == "NULL in the key"


def test_the_violations_can_be_read_after_the_memory_is_given_back(spark):
    rows = made_rows(table(row("lost")), table(row("added")), KEY, COLUMNS)
    differences = find_differences(spark, rows, all_rows_sql(rows))
    differences.release()
    assert spark.sql(rows.step.sql).count() == 2
    assert spark.table(quote(differences_view(rows.step))).count() == 2
    assert differences.held
    assert not any(map(spark.catalog.tableExists, differences.held))


def test_values_are_shown_exactly_whatever_the_zone_of_the_session(spark):
    """At 02:30 on that day clocks in St. John's went forward; the wall time is none of theirs."""
    values = {
        "decimal(38,10)": ("0.0000000001", "0.0000000001"),
        "decimal(5,0)": ("-7", "-7"),
        "bigint": ("9007199254740993", "9007199254740993"),
        "boolean": ("true", "true"),
        "double": ("1e-7", "1.0E-7"),
        "date": ("'2024-02-29'", "2024-02-29"),
        "timestamp": ("'2024-03-10 02:30:00.5+00:00'", "2024-03-10 02:30:00.5Z"),
        "timestamp_ntz": ("'1901-03-10 02:30:00'", "1901-03-10 02:30:00"),
        "binary": ("X'00FF'", "00FF"),
        "array<timestamp>": (
            "array(NULL, TIMESTAMP '2024-03-10 02:30:00.5+00:00')",
            '[null,"2024-03-10 02:30:00.500000Z"]',
        ),
        "struct<a:int,b:string>": ("struct(CAST(NULL AS INT), 'x')", '{"a":null,"b":"x"}'),
    }
    made = [Made(f"c{n}", type_text) for n, type_text in enumerate(values)]
    cells = ", ".join(
        f"CAST({sql} AS {type_text}) AS c{n}"
        for n, (type_text, (sql, _)) in enumerate(values.items())
    )
    rows = made_rows(
        f"SELECT 1 AS id, {cells}", f"SELECT 2 AS id, {cells}", [Made("id", "int")], made
    )
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    try:
        differences = find_differences(spark, rows, all_rows_sql(rows))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    (shown,) = (sample.source for sample in differences.samples if sample.source)
    differences.release()
    assert list(shown.values()) == [text for _, text in values.values()]


def test_ten_samples_of_each_kind_are_read_and_long_texts_are_cut(spark):
    rows = made_rows(
        "SELECT id, repeat('x', 2000) AS text FROM range(100)",
        "SELECT id, repeat('y', 2000) AS text FROM range(50, 150)",
        [Made("id", "bigint")],
        [Made("text", "string")],
    )
    differences = find_differences(spark, rows, all_rows_sql(rows))
    keys = {}
    for sample in differences.samples:
        keys.setdefault(sample.kind, []).append(int(sample.key["id"]))
    assert keys == {
        "changed": list(range(50, 60)),
        "missing_in_target": list(range(10)),
        "missing_in_source": list(range(100, 110)),
    }
    assert differences.samples[0].source == {"text": "x" * 1000 + "..."}
    observed = {len(one.observed) for one in spark.sql(rows.step.sql).collect()}
    differences.release()
    assert max(observed) == 200


def test_the_differences_are_written_to_a_table_and_replaced_by_the_next(spark):
    outputs = [
        TableName.parse(f"{catalog}.lists.found") for catalog in ("iceberg", "spark_catalog")
    ]
    for output in outputs:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {TableName(output.parts[:-1]).sql}")
    for key in ("first", "second"):
        rows = made_rows(table(row(key)), table(row(key, rate="7D")), KEY, COLUMNS)
        differences = find_differences(spark, rows, all_rows_sql(rows))
        for output in outputs:
            write_differences(spark, rows.step, output)
            written = spark.table(output.sql)
            assert written.columns == ["the key", *listed_names([])]
            assert [one["the key"] for one in written.collect()] == [key]
        differences.release()


def test_no_other_table_is_overwritten(spark):
    rows = made_rows(table(row("a")), table(row("b")), KEY, COLUMNS)
    orders = TableName.parse("iceberg.lists.orders")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.lists")
    spark.sql(f"CREATE OR REPLACE TABLE {orders.sql} USING iceberg AS SELECT 1 AS id")
    with pytest.raises(ConfigError, match="exists and is no list of differences"):
        ensure_output(spark, rows.step, orders)
    assert spark.table(orders.sql).count() == 1
    with pytest.raises(ConfigError, match="one of the compared tables"):
        ensure_output(spark, rows.step, rows.step.target.pinned.table)


def test_a_key_that_is_called_like_our_columns_leaves_them_another_name():
    assert listed_names(["Difference", "_difference", "id"])[:2] == ["__difference", "source_rows"]


def test_a_hidden_key_is_shown_as_a_hash(spark):
    key = [replace(KEY[0], is_hidden=True)]
    rows = made_rows(table(row("alice")), table(row("bob")), key, COLUMNS)
    differences = find_differences(spark, rows, all_rows_sql(rows))
    shown = [
        *(str(one) for one in differences.frame.collect()),
        *(str(one) for one in spark.sql(rows.step.sql).collect()),
        *(str(one) for one in differences.samples),
    ]
    differences.release()
    assert len(shown) == 6
    assert not any("alice" in text or "bob" in text for text in shown)
