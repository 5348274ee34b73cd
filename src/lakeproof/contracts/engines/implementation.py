"""What a rule asks of a foreign engine: its `implementation`, or the keys on the rule itself."""

from __future__ import annotations

from collections.abc import Mapping

from lakeproof.contracts.odcs.parameters import read_parameters
from lakeproof.contracts.yaml_document import load_document

_RULE_KEYS = frozenset(
    {
        *("authoritativeDefinitions", "businessImpact", "code", "customProperties"),
        *("description", "dimension", "engine", "id", "implementation", "method", "name"),
        *("parameters", "schedule", "scheduleCronExpression", "scheduler", "severity", "tags"),
        *("templateName", "toolName", "toolRuleName", "type", "unit"),
    }
)
"""Keys that any rule may have, and that say nothing about what is checked."""


def read_implementation(entry: Mapping[str, object]) -> object:
    """The implementation as plain values; without one, what else the rule says.

    A text is read as YAML or JSON, for which ContractError says what is wrong and where in it.
    """
    given = entry.get("implementation")
    if isinstance(given, str) and given.strip():
        return load_document(given, "implementation").value
    return inline_keys(entry) if given is None or given == "" else given


def inline_keys(entry: Mapping[str, object]) -> dict[str, object]:
    """The rule's own keys beside those that any rule has, `parameters` among them one by one."""
    own = {name: value for name, value in entry.items() if name not in _RULE_KEYS}
    return {**read_parameters(entry.get("parameters")), **own}
