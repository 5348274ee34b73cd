"""What a rule asks of a foreign engine: its `implementation`, or the keys on the rule itself."""

from __future__ import annotations

from collections.abc import Mapping

from lakeproof.contracts.odcs.operators import is_operator_like
from lakeproof.contracts.odcs.parameters import read_parameters
from lakeproof.contracts.yaml_document import load_document
from lakeproof.errors import CheckDefinitionError

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


def judging_keys(entry: Mapping[str, object]) -> dict[str, object]:
    """The operators and the unit that stand on the rule itself."""
    return {
        key: value
        for key, value in entry.items()
        if value is not None and (key == "unit" or is_operator_like(key))
    }


def require_own_threshold(entry: Mapping[str, object], engine: str, threshold: str) -> None:
    """Refuse operators on a rule that its engine judges by itself."""
    found = judging_keys({**read_parameters(entry.get("parameters")), **entry})
    if found:
        raise CheckDefinitionError(
            f"{' and '.join(found)} would be ignored: a rule for {engine} is judged by the "
            f"engine's own threshold. Next: write {threshold}, or the rule as a metric"
        )


def inline_keys(entry: Mapping[str, object]) -> dict[str, object]:
    """The rule's own keys beside those that any rule has, `parameters` among them one by one."""
    own = {name: value for name, value in entry.items() if name not in _RULE_KEYS}
    return {**read_parameters(entry.get("parameters")), **own}
