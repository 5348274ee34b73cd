"""Where a record went, and which records a group was made of, answered without Spark.

Stored tables answer for filtered, refused and written records, in FULL lineage for aggregated ones
too. In KEY_DERIVABLE the pinned input is read again, and what it yields must have the commitment
that the group was stored with. In NONE nothing was kept of aggregated records. Of a run that did
not balance its lists of missing, extra and duplicate keys answer first.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from lakeproof.accounting.document import Ledger
from lakeproof.accounting.without_spark.deriving import Derivation, GroupNotDerivableError
from lakeproof.accounting.without_spark.groups import (
    as_type,
    group_columns,
    group_text,
    typed_group,
)
from lakeproof.accounting.without_spark.inputs import InputAwayError, read_input, with_input_at
from lakeproof.accounting.without_spark.key_text import key_text, value_text
from lakeproof.accounting.without_spark.listed_keys import (
    EXTRA,
    ListedKey,
    listed_key,
    names_all_keys,
)
from lakeproof.accounting.without_spark.records.reading import NotCheckableError
from lakeproof.accounting.without_spark.stored_partitions import groups_of, open_partition
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AdjointType,
    InputAccounting,
    KeyColumn,
    KeyUniqueness,
    Level,
    Lineage,
    OutputPartition,
    PartitionType,
)

_UNTOLD: Final = (
    "not among the filtered, error or output keys; whether it was aggregated cannot be told "
    "without the input"
)
_UNTOLD_TOO: Final = "whether it was aggregated too cannot be told"
_IN_NONE: Final = "in no partition; whether it was in the input cannot be told without the input"
_TOLD: Final[Mapping[AdjointType, tuple[str, ...]]] = {
    AdjointType.FilteredKeysMetadata: ("reason", "filter_predicate"),
    AdjointType.ErrorRecords: ("error_code", "error_type", "morphism_path", "expected", "actual"),
    AdjointType.ReverseJoinMetadata: ("group_key",),
    AdjointType.ParentChildMetadata: ("child_key",),
}
"""What each table says of a record beside its key; the first is the reason, if it is a text."""


@dataclass(frozen=True, slots=True)
class Disposition:
    """One partition that holds a record, and what it says of it.

    `reason` is the word of the step, such as PREDICATE_NULL or an error's code; `detail` what was
    asked of the record. `group` is the aggregated row it went into, as JSON. A record of which the
    partition holds only further children counts 0 records there.
    """

    partition_type: str
    partition: str
    location: str
    reason: str = ""
    detail: str = ""
    group: str = ""
    records: int = 1


@dataclass(frozen=True, slots=True)
class Trace:
    """All that became of the records of one key.

    `in_input` is None where that cannot be told; `note` is what a failed run says of the key, or
    what cannot be told of it.
    """

    key: str
    dispositions: tuple[Disposition, ...]
    in_input: bool | None = None
    note: str = ""


# ----------------------------------------------------------------------------------- one record


def trace(ledger: Ledger, key: object, input_path: str | os.PathLike[str] | None = None) -> Trace:
    """What became of the records with this key.

    A text is taken as `source_key` has it; a key of several columns may also be a mapping, or the
    JSON object of one, from column to value. `input_path` is where the input is, if it moved.
    """
    ledger = with_input_at(ledger, input_path)
    inputs = ledger.all_inputs
    text = _asked_key(key, inputs[0].key)
    parts = ledger.output_accounting.partitions
    derivable = [part for part in parts if part.adjoint_type is AdjointType.GroupCommitments]
    found: list[Disposition] = []
    for part in parts:
        if part not in derivable:
            found += _stored(ledger, part, text)
    listed = listed_key(ledger, text)
    if listed is not None:
        # A group that was made without it, or with too many of it, cannot be derived.
        found += _listed_places(parts, listed, found)
        return Trace(text, tuple(found), listed.kind != EXTRA, listed.told)
    if found and not derivable and ledger.balanced:
        return Trace(text, tuple(found), in_input=True)
    occurrences = _occurrences(inputs, text)
    if ledger.lineage == Lineage.NONE and derivable and occurrences != 0:
        if not found:
            _refuse_without_lineage(ledger)
        note = _UNTOLD_TOO if _may_be_in_several(ledger) else ""
        return Trace(text, tuple(found), True if occurrences or ledger.balanced else None, note)
    if occurrences is None:
        return _without_input(ledger, text, found, is_stored_whole=not derivable)
    if occurrences:
        found += _derived(ledger, derivable, text)
    return Trace(text, tuple(found), occurrences > 0)


def _refuse_without_lineage(ledger: Ledger) -> None:
    if ledger.lineage == Lineage.NONE:
        raise LedgerError(
            f"run {ledger.run_id} kept no lineage (NONE) of aggregated records, so nothing tells "
            "where they went; it does of filtered, error and output keys. Run with lineage "
            "KEY_DERIVABLE or FULL"
        )


def _listed_places(
    parts: Sequence[OutputPartition], listed: ListedKey, found: Sequence[Disposition]
) -> list[Disposition]:
    """The partitions that a failed run's list names, and that store no key to be found by."""
    known = {one.partition for one in found}
    return [
        _aggregated(part, "by the list of the failed run", "", records=1)
        for part in parts
        if part.name in listed.partitions and part.name not in known
    ]


def _may_be_in_several(ledger: Ledger) -> bool:
    """Whether a record that stands in one partition may rightly stand in another too."""
    unique = all(one.key_uniqueness == KeyUniqueness.REQUIRE for one in ledger.all_inputs)
    said = ledger.verification
    return not (unique and ledger.balanced) or bool(said.overlaps) or len(said.accounts) > 1


def _without_input(
    ledger: Ledger, key: str, found: Sequence[Disposition], *, is_stored_whole: bool
) -> Trace:
    """What stored keys say while the input is away."""
    if found:
        note = _UNTOLD_TOO if not is_stored_whole and _may_be_in_several(ledger) else ""
        return Trace(key, tuple(found), True if ledger.balanced else None, note)
    if not is_stored_whole:
        return Trace(key, (), None, _UNTOLD)
    if ledger.balanced and ledger.level == Level.COMMIT:
        return Trace(key, (), in_input=False)
    return Trace(key, (), None, _IN_NONE)


def _asked_key(key: object, columns: Sequence[KeyColumn]) -> str:
    if isinstance(key, str) and len(columns) > 1:
        key = _plain_object(key) or key
    if isinstance(key, str):
        return key
    if not isinstance(key, Mapping):
        key = {columns[0].name: key} if columns else {}
    lacking = [column.name for column in columns if column.name not in key]
    if lacking or not columns:
        raise LedgerError(f"the key lacks {', '.join(lacking) or 'a column'}: name each column")
    values = [as_type(key[column.name], column.type_text) for column in columns]
    return key_text(values, columns) or ""


def _plain_object(text: str) -> Mapping[str, object] | None:
    """A JSON object of plain values; in canonical ones every value is a pair or null."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    is_plain = isinstance(found, dict) and not any(isinstance(one, list) for one in found.values())
    return found if is_plain and any(one is not None for one in found.values()) else None


def _stored(ledger: Ledger, part: OutputPartition, key: str) -> list[Disposition]:
    """What the table of a partition says of the key, alike rows together."""
    names = _TOLD.get(part.adjoint_type, ())
    columns = [KeyColumn(name, "string") for name in names]
    stored = open_partition(part, ledger.directory, _key_of(ledger, part))
    found: Counter[Disposition] = Counter()
    for text, weight, told in stored.members(columns):
        if text == key:
            found[_disposition(part, dict(zip(names, told, strict=True)))] += weight
    return [_times(one, records) for one, records in found.items()]


def _key_of(ledger: Ledger, part: OutputPartition) -> tuple[KeyColumn, ...]:
    inputs = ledger.all_inputs
    return next((one.key for one in inputs if one.name == part.source), inputs[0].key)


def _disposition(part: OutputPartition, told: Mapping[str, object]) -> Disposition:
    group = told.get("group_key")
    texts = [str(told[name]) for name in told if name != "group_key" and told[name] is not None]
    reason = str(told.get("reason") or told.get("error_code") or "")
    details = [text for text in texts if text != reason]
    return Disposition(
        str(part.partition_type),
        part.name,
        part.adjoint_location,
        reason,
        "; ".join(details),
        _group_json(group) if isinstance(group, Mapping) else "",
    )


def _times(one: Disposition, records: int) -> Disposition:
    return Disposition(
        one.partition_type, one.partition, one.location, one.reason, one.detail, one.group, records
    )


def _group_json(values: Mapping[str, object]) -> str:
    """As `sources` takes it again."""
    return json.dumps(values, ensure_ascii=False, default=_json_value)


def _json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value_text(value)


def _occurrences(inputs: Sequence[InputAccounting], key: str) -> int | None:
    """How many records of the inputs have the key; None if one cannot be read."""
    total = 0
    for source in inputs:
        try:
            total += sum(text == key for text, _ in read_input(source))
        except (NotCheckableError, InputAwayError):
            return None
    return total


def _derived(ledger: Ledger, derivable: Sequence[OutputPartition], key: str) -> list[Disposition]:
    """The groups that the key went into, each checked against its commitment."""
    found: list[Disposition] = []
    for part in derivable:
        derivation = Derivation(ledger, part)
        try:
            groups = derivation.groups_of_key(key)
        except GroupNotDerivableError as problem:
            if len(derivable) > 1 or not names_all_keys(ledger):
                raise
            # Its records are accounted for, and there is but this one place left for them.
            told = f"by the balance of the books; {problem}"
            if not ledger.balanced:
                told = "its group cannot be told, for the run did not balance"
            groups = []
            if records := derivation.left_over(key):
                found.append(_aggregated(part, told, "", records))
        found += [_aggregated(part, "", _group_json(values), records) for values, records in groups]
    return found


def _aggregated(part: OutputPartition, detail: str, group: str, records: int) -> Disposition:
    return Disposition(
        str(part.partition_type),
        part.name,
        part.adjoint_location,
        detail=detail,
        group=group,
        records=records,
    )


# ------------------------------------------------------------------------------------ one group


def sources(
    ledger: Ledger,
    group: Mapping[str, object],
    morphism_id: str = "",
    input_path: str | os.PathLike[str] | None = None,
) -> list[str]:
    """The keys of the records that one aggregated row was made of, sorted; none if there is none.

    `morphism_id` names the step where several grouped by the same columns; `input_path` is where
    the input is, if it moved.
    """
    ledger = with_input_at(ledger, input_path)
    _refuse_without_lineage(ledger)
    parts = _parts_of_step(ledger, group, morphism_id)
    columns = group_columns(groups_of(parts[0], ledger.directory))
    wanted = typed_group(group, columns)
    if parts[0].adjoint_type is AdjointType.GroupCommitments:
        return sorted(Derivation(ledger, parts[0]).members(wanted).elements())
    return sorted(_joined(ledger, parts, wanted))


def _joined(ledger: Ledger, parts: Sequence[OutputPartition], wanted: str) -> Iterator[str]:
    """Each key once for each of its records; one with further children alone once too."""
    column = KeyColumn("group_key", "struct")
    for part in parts:
        whole: Counter[str] = Counter()
        for text, weight, (key,) in open_partition(
            part, ledger.directory, _key_of(ledger, part)
        ).members([column]):
            if group_text(key if isinstance(key, Mapping) else {}) == wanted:
                whole[text] += weight
        for text, records in whole.items():
            yield from [text] * max(1, records)


def _parts_of_step(
    ledger: Ledger, group: Mapping[str, object], morphism_id: str
) -> list[OutputPartition]:
    """The partitions of the one step that is meant; it has one for each source."""
    steps: dict[str, list[OutputPartition]] = {}
    for part in ledger.output_accounting.partitions:
        if part.partition_type is PartitionType.AGGREGATED:
            steps.setdefault(part.morphism_id, []).append(part)
    if not steps:
        raise LedgerError(f"run {ledger.run_id} aggregated nothing, so it has no groups")
    if morphism_id:
        if morphism_id not in steps:
            raise LedgerError(f"no step {morphism_id!r}; there are {', '.join(steps)}")
        return steps[morphism_id]
    if len(steps) > 1:
        alike = {
            name: parts
            for name, parts in steps.items()
            if {one.name for one in group_columns(groups_of(parts[0], ledger.directory))}
            == set(group)
        }
        if len(alike) != 1:
            raise LedgerError(f"name the step by its morphism_id: {', '.join(alike or steps)}")
        steps = alike
    return next(iter(steps.values()))
