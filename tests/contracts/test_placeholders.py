"""Reserved names first, then variables; what cannot be filled in is refused, never empty."""

from __future__ import annotations

import pytest

from lakeproof.contracts.placeholders import fill, fill_sql, placeholders_in, resolve_variables
from lakeproof.errors import CheckDefinitionError

NAMES = {"table": "`stock`", "column": "`qty`", "schema": "public"}
VARIABLES = {"ENV": "prod", "table": "other", "SECRET": "hunter2", "EMPTY": ""}

FILLED = {
    "with a dollar": ("${table}", "`stock`"),
    "without": ("{table}", "`stock`"),
    "side by side": ("{schema}.{table}", "public.`stock`"),
    "reserved names win over variables": ("${table}", "`stock`"),
    "a variable": ("${ENV}_x", "prod_x"),
    "a default that is not needed": ("${ENV:-dev}", "prod"),
    "a default": ("${REGION:-eu-west 1}", "eu-west 1"),
    "an empty default": ("a${REGION:-}b", "ab"),
    "a default for what is empty": ("${EMPTY:-x}", "x"),
    "braces of a regex": ("[0-9]{4}-\\d{2,3}", "[0-9]{4}-\\d{2,3}"),
    "an unknown name in braces": ("{a} {Table} {ENV}", "{a} {Table} {ENV}"),
    "nested braces": ("{{table}}", "{`stock`}"),
    "half a placeholder": ("${table ${", "${table ${"),
}


@pytest.mark.parametrize("case", FILLED)
def test_placeholders_are_filled_in(case):
    text, expected = FILLED[case]
    assert fill(text, reserved=NAMES, variables=VARIABLES) == expected


def test_what_is_filled_in_is_not_read_again():
    found = fill("${A}", reserved=NAMES, variables={"A": "${B} {table}", "B": "no"})
    assert found == "${B} {table}"


REFUSED = {
    "the column of a table": ("{column}", "${column} cannot be identified", "stands on no column"),
    "the same with a dollar": ("${field}", "${field} cannot be identified", "column's name"),
    "a schema that no server says": ("${catalog}", "${catalog} cannot be identified", "server"),
    "an unset variable": ("${NOPE}", "${NOPE} is not set", "${NOPE:-a default}"),
    "a misspelt placeholder": ("${tabel}", "${tabel} is not set", "Did you mean ${table}?"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_filled_in_is_refused_without_a_value(case):
    text, *told = REFUSED[case]
    with pytest.raises(CheckDefinitionError) as caught:
        fill(text, reserved={"table": "t"}, variables=VARIABLES)
    assert all(part in str(caught.value) for part in told)
    assert "hunter2" not in str(caught.value)


def test_where_no_reserved_name_applies_all_of_them_stay():
    text = "s3://${ENV}/{model}/${table}"
    assert fill(text, reserved={}, variables=VARIABLES) == "s3://prod/{model}/${table}"


IN_SQL = {
    "code": ("FROM ${table}", 'FROM "stock"'),
    "a string": ("WHERE t = '${table}'", "WHERE t = 'stock_v1'"),
    "a quoted name": ("FROM `p.${table}`", "FROM `p.stock_v1`"),
    "a comment's quote opens nothing": ("-- it's\nFROM {table}", '-- it\'s\nFROM "stock"'),
    "a doubled quote": ("'it''s {table}' {table}", "'it''s stock_v1' \"stock\""),
    "an open quote": ("' {table}", '\' "stock"'),
}


@pytest.mark.parametrize("case", IN_SQL)
def test_sql_gets_quoted_names_in_code_and_bare_ones_in_quotes(case):
    text, expected = IN_SQL[case]
    names, sql = {"table": "stock_v1"}, {"table": '"stock"'}
    assert fill_sql(text, names=names, sql=sql, variables={}) == expected


def test_the_placeholders_of_a_text_are_known():
    assert placeholders_in("${A} {table} {4} ${B:-x} {b}") == {"A", "table", "B"}


def test_variables_apply_to_every_text_of_a_value():
    value = {"a": ["${ENV}", 5, None, True], "${ENV}": {"b": "${table} ${X:-y}"}}
    assert resolve_variables(value, VARIABLES) == {
        "a": ["prod", 5, None, True],
        "${ENV}": {"b": "${table} y"},
    }


def test_an_unset_variable_is_refused_with_its_place():
    with pytest.raises(CheckDefinitionError, match="/servers/1/pa~1th: the variable"):
        resolve_variables({"servers": ["", {"pa/th": "${NOPE}"}]}, VARIABLES)
