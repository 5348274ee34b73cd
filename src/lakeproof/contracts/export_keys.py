"""What the places of a contract are called in version 3.2, and were called before."""

from __future__ import annotations

from collections.abc import Mapping

from lakeproof.contracts.odcs.known_keys import RENAMED as KNOWN_NAMES
from lakeproof.contracts.odcs.known_keys import SHAPES, Each, Kind, Plain
from lakeproof.model.comparison import Operator

_ELEMENT = {"checks": "quality"}
_PROPERTY = {
    **_ELEMENT,
    **KNOWN_NAMES["property"],
    "partitionStatus": "partitioned",
    "criticalDataElementStatus": "criticalDataElement",
    "encryptedColumnName": "encryptedName",
    "transformSourceTables": "transformSourceObjects",
    "sampleValues": "examples",
}
NEW_NAMES: Mapping[str, Mapping[str, str]] = {
    **KNOWN_NAMES,
    "contract": {
        **KNOWN_NAMES["contract"],
        "datasetDomain": "domain",
        "datasetName": "name",
        "quantumName": "dataProduct",
    },
    "object": {
        **_ELEMENT,
        **KNOWN_NAMES["object"],
        "dataGranularity": "dataGranularityDescription",
    },
    "property": _PROPERTY,
    "part": _PROPERTY,
    "member": {"comment": "description"},
}
"""The new name of each old key, by the place it stands at."""

_GONE: Mapping[str, tuple[str, ...]] = {
    "contract": (
        *("userConsumptionMode", "productDl", "productSlackChannel", "productFeedbackUrl"),
        *("sourcePlatform", "sourceSystem", "datasetProject", "datasetKind", "type", "driver"),
        *("driverVersion", "server", "database", "username", "password", "schedulerAppName"),
        *("systemInstance", "templateVersion", "quality", "checks"),
    ),
    "object": ("priorTableName",),
    "property": ("clusterStatus", "clusterKeyPosition", "context"),
    "part": ("clusterStatus", "clusterKeyPosition", "context"),
    "property relationship": ("from",),
    "contract description": ("id", "tags"),
    "service level": ("tags",),
    "support": ("tags", "authoritativeDefinitions"),
    "synonym": ("tags", "authoritativeDefinitions"),
    "role": ("tags", "authoritativeDefinitions"),
    "price": (),
}
"""Keys that version 3.2 has no place for there."""

_RULE: Mapping[str, Kind] = {
    **dict.fromkeys(
        (
            *("id", "name", "description", "dimension", "severity", "businessImpact", "method"),
            *("schedule", "scheduler", "unit", "type", "metric", "query", "engine"),
        ),
        Plain.TEXT,
    ),
    "tags": Plain.TEXTS,
    "customProperties": Each("custom property"),
    "authoritativeDefinitions": Each("definition"),
    **dict.fromkeys(("arguments", "implementation", *map(str, Operator)), Plain.ANY),
}


def current_keys(shape: str) -> dict[str, Kind]:
    """The keys of version 3.2 at a place of that shape."""
    if shape == "rule":
        return dict(_RULE)
    old = {*NEW_NAMES.get(shape, {}), *_GONE.get(shape, ())}
    return {key: kind for key, kind in SHAPES[shape].keys.items() if key not in old}
