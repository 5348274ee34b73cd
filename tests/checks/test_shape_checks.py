"""Checks of types, structs, arrays and written dates: what they refuse, and what they are."""

from __future__ import annotations

from decimal import Decimal

import pytest
from verdicts import judged, refusal, same_logic

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import column_expression
from lakeproof.checks.moment_text import spark_pattern
from lakeproof.errors import CheckDefinitionError, NothingToCheckError
from lakeproof.model.column import Column
from lakeproof.model.value_path import part_at, read_path

ITEM = Column("element", "struct<p:decimal(9,2)>", fields=(Column("p", "decimal(9,2)"),))
TABLE = (
    Column("id", "bigint"),
    Column("a.b", "int"),
    Column("items", "array<struct<p:decimal(9,2)>>", element=ITEM),
    Column("marks", "map<string,int>", element=Column("v", "int"), map_key=Column("k", "string")),
    Column("v", "array<float>", element=Column("element", "float")),
    Column("at", "timestamp_ntz"),
    Column("n", "decimal(20,0)"),
)


@pytest.mark.parametrize(
    ("path", "type_text"),
    [
        ("ID", "bigint"),
        ("a.b", "int"),
        ("`a.b`", "int"),
        ("items[].p", "decimal(9,2)"),
        ("marks{}", "int"),
        ("marks{key}", "string"),
        ("items{}", None),
        ("marks[]", None),
        ("items[].q", None),
        ("items.", None),
        ("gone", None),
    ],
)
def test_a_path_leads_to_a_part_or_nowhere(path, type_text):
    found = part_at(TABLE, path)
    assert (found and found.type_text) == type_text


def test_a_path_knows_quoted_names_and_brackets():
    assert read_path("`x.``y`[][].z{key}") == [("x.`y", ("[]", "[]")), ("z", ("{key}",))]


@pytest.mark.parametrize(
    ("params", "details"),
    [
        ({"column": "id"}, "id is bigint"),
        ({"column": "id", "types": "LONG"}, "id is bigint"),
        ({"column": "id", "types": ["int"]}, "id is bigint; it must be int"),
        ({"column": "idd"}, "idd is missing (nearest: id); it must be there"),
        ({"column": "zzz", "families": "map"}, "zzz is missing; it must be map"),
        ({"column": "items[].p", "types": "decimal(9, 2)"}, "items[].p is decimal(9,2)"),
        ({"column": "v", "families": ["vector"]}, "v is array<float>"),
        ({"column": "items", "families": ["vector"]}, None),
        ({"column": "marks", "families": ["map"]}, "marks is map<string,int>"),
        ({"column": "at", "families": ["timestamp"]}, "at is timestamp_ntz"),
        ({"column": "n", "families": ["integer"]}, "n is decimal(20,0)"),
        ({"column": "items[].p", "families": ["integer", "date"]}, None),
    ],
)
def test_a_column_is_of_one_of_the_types_asked_for(params, details):
    verdict = judged("column_type", {}, params, columns=(), table_columns=TABLE)
    assert verdict.failing == int(details is None or "; it must be " in details)
    assert details is None or verdict.details == details


@pytest.mark.parametrize(
    ("check", "params", "told"),
    [
        ("column_type", {"column": "x", "types": "number"}, "Spark does not know"),
        ("column_type", {"column": "x", "types": "varchar(3)"}, "Write string"),
        ("column_type", {"column": "x", "families": "text"}, "Known: string"),
        ("multiple_of", {"factor": 0}, "above 0"),
        ("multiple_of", {"factor": Decimal("1E+40")}, "at most 38 digits"),
        ("multiple_of", {"factor": float("nan")}, "above 0"),
        ("field_count", {}, "needs min_fields"),
        ("field_count", {"min_fields": 2, "max_fields": 1}, "above max_fields"),
        ("is_normalized", {"tolerance": 1}, "below 1"),
        ("date_format", {"pattern": "EEE d"}, "'EEE'"),
        ("date_format", {"pattern": "'x'"}, "no part of a date"),
        ("date_format", {"pattern": "'x"}, "not closed"),
        ("range", {"min_value": 1, "pattern": "QQ"}, "'QQ'"),
    ],
)
def test_arguments_without_a_meaning_are_refused(check, params, told):
    kind = find_check(check)
    assert told in refusal(check, ["x"] * kind.columns_min, **params)


@pytest.mark.parametrize(
    ("check", "column"),
    [
        ("multiple_of", Column("x", "string")),
        ("unique_items", Column("x", "string")),
        ("unique_items", Column("x", "array<map<int,int>>", element=Column("e", "map<int,int>"))),
        ("field_count", Column("x", "int")),
        ("is_normalized", Column("x", "array<string>", element=Column("e", "string"))),
        ("date_format", Column("x", "int")),
        ("range", Column("x", "string")),
    ],
)
def test_a_column_of_another_type_is_refused(check, column):
    params = {
        "multiple_of": {"factor": 1},
        "field_count": {"min_fields": 1},
        "date_format": {"pattern": "yyyy"},
        "range": {"min_value": "2024-01-01"},
    }.get(check, {})
    kind = find_check(check)
    with pytest.raises(CheckDefinitionError) as caught:
        kind.violates(column, kind.read(["x"], params), None)
    assert not isinstance(caught.value, NothingToCheckError)


def test_a_date_has_no_format_to_check():
    kind = find_check("date_format")
    with pytest.raises(NothingToCheckError, match="is DATE"):
        kind.violates(Column("x", "date"), kind.read(["x"], {"pattern": "dd.MM"}), None)


def test_new_parameters_left_out_do_not_change_a_rule():
    assert find_check("not_null").identity(find_check("not_null").read(["x"], {})) == {}
    kind = find_check("range")
    assert kind.identity(kind.read(["x"], {"min_value": 0})) == {"min_value": 0, "max_value": None}
    assert same_logic("multiple_of", {"factor": 0.5}, {"factor": Decimal("0.50")}, ["x"])
    assert not same_logic("not_null", {}, {"parent_optional": True}, ["x"])


def test_the_parent_of_a_field_is_the_struct_around_it():
    kind = find_check("not_null")
    column = Column("a.b.c", "int", path=("a", "b", "c"))
    found = kind.violates(column, kind.read(["a.b.c"], {"parent_optional": True}), None)
    assert found.sql("spark") == "NOT `a`.`b` IS NULL AND `a`.`b`.`c` IS NULL"
    assert column_expression(column).sql("spark") == "`a`.`b`.`c`"


def test_a_year_of_javas_is_one_that_spark_reads():
    assert spark_pattern("x", "uuuu-MM-dd'T'HH[:mm]") == "yyyy-MM-dd'T'HH[:mm]"
