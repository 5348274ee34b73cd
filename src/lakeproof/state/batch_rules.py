"""The rules of one batch, and what SQL says of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakeproof.model.number_keys import key_text, text_before
from lakeproof.model.weighing import WeighKind
from lakeproof.state import literals
from lakeproof.state.store import Weighed


@dataclass(frozen=True, slots=True)
class BatchRules:
    """Rules by id: how each becomes violations, and the names of keys that are numbers.

    In rows of which there are many a rule is a small number, `rule`: its id has 64 letters, which
    are dear to move and to compare. The rules of single rows have the highest numbers, for they
    have the fewest rows and are looked for last.
    """

    kinds: Mapping[str, WeighKind]
    number_names: Mapping[str, str]

    @classmethod
    def of(cls, weighed: Iterable[Weighed]) -> BatchRules:
        ordered = sorted(weighed, key=lambda one: one.kind is WeighKind.ROW)
        return cls(
            {one.rule_id: one.kind for one in ordered},
            {one.rule_id: one.number_name for one in ordered if one.number_name},
        )

    @property
    def ids(self) -> Sequence[str]:
        return list(self.kinds)

    @property
    def rule(self) -> str:
        """The number of a rule, out of rule_id."""
        numbers = {rule_id: str(number) for number, rule_id in enumerate(self.kinds)}
        return by_rule(numbers, "CAST(NULL AS INT)")

    @property
    def rule_id(self) -> str:
        """The id of a rule, out of its number."""
        return f"element_at(array({literals.texts(self.kinds)}), rule + 1)"

    @property
    def is_number(self) -> str:
        """Whether keys are numbers, out of rule_id."""
        return f"rule_id IN ({literals.texts(self.number_names)})"

    @property
    def kind(self) -> str:
        """Out of rule_id."""
        return by_rule(
            {rule_id: f"'{kind.value}'" for rule_id, kind in self.kinds.items()},
            "CAST(NULL AS STRING)",
        )

    @property
    def text(self) -> str:
        """The text of a key, also of a number: out of rule_id, violation_key and near."""
        if not self.number_names:
            return "violation_key"
        texts = {rule_id: key_text(before, "near") for rule_id, before in self.texts_before.items()}
        return f"coalesce(violation_key, {by_rule(texts, 'CAST(NULL AS STRING)')})"

    @property
    def texts_before(self) -> dict[str, str]:
        """SQL of what stands before the number in the keys of each rule that has such keys."""
        return {
            rule_id: literals.text(text_before(name)) for rule_id, name in self.number_names.items()
        }


def by_rule(values: Mapping[str, str], otherwise: str) -> str:
    """SQL of one value for each of these rules, out of rule_id."""
    cases = "".join(f" WHEN {literals.text(name)} THEN {value}" for name, value in values.items())
    return f"CASE rule_id{cases} ELSE {otherwise} END" if cases else otherwise


def open_sql(own: str, parent: str) -> str:
    """Whether a key is in violation: out of kind, has_null and what it weighs on both sides."""
    return (
        f"CASE kind WHEN '{WeighKind.UNIQUE.value}' THEN {own} > 1 OR (has_null AND {own} > 0) "
        f"WHEN '{WeighKind.REFERENCE.value}' THEN {own} > 0 AND {parent} <= 0 "
        f"ELSE {own} > 0 END"
    )


def excess_sql(is_open: str, own: str) -> str:
    """How many rows of a key are too many, likewise."""
    return (
        f"if({is_open}, {own} - "
        f"if(kind = '{WeighKind.UNIQUE.value}' AND NOT coalesce(has_null, false), 1L, 0L), 0L)"
    )
