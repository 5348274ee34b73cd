from __future__ import annotations

from dataclasses import replace

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.names import TableName
from lakeproof.model.pairing import HashAlgorithm, Method
from lakeproof.model.position import Position
from lakeproof.model.rule import Logic, Rule
from lakeproof.planning.pairs.comparison import bind_compare
from lakeproof.planning.pairs.scopes import PairScopes
from lakeproof.planning.pairs.types import common_type, converted_sql, loses_digits, obstacle
from lakeproof.planning.tables import PinnedTable


def column(type_text, name="c"):
    return Column(name, type_text)


def array(element):
    return Column("c", f"array<{element}>", element=Column("element", element))


def mapping(key, value):
    return Column(
        "c",
        f"map<{key},{value}>",
        map_key=Column("key", key, nullable=False),
        element=Column("value", value),
    )


def struct(**fields):
    members = tuple(Column(name, type_text) for name, type_text in fields.items())
    text = ",".join(f"{name}:{type_text}" for name, type_text in fields.items())
    return Column("c", f"struct<{text}>", fields=members)


FLAT = [
    ("int", "int", "int"),
    ("tinyint", "int", "bigint"),
    ("int", "bigint", "bigint"),
    ("int", "decimal(10,2)", "decimal(12,2)"),
    ("bigint", "decimal(20,0)", "decimal(20,0)"),
    ("decimal(10,2)", "decimal(12,6)", "decimal(14,6)"),
    ("decimal(38,0)", "decimal(38,2)", "double"),
    ("bigint", "decimal(38,30)", "double"),
    ("int", "float", "double"),
    ("smallint", "double", "double"),
    ("bigint", "double", None),
    ("decimal(10,2)", "double", None),
    ("float", "float", "float"),
    ("float", "double", "double"),
    ("string", "varchar(10)", "string"),
    ("char(3)", "char(3)", "string"),
    ("string collate UTF8_LCASE", "string", "string"),
    ("string collate UNICODE", "string collate UNICODE", "string"),
    ("string", "int", None),
    ("string", "binary", None),
    ("boolean", "int", None),
    ("date", "date", "date"),
    ("date", "timestamp", None),
    ("timestamp", "timestamp", "timestamp"),
    ("timestamp_ntz", "timestamp_ntz", "timestamp_ntz"),
    ("timestamp", "timestamp_ntz", None),
    ("interval day to second", "interval day to second", "interval day to second"),
    ("interval day", "interval month", None),
    ("void", "int", "int"),
    ("date", "void", "date"),
    ("void", "void", "string"),
]


@pytest.mark.parametrize(("source", "target", "expected"), FLAT)
def test_two_types_meet_where_nothing_is_lost(source, target, expected):
    for one, other in ((source, target), (target, source)):
        found = common_type(column(one), column(other))
        assert (found.type_text if found else None) == expected


def test_decimals_without_room_for_both_lose_digits_and_say_so():
    wide, fine = column("decimal(38,0)"), column("decimal(38,2)")
    assert loses_digits(wide, common_type(wide, fine))
    narrow = column("decimal(10,2)")
    assert not loses_digits(narrow, common_type(narrow, column("int")))


def test_a_timestamp_without_zone_meets_one_only_in_a_zone_that_is_told():
    ntz, instant = column("timestamp_ntz"), column("timestamp")
    common = common_type(ntz, instant, "Europe/Rome")
    assert common.type_text == "timestamp"
    converted = converted_sql("`c`", ntz, common, "Europe/Rome")
    assert "convert_timezone('Europe/Rome', 'UTC', `c`)" in converted
    assert converted_sql("`c`", instant, common, "Europe/Rome") == "`c`"


def test_nested_types_meet_part_by_part_and_fields_by_their_names():
    source, target = struct(a="int", B="float"), struct(b="double", A="bigint")
    common = common_type(source, target)
    assert common.type_text == "struct<`b`: double, `A`: bigint>"
    assert converted_sql("`c`", source, common) == (
        "if(`c` IS NULL, NULL, named_struct("
        "'b', CAST(`c`.`B` AS double), 'A', CAST(`c`.`a` AS bigint)))"
    )
    assert converted_sql("`c`", target, common) == "`c`"
    assert common_type(array("int"), array("decimal(5,2)")).type_text == "array<decimal(12,2)>"
    assert common_type(mapping("int", "int"), mapping("bigint", "int")).type_text == (
        "map<bigint, int>"
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (struct(a="int"), struct(b="int")),
        (struct(a="int"), struct(a="int", b="int")),
        (struct(a="int"), struct(a="string")),
        (array("int"), array("string")),
        (array("int"), mapping("int", "int")),
        (array("int"), column("int")),
        (mapping("int", "int"), mapping("string", "int")),
        (mapping("decimal(38,0)", "int"), mapping("decimal(38,2)", "int")),
    ],
)
def test_nested_types_without_a_common_form_do_not_meet(source, target):
    assert common_type(source, target) is None


def test_what_spark_cannot_hash_has_an_obstacle():
    assert "VARIANT" in obstacle(struct(a="int", v="variant"))
    assert "INTERVAL" in obstacle(column("interval"))  # of months and days together
    assert not obstacle(column("time(6)"))
    assert not obstacle(column("interval day to second"))


class Reader:
    def text_sql(self, values):
        return f"TEXT({', '.join(sql for sql, _ in values)})"


def table(name, columns, **given):
    label = TableName(("lake", "shop", name))
    fields = {
        "table": label,
        "table_id": f"id of {name}",
        "format": "iceberg",
        "position": Position("iceberg", 7),
        "columns": tuple(
            kind if isinstance(kind, Column) else Column(own, kind) for own, kind in columns.items()
        ),
        "relation": f"{label.sql} VERSION AS OF 7",
        "key_columns": (),
        "key_sql": "",
    }
    return PinnedTable(**{**fields, **given})


SOURCE = table("orders", {"id": "int", "Amount": "decimal(10,2)", "note": "string"})
TARGET = table("copy", {"ID": "bigint", "note": "string", "amount": "decimal(12,4)"})


def bind(source=SOURCE, target=TARGET, columns=(), check="checksum_reconciliation", **params):
    given = {"source_table": "orders", "key_columns": ["id"], **params}
    scopes = given.pop("scopes", PairScopes())
    arguments = find_check(check).read(columns, given)
    logic = Logic(target.table, check, 1, tuple(columns), arguments)
    rule = Rule("rule", logic.rule_id, logic, target.table, "copy", tuple(columns), arguments)
    return bind_compare(rule, target, source, Reader(), scopes)


def test_columns_are_paired_by_name_and_sorted_by_it_on_both_sides():
    step = bind()
    assert [key.name for key in step.keys] == ["ID"]
    assert step.keys[0].source_sql == "CAST(`id` AS bigint)"
    assert [one.name for one in step.columns] == ["amount", "note"]
    assert step.columns[0].type_text == "decimal(12,4)"
    assert step.columns[0].source_sql == "CAST(`Amount` AS decimal(12,4))"
    assert step.columns[0].target_sql == "`amount`"
    assert step.notes["key_columns"] == ["ID"]
    assert step.notes["columns"] == ["amount", "note"]
    assert step.notes["positions"] == {"source": "snapshot 7", "target": "snapshot 7"}
    assert step.notes["schema_differences"] == []
    assert step.notes["normalization"] == {
        "ID": "bigint",
        "amount": "decimal(12,4)",
        "note": "string",
    }


def test_columns_that_are_named_are_compared_and_no_others():
    step = bind(columns=("NOTE", "ID"))
    assert step.notes["columns"] == ["note"]
    with pytest.raises(
        CheckDefinitionError, match=r"no column 'nots' in the target.*Nearest: note"
    ):
        bind(columns=("nots",))


def test_metadata_and_excluded_columns_are_left_out_with_the_reason():
    loaded = {"_dlt_id": "string", "__row": "int", "tmp_a": "int", "Tmp_b": "int"}
    step = bind(
        target=table("copy", {"id": "int", "note": "string", **loaded}),
        source=table("orders", {"id": "int", "note": "string", "_DLT_load": "int"}),
        exclude_columns=["TMP_*"],
    )
    assert step.notes["columns"] == ["note"]
    assert step.notes["excluded_columns"] == {
        "__row": "metadata_patterns: __*",
        "_dlt_id": "metadata_patterns: _dlt_*",
        "tmp_a": "exclude_columns: TMP_*",
        "Tmp_b": "exclude_columns: TMP_*",
    }
    assert step.notes["schema_differences"] == []
    named = bind(
        target=table("copy", {"id": "int", "_dlt_id": "string"}),
        source=table("orders", {"id": "int", "_dlt_id": "string"}),
        columns=("_dlt_id",),
    )
    assert named.notes["columns"] == ["_dlt_id"]


@pytest.mark.parametrize(
    "params",
    [
        {"exclude_columns": ["nott"]},
        {"exclude_columns": ["amount", "nott*"]},
        {"normalize": {"nott": ["trim"]}},
        {"column_tolerances": {"nott": 1}},
        {"unordered_arrays": ["nott"]},
    ],
)
def test_a_setting_for_a_column_that_is_not_there_is_refused_with_the_nearest(params):
    parameter = next(iter(params))
    with pytest.raises(
        CheckDefinitionError, match=f"{parameter}: no column .*'nott.*Nearest: note"
    ):
        bind(**params)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"columns": ("note",), "exclude_columns": ["no*"]},
            r"'note' is asked for.*exclude_columns",
        ),
        ({"columns": ("new",), "schema": "common"}, "'new' is asked for.*the source has no such"),
        ({"columns": ("id",)}, "no column is left to compare"),
        ({"exclude_columns": ["*"]}, "no column is left to compare"),
    ],
)
def test_a_comparison_of_nothing_is_refused(params, message):
    target = table("copy", {"id": "int", "note": "string", "new": "date"})
    with pytest.raises(CheckDefinitionError, match=message):
        bind(target=target, **params)


def test_tables_of_keys_alone_and_a_column_that_fails_the_check_are_no_mistake():
    keys = {"id": "int"}
    assert bind(table("orders", keys), table("copy", keys)).columns == ()
    lacking = bind(table("orders", keys), table("copy", {**keys, "new": "date"}), columns=("new",))
    assert [one["column"] for one in lacking.notes["schema_differences"]] == ["new"]


def test_decimals_that_meet_as_doubles_are_not_rounded():
    kinds = ({"id": "int", "big": "decimal(38,0)"}, {"id": "int", "big": "decimal(38,2)"})
    step = bind(table("orders", kinds[0]), table("copy", kinds[1]))
    assert step.notes["normalization"]["big"] == "double"
    assert step.columns[0].is_exact


def test_every_difference_of_the_schemas_is_told_and_the_rest_is_compared():
    step = bind(
        source=table("orders", {
            "id": "int", "same": "int", "text": "int", "big": "decimal(38,0)",
            "at": "timestamp_ntz", "free": "variant", "old": "date",
        }),
        target=table("copy", {
            "id": "int", "same": "int", "text": "string", "big": "decimal(38,2)",
            "at": "timestamp", "free": "variant", "new": "date",
        }),
    )  # fmt: skip
    assert step.notes["columns"] == ["big", "same"]
    assert {
        one["column"]: (one["difference"], one["source"], one["target"])
        for one in step.notes["schema_differences"]
    } == {
        "at": ("incompatible", "timestamp_ntz", "timestamp"),
        "big": ("compared_as_double", "decimal(38,0)", "decimal(38,2)"),
        "free": ("incompatible", "variant", "variant"),
        "new": ("missing_in_source", "", "date"),
        "old": ("only_in_source", "date", ""),
        "text": ("incompatible", "int", "string"),
    }
    details = {one["column"]: one["detail"] for one in step.notes["schema_differences"]}
    assert "assume_timezone" in details["at"]
    assert "VARIANT" in details["free"]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("int", "string", "INT in the source lake.shop.orders and STRING in the target.*key_cast"),
        ("decimal(38,0)", "decimal(38,2)", "compared as doubles.*key_cast"),
        ("timestamp", "timestamp_ntz", "assume_timezone"),
        ("double", "bigint", "no type holds.*key_cast"),
    ],
)
def test_key_types_that_do_not_meet_are_an_error_that_names_both(source, target, message):
    with pytest.raises(CheckDefinitionError, match=message):
        bind(table("orders", {"id": source}), table("copy", {"id": target}))


def test_a_key_that_is_missing_or_cannot_be_one_is_an_error():
    with pytest.raises(CheckDefinitionError, match=r"'id' in the source table.*Nearest: idx"):
        bind(source=table("orders", {"idx": "int"}))
    with pytest.raises(CheckDefinitionError, match="'id' in the target table"):
        bind(target=table("copy", {"name": "int"}))
    keyed = {"id": replace(mapping("int", "int"), name="id")}
    with pytest.raises(CheckDefinitionError, match="'id' cannot be a key: Spark cannot group"):
        bind(table("orders", keyed), table("copy", keyed))
    free = {"id": "variant"}
    with pytest.raises(CheckDefinitionError, match=r"key_columns: 'id'.*VARIANT"):
        bind(table("orders", free), table("copy", free))


def test_a_key_is_cast_only_where_it_has_another_type():
    step = bind(
        table("orders", {"id": "string"}),
        table("copy", {"id": "bigint"}),
        key_cast={"ID": "bigint"},
        check="key_parity",
    )
    (key,) = step.keys
    assert (key.type_text, key.source_sql) == ("bigint", "try_cast(`id` AS bigint)")
    assert key.target_sql == "`id`"
    assert (
        "(`id` IS NULL OR try_cast(`id` AS bigint) IS NOT NULL) AS is_castable" in step.source.sql
    )
    assert "true AS is_castable" in step.target.sql


@pytest.mark.parametrize("check", ["key_parity", "checksum_reconciliation"])
@pytest.mark.parametrize(("local", "read"), [("timestamp_ntz", "`id`"),
                                             ("date", "CAST(`id` AS timestamp_ntz)")])  # fmt: skip
def test_a_local_key_becomes_a_moment_only_in_a_zone_that_is_told(check, local, read):
    sides = (table("orders", {"id": local}), table("copy", {"id": "timestamp"}))
    cast = {"key_cast": {"id": "timestamp"}, "check": check}
    step = bind(*sides, assume_timezone="Europe/Rome", **cast)
    assert f"convert_timezone('Europe/Rome', 'UTC', {read})" in step.keys[0].source_sql
    assert step.keys[0].target_sql == "`id`"
    for params in (cast, {**cast, "key_cast": {"id": local}, "assume_timezone": "Europe/Rome"}):
        with pytest.raises(CheckDefinitionError, match=r"another zone\. Give assume_timezone"):
            bind(*sides, **params)


def test_a_text_is_never_taken_for_a_moment():
    sides = (table("orders", {"id": "string"}), table("copy", {"id": "timestamp"}))
    for params in ({}, {"key_cast": {"id": "timestamp"}}, {"key_cast": {"id": "string"}}):
        with pytest.raises(CheckDefinitionError, match="a view that casts it"):
            bind(*sides, assume_timezone="Europe/Rome", **params)


def test_keys_alone_are_sets_of_keys_and_nothing_is_said_of_columns():
    step = bind(check="key_parity")
    assert step.as_sets
    assert step.columns == ()
    assert step.method is Method.HASH_JOIN
    assert step.notes["schema_differences"] == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"normalize": {"amount": ["trim"]}}, "normalize: 'amount' is DECIMAL.*only texts"),
        ({"column_tolerances": {"note": 1}}, "'note': STRING is neither a number nor a moment"),
        ({"unordered_arrays": ["note"]}, "'note' is STRING, not an array"),
    ],
)
def test_a_setting_that_says_nothing_about_the_type_is_refused(params, message):
    with pytest.raises(CheckDefinitionError, match=message):
        bind(**params)


def test_a_relative_tolerance_of_a_moment_and_the_order_of_maps_mean_nothing():
    moments = {"id": "int", "at": "timestamp"}
    with pytest.raises(CheckDefinitionError, match="no zero to be relative to"):
        bind(
            table("orders", moments),
            table("copy", moments),
            column_tolerances={"at": {"relative": 0.1}},
        )
    inside = mapping("int", "int")
    maps = {"id": "int", "bags": Column("bags", "array<map<int,int>>", element=inside)}
    with pytest.raises(CheckDefinitionError, match="'bags' has maps inside"):
        bind(table("orders", maps), table("copy", maps), unordered_arrays=["bags"])


def test_only_rounding_and_tolerances_make_a_column_inexact():
    kinds = {"id": "int", "d": "double", "e": "double", "n": "int", "t": "timestamp"}
    step = bind(
        table("orders", kinds),
        table("copy", kinds),
        column_tolerances={"n": 1, "e": 0},
        timestamp_precision="s",
    )
    assert {one.name: one.is_exact for one in step.columns} == {
        "d": False, "e": True, "n": False, "t": True,
    }  # fmt: skip
    assert step.notes["normalization"]["d"] == "double, floats at 6 decimal places"
    assert step.notes["normalization"]["n"] == "int, within 1"
    assert step.notes["normalization"]["t"] == "timestamp, timestamps cut to s"
    exact = bind(table("orders", kinds), table("copy", kinds), float_precision=None)
    assert all(one.is_exact for one in exact.columns)


def test_a_column_is_hidden_if_it_is_sensitive_on_either_side():
    step = bind(source=replace(SOURCE, sensitive=frozenset({"Amount"})))
    assert [one.is_hidden for one in step.columns] == [True, False]


@pytest.mark.parametrize("algorithm", list(HashAlgorithm))
def test_a_row_has_the_words_of_its_algorithm(algorithm):
    step = bind(hash_algorithm=algorithm.value)
    words = [f"hash_{number}" for number in range(algorithm.words)]
    assert all(f"AS {word}," in step.source.sql for word in words)
    assert f"AS hash_{algorithm.words}" not in step.source.sql


def test_both_sides_are_hashed_by_one_text():
    step = bind(normalize={"note": ["rstrip"]}, sample=0.25)
    outer = [side.sql.split("FROM (", 1)[0] for side in (step.source, step.target)]
    assert outer[0] == outer[1]
    assert step.source.sql.endswith("1048576) < 262144")
    assert step.source.where
    assert step.notes["sample"] == 0.25


def test_more_columns_than_bits_take_another_word():
    kinds = {"id": "int", **{f"c{number:03}": "int" for number in range(130)}}
    step = bind(table("orders", kinds), table("copy", kinds))
    head = step.source.sql.split("AS hash_0", 1)[0]
    assert head.count(f"THEN {1 << 61}L") == 2
    assert f"{1 << 62}L" not in head


HEAD = replace(TARGET, table_id="id of orders")
ONE = replace(SOURCE, columns=TARGET.columns)
METHODS = [
    ("one snapshot", ONE, HEAD, {}, Method.SNAPSHOT),
    ("another table", SOURCE, TARGET, {}, Method.CELLS),
    ("another snapshot", ONE, replace(HEAD, position=Position("iceberg", 8)), {}, Method.CELLS),
    ("no history", replace(ONE, position=None), replace(HEAD, position=None), {}, Method.CELLS),
    ("other filters", ONE, HEAD, {"scopes": PairScopes("a > 1", "")}, Method.CELLS),
    ("same filters", ONE, HEAD, {"scopes": PairScopes("a > 1", "a > 1")}, Method.SNAPSHOT),
    ("NULLs are to fail", ONE, HEAD, {"null_keys": "fail"}, Method.CELLS),
    ("keys are cast", ONE, HEAD, {"key_cast": {"id": "string"}}, Method.CELLS),
    ("a limit", ONE, HEAD, {"limit": 5}, Method.CELLS),
    ("asked for", ONE, HEAD, {"method": "hash_join"}, Method.HASH_JOIN),
]


@pytest.mark.parametrize(("source", "target", "params", "method"), [one[1:] for one in METHODS],
                         ids=[one[0] for one in METHODS])  # fmt: skip
def test_the_method_follows_from_what_is_known_before_anything_is_read(
    source, target, params, method
):
    step = bind(source, target, **params)
    assert step.method is method
    assert step.method_reason
    assert step.notes["planned_method"] == method.value


def test_files_may_be_shared_only_by_whole_tables_of_one_format():
    assert bind().shares_files
    assert not bind(sample=0.5).shares_files
    assert not bind(limit=10).shares_files
    assert not bind(scopes=PairScopes("", "note = 'a'")).shares_files
    assert not bind(replace(SOURCE, format="delta")).shares_files
    assert not bind(replace(SOURCE, position=None)).shares_files
    assert not bind(method="hash_join").shares_files


def test_braces_in_a_field_name_survive_the_template():
    odd = {"id": "int", "c": Column("c", "struct<a{b}:double>", fields=(Column("a{b}", "double"),))}
    step = bind(table("orders", odd), table("copy", odd))
    found = step.columns[0].equal_sql.format(source="s.c", target="t.c")
    assert "s.c.`a{b}`" in found
    assert "t.c.`a{b}`" in found
