"""Two tables' differences held against a tolerance, and told in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lakeproof.checks.bounds import exact
from lakeproof.checks.kinds import Arguments, Verdict
from lakeproof.model.pairing import ColumnMatch, DuplicatePolicy, EmptyPolicy, PairFound
from lakeproof.model.printable import counted
from lakeproof.model.threshold import Threshold

_LISTED_MAX = 5


def tolerates(threshold: Threshold, mismatches: int, total: int) -> bool:
    """Whether so many of so many may differ: by share or by number, each inclusive and exact."""
    if threshold.share is not None and mismatches <= exact(threshold.share) * total:
        return True
    return mismatches <= (threshold.rows or 0)


def keys_verdict(found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
    """The verdict over keys that are missing, changed or there too often.

    Some faults are no matter of number, so no tolerance covers them: schemas that differ, keys
    that could not be read, one side without a row, and nothing to compare if that may not be.
    """
    faults = [*_schema_faults(found, arguments), *_key_faults(found), *_lone_side(found, arguments)]
    told = _keys_text(found, arguments)
    if not found.total:
        told = _nothing_text(found, arguments)
        if arguments["on_empty"] == EmptyPolicy.FAIL and _is_narrowed(found, arguments):
            faults.append("nothing was compared")
    share = found.mismatches / found.total if found.total else 0.0
    return Verdict(
        failing=found.mismatches,
        total=found.total,
        excess=found.mismatches,
        share=share,
        measure=share,
        details="; ".join([*faults, told, scope_text(arguments, found)]),
        measures=floats_of(found.numbers),
        passed=not faults and tolerates(threshold, found.mismatches, found.total),
    )


def aggregates_verdict(found: PairFound, arguments: Arguments) -> Verdict:
    """The verdict over aggregates; each was held against its tolerance where it was compared."""
    differ = "differs" if found.mismatches == 1 else "differ"
    told = f"{counted(found.total, 'aggregate')} {'agrees' if found.total == 1 else 'agree'}"
    if found.mismatches:
        of = counted(found.total, "aggregate")
        told = f"{found.mismatches:,} of {of} {differ}{_aggregates_text(found)}"
    elif not found.total:
        told = "warning: no group on either side"
    groups: Sequence[str] = arguments["group_by"]  # type: ignore[assignment]
    by = f", grouped by {', '.join(groups)}" if groups else ""
    share = found.mismatches / found.total if found.total else 0.0
    return Verdict(
        failing=found.mismatches,
        total=found.total,
        excess=found.mismatches,
        share=share,
        measure=share,
        details=f"{told}{by}; {scope_text(arguments)}",
        measures=floats_of(found.numbers),
        passed=not found.mismatches,
    )


def number_in(found: PairFound, name: str) -> int:
    """A count that was taken; 0 if it was not."""
    return int(found.numbers.get(name) or 0)


def floats_of(numbers: Mapping[str, int | float | None]) -> dict[str, float]:
    """The numbers as results keep them; one that was not taken is left out."""
    return {name: float(value) for name, value in numbers.items() if value is not None}


def scope_text(arguments: Arguments, found: PairFound | None = None) -> str:
    """Which rows were looked at: of a partition, of the filter, of a sample."""
    partition = arguments["partition"]
    parts = [
        "full table" if partition is None else f"{arguments['partition_column']}={partition} only"
    ]
    if arguments["where_clause"] is not None:
        parts.append("source filtered")
    if arguments.get("sample") is not None:
        parts.append(f"sample {arguments['sample']} of the keys")
    if found is not None and found.metadata.get("limit_applied"):
        parts.append(f"limit {arguments['limit']:,} rows")
    return ", ".join(parts)


def columns_text(columns: Sequence[ColumnMatch]) -> str:
    """The columns that differ, those that differ most first: ` (amount 3, status 1)`."""
    differing = sorted(
        (one for one in columns if one.mismatches), key=lambda one: (-one.mismatches, one.name)
    )
    if not differing:
        return ""
    listed = _listed(f"{one.name} {one.mismatches:,}" for one in differing)
    return f" ({listed})"


def _aggregates_text(found: PairFound) -> str:
    """Which aggregates differ; of those that were not counted one by one, the ones in samples."""
    if found.columns:
        return columns_text(found.columns)
    names = dict.fromkeys(name for sample in found.samples for name in sample.differing)
    return f" ({_listed(names)})" if names else ""


def _keys_text(found: PairFound, arguments: Arguments) -> str:
    """`3 of 1,000 keys differ: 2 missing in target, 1 changed (amount 1)`."""
    copies_count = arguments.get("duplicate_policy") == DuplicatePolicy.MULTISET
    noun = "row" if copies_count else "key"
    if not found.mismatches:
        agrees = "agrees" if found.total == 1 else "agree"
        return f"{counted(found.total, noun)} {agrees}"
    surplus = number_in(found, "surplus_rows")
    of_what = f"{noun}s and surplus rows" if surplus and not copies_count else f"{noun}s"
    differ = "differs" if found.mismatches == 1 else "differ"
    return f"{found.mismatches:,} of {found.total:,} {of_what} {differ}: {_classes_text(found)}"


def _classes_text(found: PairFound) -> str:
    """How many of each kind. What no kind explains are keys that are bad for their NULL alone."""
    changed = f"changed{columns_text(found.columns)}"
    kinds = {
        "missing_in_target": "missing in target",
        "missing_in_source": "missing in source",
        "hash_mismatches": changed,
    }
    parts = [
        f"{number:,} {word}" for name, word in kinds.items() if (number := number_in(found, name))
    ]
    surplus = number_in(found, "surplus_rows")
    explained = surplus + sum(number_in(found, name) for name in kinds)
    if surplus:
        parts.append(counted(surplus, "surplus row"))
    if found.mismatches > explained:
        parts.append(f"{found.mismatches - explained:,} with NULL in the key")
    return ", ".join(parts)


def _schema_faults(found: PairFound, arguments: Arguments) -> list[str]:
    """Differences of the columns that leave one uncompared although it was asked for."""
    texts = []
    for one in _schema_differences(found):
        kind = one["difference"]
        if kind == "incompatible":
            texts.append(_types_text(one))
        elif kind == "missing_in_source" and arguments.get("schema") != "common":
            texts.append(f"{one['column']} is not in the source")
    return [f"schemas differ: {_listed(texts)}"] if texts else []


def _types_text(difference: Mapping[str, object]) -> str:
    column, source, target = (difference[name] for name in ("column", "source", "target"))
    if source == target:  # nothing differs, but values of that type cannot be compared at all
        return f"{column} cannot be compared: {difference['detail']}"
    return (
        f"{column} is {str(source).upper()} in the source and {str(target).upper()} in the target"
    )


def _schema_differences(found: PairFound) -> Iterable[Mapping[str, object]]:
    return found.metadata.get("schema_differences") or ()  # type: ignore[return-value]


def _key_faults(found: PairFound) -> list[str]:
    uncastable = int(str(found.metadata.get("uncastable_keys") or 0))
    return [f"{counted(uncastable, 'key')} cannot be read as key_cast says"] if uncastable else []


def _lone_side(found: PairFound, arguments: Arguments) -> list[str]:
    """The side that has no row while the other has; of a sample, that says nothing."""
    is_part = arguments.get("sample") is not None or bool(found.metadata.get("limit_applied"))
    if not found.total or is_part:
        return []
    return [f"the {side} has no rows" for side in ("source", "target") if _is_bare(found, side)]


def _is_bare(found: PairFound, side: str) -> bool:
    rows = found.numbers.get(f"{side}_rows")
    if rows is not None:
        return rows == 0
    return number_in(found, f"missing_in_{side}") == number_in(found, "total_keys")


def _is_narrowed(found: PairFound, arguments: Arguments) -> bool:
    """Whether a filter, a partition or a sample chose the rows."""
    given = (arguments["where_clause"], arguments["partition"], arguments.get("sample"))
    return found.metadata.get("empty") == "selection" or any(one is not None for one in given)


def _nothing_text(found: PairFound, arguments: Arguments) -> str:
    if not _is_narrowed(found, arguments):
        return "warning: both tables are empty"
    warning = "warning: " if arguments["on_empty"] == EmptyPolicy.WARN else ""
    return f"{warning}the filter, partition or sample selects no row on either side"


def _listed(texts: Iterable[str]) -> str:
    """The first few, and how many more there are."""
    given = list(texts)
    more = len(given) - _LISTED_MAX
    return ", ".join(given[:_LISTED_MAX]) + (f" and {more:,} more" if more > 0 else "")
