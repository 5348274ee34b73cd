"""The members of a group found again in the pinned input, and checked against its commitment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakeproof.accounting.document import Ledger
from lakeproof.accounting.without_spark.groups import (
    as_type,
    group_columns,
    group_text,
    stored_groups,
)
from lakeproof.accounting.without_spark.inputs import read_input
from lakeproof.accounting.without_spark.key_text import Summer
from lakeproof.accounting.without_spark.records.datasets import schema_columns
from lakeproof.accounting.without_spark.stored_partitions import groups_of, open_partition
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import AdjointType, InputAccounting, KeyColumn, OutputPartition
from lakeproof.model.column import folded


class GroupNotDerivableError(LedgerError):
    """The input's own columns do not say which records are in the group."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """Candidates are the input's records with the group's values, less what went elsewhere."""

    ledger: Ledger
    part: OutputPartition

    @property
    def source(self) -> InputAccounting:
        inputs = self.ledger.all_inputs
        return next((one for one in inputs if one.name == self.part.source), inputs[0])

    def members(self, wanted: str) -> Counter[str]:
        """The keys of one group's records; none if there is no such group."""
        stored = groups_of(self.part, self.ledger.directory)
        group = next(
            (one for one in stored_groups(stored, self.ledger.level) if one.text == wanted), None
        )
        if group is None:
            return Counter()
        candidates = Counter(
            key for key, values in self._input_groups() if group_text(values) == wanted
        )
        members = candidates - self._elsewhere(candidates)
        summer = Summer(self.ledger.salt, self.ledger.level)
        summer.add_all(members.elements())
        if not group.commitment.agrees_with(summer.commitment):
            raise GroupNotDerivableError(
                f"the group cannot be derived: the columns of the input give it "
                f"{summer.records:,} records, and {self.part.name} made it of "
                f"{group.commitment.records:,}, or of others. {self._advice}"
            )
        return members

    def groups_of_key(self, key: str) -> list[tuple[Mapping[str, object], int]]:
        """The groups that hold records of the key, each with their number."""
        candidates = {
            group_text(values): values for one, values in self._input_groups() if one == key
        }
        counted = [(values, self.members(text)[key]) for text, values in candidates.items()]
        return [(values, records) for values, records in counted if records]

    def left_over(self, key: str) -> int:
        """How many records of the key the input has beyond those in other partitions."""
        found = Counter(text for text, _ in read_input(self.source) if text == key)
        return (found - self._elsewhere(found))[key]

    @property
    def _advice(self) -> str:
        if self.ledger.balanced:
            return "Run with lineage FULL, which stores the keys of every group"
        return "The run did not balance: look at its missing, extra and duplicate keys first"

    def _input_groups(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Each record of the input with the values of the columns that were grouped by."""
        columns = group_columns(groups_of(self.part, self.ledger.directory))
        known = {folded(one.name): one for one in schema_columns(self.source.position.schema_text)}
        lacking = [column.name for column in columns if folded(column.name) not in known]
        if lacking:
            raise GroupNotDerivableError(
                f"the group cannot be derived: {', '.join(lacking)} is no column of the input. "
                f"{self._advice}"
            )
        names = [known[folded(column.name)] for column in columns]
        for key, values in read_input(self.source, names):
            yield key, _as_grouped(values, columns)

    def _elsewhere(self, candidates: Counter[str]) -> Counter[str]:
        """How often these keys stand in the partitions that lead to the same sink."""
        found: Counter[str] = Counter()
        for other in self.ledger.output_accounting.partitions:
            is_same = other.source == self.part.source and (
                not other.sink or not self.part.sink or other.sink == self.part.sink
            )
            if not is_same or other.adjoint_type is AdjointType.GroupCommitments:
                continue
            stored = open_partition(other, self.ledger.directory, self.source.key)
            found.update(key for key, weight, _ in stored.members() if weight and key in candidates)
        return found


def _as_grouped(values: tuple[object, ...], columns: tuple[KeyColumn, ...]) -> Mapping[str, object]:
    # A pipeline may have cast a text under its own name, as to a date.
    return {
        column.name: as_type(value, column.type_text) if isinstance(value, str) else value
        for column, value in zip(columns, values, strict=True)
    }
