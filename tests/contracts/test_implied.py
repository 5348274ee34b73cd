"""What a schema implies: one draft for each fact, with its place in the file."""

from __future__ import annotations

import pytest
from schema_texts import contract_of, implied, of_properties, setting_of

from lakeproof.config import ContractSettings
from lakeproof.contracts.odcs.implied import implied_drafts

NESTED = """
schema:
  - name: orders
    properties:
      - name: id
        physicalName: order_id
        logicalType: integer
        required: true
        primaryKey: true
      - name: address
        logicalType: object
        properties:
          - {name: zip, logicalType: string, required: true, unique: true}
      - name: lines
        logicalType: array
        items:
          logicalType: object
          properties:
            - {name: price, logicalType: number, required: true, unique: true, primaryKey: true}
      - name: marks
        logicalType: map
        map:
          key: {logicalType: string, logicalTypeOptions: {maxLength: 3}}
          value: {logicalType: integer, required: true}
"""


def only(properties, key, **more):
    """The one draft of that name."""
    return of_properties(properties, **more)[key].draft


def option(logical_type, options, key=None, **more):
    name = key or options.split(":")[0].strip()
    text = f"{{name: x, logicalType: {logical_type}, logicalTypeOptions: {{{options}}}}}"
    return only(text, f"x:{name}", **more)


def test_every_property_at_any_depth_is_looked_at_in_order():
    found = implied(NESTED)
    assert [f"{one.part.label}:{one.what}" for one in found if one.part] == [
        "id:type",
        "id:required",
        "address:type",
        "address.zip:type",
        "address.zip:required",
        "address.zip:unique",
        "lines:type",
        "lines[]:type",
        "lines[].price:type",
        "lines[].price:required",
        "lines[].price:unique",
        "marks:type",
        "marks{key}:type",
        "marks{key}:maxLength",
        "marks{}:type",
        "marks{}:required",
        "lines[].price:primaryKey",
        "id:primaryKey",
    ]


def test_each_draft_points_to_the_key_that_implies_it():
    found = {f"{one.part.label}:{one.what}": one.pointer for one in implied(NESTED) if one.part}
    assert found["id:required"] == "/schema/0/properties/0/required"
    assert found["id:type"] == "/schema/0/properties/0/logicalType"
    assert found["marks{key}:maxLength"].endswith("/map/key/logicalTypeOptions/maxLength")


def test_required_inside_a_struct_lets_the_struct_be_left_out():
    found = {f"{one.part.label}:{one.what}": one.draft for one in implied(NESTED) if one.part}
    assert found["id:required"].columns == ("order_id",)
    assert dict(found["id:required"].params) == {}
    assert dict(found["address.zip:required"].params) == {"parent_optional": True}
    assert found["lines[].price:required"].columns == ("lines[].price",)
    assert dict(found["marks{}:required"].params) == {}


def test_unique_and_key_inside_an_array_are_skipped_with_a_reason():
    found = {f"{one.part.label}:{one.what}": one.draft for one in implied(NESTED) if one.part}
    assert found["address.zip:unique"].check == "uniqueness"
    assert "inside an array" in found["lines[].price:unique"].skipped
    assert "inside an array" in found["lines[].price:primaryKey"].skipped


def test_a_composite_key_is_one_draft_in_the_order_of_its_positions():
    found = of_properties(
        "{name: a, primaryKey: true, primaryKeyPosition: 2}\n"
        "{name: b, primaryKey: true, primaryKeyPosition: 1}\n"
        "{name: c}"
    )
    key = found[":primaryKey"]
    assert key.draft.check == "unique_key"
    assert key.draft.columns == ("b", "a")
    assert dict(key.draft.params) == {"nulls": "forbid"}
    assert key.part is None
    assert not key.draft.notes


def test_a_key_without_positions_keeps_the_order_of_the_file_and_says_so():
    found = of_properties("{name: b, primaryKey: true}\n{name: a, primaryKey: true}")
    assert found[":primaryKey"].draft.columns == ("b", "a")
    assert "the file's order decides" in found[":primaryKey"].draft.notes[0]


def test_a_property_without_a_type_must_only_be_there():
    draft = only("{name: x}", "x:presence")
    assert draft.check == "column_type"
    assert dict(draft.params) == {"column": "x"}


def test_the_physical_type_says_how_a_value_is_stored():
    draft = only("{name: x, logicalType: date, physicalType: timestamptz}", "x:type")
    assert dict(draft.params) == {"column": "x", "types": ("timestamp",)}


def test_a_type_without_a_form_in_spark_is_skipped_and_the_column_must_be_there():
    found = of_properties("{name: x, logicalType: object, physicalType: jsonb}")
    assert "no type in Spark" in found["x:type"].draft.skipped
    assert found["x:presence"].draft.check == "column_type"


def test_a_word_that_is_no_type_leaves_the_logical_type_to_be_checked():
    draft = only("{name: x, logicalType: string, physicalType: Flag}", "x:type")
    assert draft.params["families"] == ("string",)
    assert "checked by its logicalType" in draft.notes[0]
    of_object = of_properties("{name: x, logicalType: object, physicalType: Flag}")
    assert of_object["x:type"].draft.skipped


def test_types_are_read_in_the_dialect_of_the_server():
    text = (
        "servers: [{server: s, type: %s}]\n"
        "schema: [{name: t, properties: [{name: x, physicalType: timestamp}]}]"
    )
    for server, types in (("databricks", 1), ("postgres", 2)):
        (draft,) = (one.draft for one in implied(text % server))
        assert len(draft.params["types"]) == types
    setting = setting_of(
        contract_of(text % "databricks"), "t", ContractSettings(sql_dialect="duckdb")
    )
    (placed,) = implied_drafts(setting)
    assert placed.draft.params["types"] == ("timestamp_ntz",)


def test_a_type_on_the_object_is_no_type_of_a_column():
    assert implied("schema: [{name: t, physicalType: table, properties: []}]") == []


def test_a_date_with_a_format_may_be_kept_as_text():
    text = "{name: x, logicalType: date, logicalTypeOptions: {format: dd.MM.yyyy}}"
    assert only(text, "x:type").params["families"] == ("date", "string")
    assert only("{name: x, logicalType: date}", "x:type").params["families"] == ("date",)


def test_a_measure_is_one_skipped_draft():
    found = of_properties("{name: total, logicalType: number, semanticType: measure, unique: true}")
    assert list(found) == ["total:measure"]
    assert "no column to check" in found["total:measure"].draft.skipped


def test_a_deprecated_property_is_checked_with_a_note():
    found = of_properties("{name: x, logicalType: string, required: true, deprecated: true}")
    assert len(found) == 2
    assert all("deprecated" in one.draft.notes[-1] for one in found.values())
    assert all(one.draft.check for one in found.values())


def test_an_enum_has_the_type_of_its_property():
    text = "{name: x, logicalType: %s, enum: [{value: 1}, {value: '2'}]}"
    assert only(text % "string", "x:enum").params["accepted"] == ["1", "2"]
    assert only(text % "integer", "x:enum").params["accepted"] == [1, 2]
    spelled = "{name: x, logicalType: string, enum: [{value: 1.10}, {value: 007}, 1e3, true]}"
    assert only(spelled, "x:enum").params["accepted"] == ["1.10", "007", "1e3", "true"]
    assert "lists no value" in only("{name: x, enum: []}", "x:enum").error


OPTIONS = [
    ("string", "minLength: 2", "length_range", {"min_length": 2}),
    ("string", "maxLength: 2", "length_range", {"max_length": 2}),
    ("string", "pattern: '^a$'", "matches_pattern", {"pattern": r"^a\z", "full": False}),
    ("string", "format: uuid", "format", {"kind": "uuid"}),
    ("string", "format: byte", "format", {"kind": "base64"}),
    ("integer", "format: u8", "range", {"min_value": 0, "max_value": 255}),
    ("integer", "format: i128", "range", {"min_value": -(2**127), "max_value": 2**127 - 1}),
    ("integer", "minimum: 0", "range", {"min_value": 0}),
    ("number", "maximum: 1.5", "range", {"max_value": 1.5}),
    ("number", "exclusiveMaximum: 3", "range", {"max_value": 3, "max_exclusive": True}),
    ("number", "multipleOf: 0.01", "multiple_of", {"factor": 0.01}),
    ("date", "minimum: 2020-01-01", "range", {"min_value": "2020-01-01"}),
    (
        "time",
        "exclusiveMinimum: '08:00:00'",
        "range",
        {"min_value": "08:00:00", "min_exclusive": True, "pattern": "HH:mm[:ss[.SSSSSSSSS]]"},
    ),
    ("date", "format: dd.MM.uuuu", "date_format", {"pattern": "dd.MM.yyyy"}),
    ("timestamp", "timezone: true", "column_type", {"column": "x", "types": ("timestamp",)}),
    ("timestamp", "timezone: false", "column_type", {"column": "x", "types": ("timestamp_ntz",)}),
    ("object", "minProperties: 1", "field_count", {"min_fields": 1}),
    ("object", "maxProperties: 2", "field_count", {"max_fields": 2}),
    ("array", "minItems: 1", "length_range", {"min_length": 1}),
    ("array", "maxItems: 2", "length_range", {"max_length": 2}),
    ("array", "uniqueItems: true", "unique_items", {}),
    ("vector", "dimensions: 3", "length_range", {"min_length": 3, "max_length": 3}),
    ("vector", "elementType: float32", "column_type", {"column": "x[]", "types": ("float",)}),
    ("vector", "normalized: true", "is_normalized", {}),
]


@pytest.mark.parametrize(("logical_type", "options", "check", "params"), OPTIONS)
def test_an_option_is_a_check(logical_type, options, check, params):
    draft = option(logical_type, options)
    assert (draft.check, dict(draft.params)) == (check, params)
    assert not draft.error
    assert not draft.skipped


@pytest.mark.parametrize(
    ("logical_type", "options", "reason"),
    [
        ("string", "format: password", "how the text is shown"),
        ("string", "format: binary", "sequence of bytes"),
        ("string", "format: emial", "Nearest known: email"),
        ("integer", "format: i9", "no check is known"),
        ("date", "format: EEE", "'EEE'"),
        ("timestamp", "format: yyyy-MM-ddTHH", "single quotes"),
        ("timestamp", "defaultTimezone: Etc/UTC", "nothing to compare"),
        ("time", "timezone: true", "how a text is written"),
        ("integer", "maxLength: 3", "no option of the logicalType integer"),
        ("string", "maxLenght: 3", "Did you mean 'maxLength'"),
        ("vector", "elementType: qubit", "no type in Spark"),
    ],
)
def test_what_cannot_be_checked_is_skipped_with_a_reason(logical_type, options, reason):
    assert reason in option(logical_type, options).skipped


@pytest.mark.parametrize(
    ("logical_type", "options", "reason"),
    [
        ("string", "minLength: -1", "at least 0"),
        ("string", "minLength: long", "whole number"),
        ("string", "pattern: '(?<=a+)b'", "lookbehind"),
        ("string", "pattern: 3", "must be a text"),
        ("number", "minimum: low", "must be a number"),
        ("number", "exclusiveMinimum: true", "needs a minimum"),
        ("date", "minimum: 5", "a date such as"),
        ("time", "maximum: noon", "a time such as"),
        ("array", "uniqueItems: 3", "true or false"),
        ("timestamp", "defaultTimezone: Mars/Olympus", "IANA"),
        ("object", "required: street", "list of names"),
    ],
)
def test_an_option_that_cannot_be_read_is_an_error_of_its_own(logical_type, options, reason):
    assert reason in option(logical_type, options).error


def test_a_truth_value_makes_the_bound_beside_it_exclusive():
    text = "{name: x, logicalType: number, logicalTypeOptions: {minimum: 1, exclusiveMinimum: %s}}"
    found = of_properties(text % "true")
    assert set(found) == {"x:type", "x:minimum"}
    draft = found["x:minimum"].draft
    assert dict(draft.params) == {"min_value": 1, "min_exclusive": True}
    assert "exclusive" in draft.notes[0]
    assert dict(only(text % "false", "x:minimum").params) == {"min_value": 1}


def test_options_that_ask_nothing_of_the_values_are_no_rule():
    text = (
        "{name: x, logicalType: vector, logicalTypeOptions: "
        "{distanceMetric: cosine, embeddingModel: m, normalized: false}}"
    )
    assert list(of_properties(text)) == ["x:type"]


def test_required_names_of_an_object_are_one_draft_each():
    found = of_properties(
        "{name: x, logicalType: object, logicalTypeOptions: {required: [a, b]}, "
        "properties: [{name: a, physicalName: col_a}]}"
    )
    assert found["x:required[a]"].draft.columns == ("x.col_a",)
    assert found["x:required[b]"].draft.columns == ("x.b",)
    assert dict(found["x:required[b]"].draft.params) == {"parent_optional": True}


def test_a_pattern_is_found_anywhere_or_in_full_as_configured():
    draft = option("string", "pattern: a", settings=ContractSettings(regex="full"))
    assert draft.params["full"] is True
    assert draft.choices == {"regex": "full"}


def test_a_format_of_a_column_stored_as_a_date_is_only_shown():
    text = (
        "{name: x, logicalType: date, physicalType: date, logicalTypeOptions: {format: dd.MM.yyyy}}"
    )
    assert "says how it is shown" in only(text, "x:format").skipped
