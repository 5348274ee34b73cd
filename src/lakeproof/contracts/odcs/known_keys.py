"""What the standard allows at each place of a contract, in every generation of it, as data.

The written standard is closed: a key that stands here nowhere is told as unknown, and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakeproof.contracts.finding import Level
from lakeproof.contracts.odcs.forms import METADATA_KEYS
from lakeproof.contracts.odcs.operators import OPERATOR_KEYS


class Plain(StrEnum):
    """What a value is if it holds no keys of the standard; the words stand in messages."""

    TEXT = "a text"
    TRUTH = "true or false"
    WHOLE = "a whole number"
    NUMBER = "a number"
    TEXTS = "a list of texts"
    ANY = "anything"


@dataclass(frozen=True, slots=True)
class Word:
    """A text out of a closed list."""

    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class One:
    """A mapping of a shape."""

    shape: str


@dataclass(frozen=True, slots=True)
class Each:
    """A list of mappings of a shape."""

    shape: str


@dataclass(frozen=True, slots=True)
class Either:
    """A mapping, or a list of mappings, or a text if there is no other shape for it."""

    one: str = ""
    each: str = ""


Kind = Plain | Word | One | Each | Either


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys of a mapping; of each group in `required` one must be there.

    `missing` is how grave it is if none is.
    """

    keys: Mapping[str, Kind]
    required: tuple[tuple[str, ...], ...] = ()
    missing: Level = Level.WARNING


API_VERSIONS = (
    *("v3.2.0", "v3.1.0", "v3.0.2", "v3.0.1", "v3.0.0"),
    *("v2.2.2", "v2.2.1", "v2.2.0"),
)
LOGICAL_TYPES = (
    *("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean"),
    *("map", "vector"),
)
DIMENSIONS: Mapping[str, str] = {
    "ac": "accuracy",
    "cp": "completeness",
    "cf": "conformity",
    "cs": "consistency",
    "cv": "coverage",
    "tm": "timeliness",
    "uq": "uniqueness",
}
"""The dimensions by the synonyms that only the written standard has."""

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": (*_BOUNDS, "multipleOf", "format"),
    "number": (*_BOUNDS, "multipleOf", "format"),
    "date": (*_BOUNDS, "format"),
    "timestamp": (*_BOUNDS, "format", "timezone", "defaultTimezone"),
    "time": (*_BOUNDS, "format", "timezone", "defaultTimezone"),
    "object": ("minProperties", "maxProperties", "required"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "boolean": (),
    "map": (),
    "vector": (
        *("dimensions", "elementType", "distanceMetric", "normalized"),
        *("embeddingModel", "embeddingModelVersion"),
    ),
}
"""The keys of `logicalTypeOptions`, by logical type."""

_FILES = ("format", "encoding", "delimiter")
SERVERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "api": (("location",), ()),
    "athena": (("schema",), ("stagingDir", "catalog", "regionName", "workgroup")),
    "azure": (("location", "format"), ("encoding", "delimiter", "storageAccount")),
    "bigquery": (("project", "dataset"), ()),
    "clickhouse": (("host", "port", "database"), ()),
    "cloudsql": (("host", "port", "database", "schema"), ()),
    "custom": (
        (),
        (
            *("account", "catalog", "database", "dataset", "endpointUrl", "host", "location"),
            *("path", "port", "project", "region", "regionName", "schema", "serviceName"),
            *("stagingDir", "warehouse", "stream", *_FILES),
        ),
    ),
    "databricks": (("catalog", "schema"), ("host",)),
    "db2": (("host", "port", "database"), ("schema",)),
    "denodo": (("host", "port"), ("database",)),
    "dremio": (("host", "port"), ("schema",)),
    "duckdb": (("database",), ("schema",)),
    "exasol": (("host",), ("port", "schema")),
    "glue": (("account", "database"), ("location", "format", "encoding")),
    "hana": (("host",), ("port", "database", "schema")),
    "hive": (("host", "database"), ("port",)),
    "iceberg": (("catalog", "catalogUrl"), ("namespace", "warehouse")),
    "impala": (("host", "database"), ("port",)),
    "informix": (("host", "database"), ("port",)),
    "kafka": (("host",), ("format", "encoding")),
    "kinesis": ((), ("region", "format", "encoding", "stream")),
    "local": (("path", "format"), ("encoding",)),
    "mysql": (("host", "port", "database"), ()),
    "oracle": (("host", "port", "serviceName"), ()),
    "postgres": (("host", "port", "database", "schema"), ()),
    "postgresql": (("host", "port", "database", "schema"), ()),
    "presto": (("host",), ("catalog", "schema")),
    "pubsub": (("project",), ()),
    "redshift": (("database", "schema"), ("host", "region", "account")),
    "s3": (("location",), ("endpointUrl", *_FILES)),
    "sftp": (("location",), _FILES),
    "snowflake": (("account", "database", "schema"), ("host", "port", "warehouse")),
    "sqlserver": (("host", "database", "schema"), ("port",)),
    "synapse": (("host", "port", "database"), ()),
    "teradata": (("host",), ("port", "database")),
    "trino": (("host", "port", "catalog", "schema"), ()),
    "vertica": (("host", "port", "database", "schema"), ()),
    "zen": (("host", "database"), ("port",)),
}
"""What each type of server must have, and may have beside."""

RULE_KEYS = frozenset(
    {
        *METADATA_KEYS,
        *OPERATOR_KEYS,
        *("type", "metric", "rule", "arguments", "unit", "query", "engine", "implementation"),
        # The standard's own text shows them beside `arguments`; version 3.0 had them there.
        *("validValues", "missingValues", "pattern", "properties"),
        *("code", "parameters", "column", "columns", "templateName", "toolName", "toolRuleName"),
        "scheduleCronExpression",
        *("missing_values", "missing_regex_sql", "valid_values", "invalid_values"),
        *("valid_format", "invalid_format", "valid_regex_sql", "invalid_regex_sql"),
        *("valid_min", "valid_max", "valid_length", "valid_min_length", "valid_max_length"),
        *("valid_values_reference_data", "filter_sql", "percentile", "metric_query"),
        *("metric_expression", "query_sql", "expression_sql"),
    }
)
"""The keys of a rule, whatever form it is written in."""

_TEXT, _TRUTH, _WHOLE, _NUMBER = Plain.TEXT, Plain.TRUTH, Plain.WHOLE, Plain.NUMBER
_TEXTS, _ANY = Plain.TEXTS, Plain.ANY


def _all(kind: Kind, *names: str) -> dict[str, Kind]:
    return dict.fromkeys(names, kind)


_ANNOTATED: dict[str, Kind] = {
    "id": _TEXT,
    "description": _TEXT,
    "tags": _TEXTS,
    "customProperties": Each("custom property"),
    "authoritativeDefinitions": Each("definition"),
}
_ELEMENT: dict[str, Kind] = {
    **_ANNOTATED,
    **_all(_TEXT, "name", "physicalName", "physicalType", "businessName"),
    "deprecated": _TRUTH,
    "synonyms": Each("synonym"),
    "context": _ANY,
    "quality": Each("rule"),
    "checks": Each("rule"),
}
_PROPERTY: dict[str, Kind] = {
    **_ELEMENT,
    **_all(_TEXT, "field", "column", "classification", "encryptedName", "encryptedColumnName"),
    **_all(_TEXT, "transformLogic", "transformDescription"),
    **_all(_TRUTH, "primaryKey", "isPrimary", "isPrimaryKey", "required", "isNullable"),
    **_all(_TRUTH, "unique", "isUnique", "partitioned", "partitionStatus", "clusterStatus"),
    **_all(_TRUTH, "criticalDataElement", "criticalDataElementStatus"),
    **_all(_WHOLE, "primaryKeyPosition", "partitionKeyPosition", "clusterKeyPosition"),
    **_all(_TEXTS, "transformSourceObjects", "transformSourceTables"),
    **_all(_ANY, "examples", "sampleValues", "enum", "map"),
    "logicalType": Word(LOGICAL_TYPES),
    "logicalTypeOptions": One("options"),
    "semanticType": Word(("column", "measure", "dimension")),
    "relationships": Each("property relationship"),
    "properties": Each("property"),
    "attributes": Each("property"),
    "items": One("part"),
}
_RELATIONSHIP: dict[str, Kind] = {
    "id": _TEXT,
    "type": Word(("foreignKey",)),
    "from": _ANY,
    "to": _ANY,
    "customProperties": Each("custom property"),
}

SHAPES: Mapping[str, Shape] = {
    "contract": Shape(
        {
            **_all(_TEXT, "version", "id", "uuid", "name", "tenant", "status", "dataProduct"),
            **_all(_TEXT, "domain", "contractCreatedTs", "slaDefaultElement", "slaDefaultColumn"),
            **_all(_TEXT, "datasetDomain", "quantumName", "userConsumptionMode", "productDl"),
            **_all(_TEXT, "productSlackChannel", "productFeedbackUrl", "sourcePlatform"),
            **_all(_TEXT, "sourceSystem", "datasetProject", "datasetName", "datasetKind"),
            **_all(_TEXT, "type", "driver", "driverVersion", "server", "database", "username"),
            **_all(_TEXT, "password", "schedulerAppName", "systemInstance", "templateVersion"),
            **_all(_ANY, "context"),
            "apiVersion": Word(API_VERSIONS),
            "kind": Word(("DataContract",)),
            "tags": _TEXTS,
            "description": Either(one="contract description"),
            "schema": Each("object"),
            "dataset": Each("object"),
            "servers": Each("server"),
            "support": Each("support"),
            "price": One("price"),
            "team": Either(one="team", each="member"),
            "stakeholders": Each("member"),
            "roles": Each("role"),
            "slaProperties": Each("service level"),
            "authoritativeDefinitions": Each("definition"),
            "customProperties": Each("custom property"),
            "quality": Each("rule"),
            "checks": Each("rule"),
        },
        required=(("apiVersion",), ("kind",), ("id", "uuid"), ("version",)),
    ),
    "contract description": Shape(
        {**_ANNOTATED, **_all(_TEXT, "usage", "purpose", "limitations")},
    ),
    "object": Shape(
        {
            **_ELEMENT,
            **_all(_TEXT, "object", "table", "dataGranularityDescription", "dataGranularity"),
            **_all(_TEXT, "priorTableName"),
            "logicalType": Word(("object",)),
            "relationships": Each("object relationship"),
            "properties": Each("property"),
            "attributes": Each("property"),
            "columns": Each("property"),
        },
        required=(("name", "object", "table"),),
        missing=Level.ERROR,
    ),
    "property": Shape(_PROPERTY, required=(("name", "field", "column"),), missing=Level.ERROR),
    "part": Shape(_PROPERTY),
    "object relationship": Shape(_RELATIONSHIP, (("from",), ("to",)), Level.ERROR),
    "property relationship": Shape(_RELATIONSHIP, (("to",),), Level.ERROR),
    "map": Shape({"key": One("part"), "value": One("part")}, (("key",), ("value",))),
    "enum value": Shape(
        {**_ANNOTATED, "value": _ANY, "label": _TEXT}, (("value",),), missing=Level.ERROR
    ),
    "synonym": Shape(
        {**_ANNOTATED, **_all(_TEXT, "synonym", "locale", "source", "status")}, (("synonym",),)
    ),
    "custom property": Shape(
        {**_all(_TEXT, "id", "property", "description", "vendor"), "value": _ANY},
        (("property",),),
    ),
    "definition": Shape(_all(_TEXT, "id", "url", "type", "description"), (("url",), ("type",))),
    "service level": Shape(
        {
            **_ANNOTATED,
            **_all(_TEXT, "property", "unit", "element", "column", "driver", "scheduler"),
            **_all(_TEXT, "schedule"),
            **_all(_ANY, "value", "valueExt"),
        },
        (("property",), ("value",)),
    ),
    "server": Shape(
        {
            **_ANNOTATED,
            **_all(_TEXT, "server", "environment"),
            "type": Word(tuple(SERVERS)),
            "roles": Each("role"),
        },
        (("server",), ("type",)),
    ),
    "support": Shape(
        {**_ANNOTATED, **_all(_TEXT, "channel", "url", "tool", "scope", "invitationUrl")},
        (("channel",),),
    ),
    "price": Shape(
        {"id": _TEXT, "priceAmount": _NUMBER, **_all(_TEXT, "priceCurrency", "priceUnit")}
    ),
    "team": Shape({**_ANNOTATED, "name": _TEXT, "members": Each("member")}),
    "member": Shape(
        {
            **_ANNOTATED,
            **_all(_TEXT, "username", "name", "role", "dateIn", "dateOut", "comment"),
            **_all(_TEXT, "replacedByUsername"),
        },
        (("username",),),
    ),
    "role": Shape(
        {
            **_ANNOTATED,
            **_all(_TEXT, "role", "access", "firstLevelApprovers", "secondLevelApprovers"),
        },
        (("role",),),
    ),
}

_RENAMED_IN_PROPERTY = {
    "field": "name",
    "column": "name",
    "isNullable": "required",
    "isUnique": "unique",
    "isPrimary": "primaryKey",
    "isPrimaryKey": "primaryKey",
    "attributes": "properties",
}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "contract": {
        "dataset": "schema",
        "uuid": "id",
        "stakeholders": "team",
        "slaDefaultColumn": "slaDefaultElement",
    },
    "object": {
        "object": "name",
        "table": "name",
        "attributes": "properties",
        "columns": "properties",
    },
    "property": _RENAMED_IN_PROPERTY,
    "part": _RENAMED_IN_PROPERTY,
    "service level": {"column": "element"},
}
"""Keys of version 2 and of the RFC, by shape, with what version 3 calls them."""
