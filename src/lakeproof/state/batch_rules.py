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
    def rule_sql(self) -> str:
        """The number of a rule, out of rule_id; NULL of one that is not of the batch.

        A look into a list: as a chain of cases, its Java outgrows what the JVM would compile.
        """
        found = f"array_position(array({literals.texts(self.kinds)}), rule_id)"
        return f"CAST(nullif({found}, 0) - 1 AS INT)"

    @property
    def rule_id_sql(self) -> str:
        """The id of a rule, out of its number."""
        return f"element_at(array({literals.texts(self.kinds)}), rule + 1)"

    def is_of(self, kind: WeighKind, rule: str = "rule") -> str:
        """Whether a rule is of a kind, out of its number, or of its `rule_id`."""
        if rule == "rule_id":
            ids = (rule_id for rule_id, one in self.kinds.items() if one is kind)
            return f"rule_id IN ({literals.texts(ids)})"
        numbers = (str(number) for number, one in enumerate(self.kinds.values()) if one is kind)
        return f"rule IN ({', '.join(numbers) or 'NULL'})"

    def open_sql(self, own: str, parent: str, rule: str = "rule") -> str:
        """Whether a key is in violation: by has_null and what it weighs on both sides."""
        return (
            f"CASE WHEN {self.is_of(WeighKind.UNIQUE, rule)} "
            f"THEN {own} > 1 OR (has_null AND {own} > 0) "
            f"WHEN {self.is_of(WeighKind.REFERENCE, rule)} THEN {own} > 0 AND {parent} <= 0 "
            f"ELSE {own} > 0 END"
        )

    def excess_sql(self, is_open: str, own: str, rule: str = "rule") -> str:
        """How many rows of a key are too many: of one that repeats, all but one."""
        repeats = f"{self.is_of(WeighKind.UNIQUE, rule)} AND NOT coalesce(has_null, false)"
        return f"if({is_open}, {own} - if({repeats}, 1L, 0L), 0L)"

    @property
    def has_numbers_sql(self) -> str:
        """Whether the keys of a rule are numbers, out of rule_id."""
        return f"rule_id IN ({literals.texts(self.number_names)})"

    @property
    def text_sql(self) -> str:
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
    alike: dict[str, list[str]] = {}
    for rule_id, value in values.items():
        alike.setdefault(value, []).append(rule_id)
    cases = "".join(
        f" WHEN rule_id IN ({literals.texts(rule_ids)}) THEN {value}"
        for value, rule_ids in alike.items()
    )
    return f"CASE{cases} ELSE {otherwise} END" if cases else otherwise
