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
    if not found.total:
        return verdict_on_nothing(found, arguments, floats_of(found.numbers), faults)
    told = _keys_text(found, arguments) + _doubles_text(found)
    notes = [*_only_in_source(found), scope_text(arguments, found)]
    share = found.mismatches / found.total
    return Verdict(
        failing=found.mismatches,
        total=found.total,
        excess=found.mismatches,
        share=share,
        measure=share,
        details="; ".join([*faults, told, *notes]),
        measures=floats_of(found.numbers),
        passed=not faults and tolerates(threshold, found.mismatches, found.total),
        is_faulty=bool(faults),
    )


def aggregates_verdict(found: PairFound, arguments: Arguments) -> Verdict:
    """The verdict over aggregates; each was held against its tolerance where it was compared.

    One side without a row fails all the same: its count of 0 is no number that is nearly right.
    """
    measures = floats_of(found.numbers)
    if not found.mismatches and (found.metadata.get("empty") or not found.total):
        return verdict_on_nothing(found, arguments, measures)
    rows = [found.metadata.get(f"{side}_rows") for side in ("source", "target")]
    faults = [] if None in rows else lone_side(*(int(str(one)) for one in rows))
    differ = "differs" if found.mismatches == 1 else "differ"
    told = f"{counted(found.total, 'aggregate')} {'agrees' if found.total == 1 else 'agree'}"
    if found.mismatches:
        of = counted(found.total, "aggregate")
        told = f"{found.mismatches:,} of {of} {differ}{_aggregates_text(found)}"
    groups: Sequence[str] = arguments["group_by"]  # type: ignore[assignment]
    by = f", grouped by {', '.join(groups)}" if groups else ""
    share = found.mismatches / found.total if found.total else 0.0
    return Verdict(
        failing=found.mismatches,
        total=found.total,
        excess=found.mismatches,
        share=share,
        measure=share,
        details="; ".join([*faults, f"{told}{by}", scope_text(arguments)]),
        measures=measures,
        passed=not faults and not found.mismatches,
        is_faulty=bool(faults),
    )


def verdict_on_nothing(
    found: PairFound,
    arguments: Arguments,
    measures: Mapping[str, float],
    faults: Sequence[str] = (),
) -> Verdict:
    """The verdict where neither side has a row.

    Two empty tables agree. A partition that is nowhere says nothing of the tables (its value may
    be mistyped), so it is skipped unless `on_empty` decides.
    """
    policy = arguments["on_empty"]
    problems = list(faults)
    if policy == EmptyPolicy.FAIL and _is_narrowed(found, arguments):
        problems.append("nothing was compared")
    told = "; ".join([*problems, _nothing_text(found, arguments)])
    is_nowhere = arguments["partition"] is not None and policy == EmptyPolicy.WARN
    return Verdict(
        failing=0,
        total=found.total,
        excess=0,
        share=0.0,
        measure=0.0,
        details=told,
        measures=measures,
        skipped=is_nowhere and not problems,
        passed=not problems,
    )


def lone_side(source_rows: int, target_rows: int) -> list[str]:
    """That one side has no row while the other has; no tolerance covers that."""
    if bool(source_rows) == bool(target_rows):
        return []
    return [f"the {'target' if source_rows else 'source'} has no rows"]


def number_in(found: PairFound, name: str) -> int:
    """A count that was taken; 0 if it was not."""
    return int(found.numbers.get(name) or 0)


def floats_of(numbers: Mapping[str, int | float | None]) -> dict[str, float]:
    """The numbers as results keep them; one that was not taken is left out."""
    return {name: float(value) for name, value in numbers.items() if value is not None}


def scope_text(arguments: Arguments, found: PairFound | None = None) -> str:
    """Which rows were looked at: of a partition, of the filter, of a sample."""
    choices = _choices(arguments, found)
    if arguments["partition"] is not None:
        part = [f"{_partition_text(arguments)} only"]
    elif arguments["partition_column"] is not None or not choices:
        part = ["full table"]
    else:
        part = []
    return ", ".join([*part, *choices])


def _partition_text(arguments: Arguments) -> str:
    return f"{arguments['partition_column']}={arguments['partition']}"


def _choices(arguments: Arguments, found: PairFound | None = None) -> list[str]:
    """What chose the rows besides the partition."""
    parts = []
    filtered = ["source"] if arguments["where_clause"] is not None else []
    if found is not None and found.metadata.get("target_filtered"):
        filtered.append("target")
    if filtered:
        parts.append(f"{' and '.join(filtered)} filtered")
    if arguments.get("sample") is not None:
        parts.append(f"sample {arguments['sample']} of the keys")
    if found is not None and found.metadata.get("limit_applied"):
        parts.append(f"limit {arguments['limit']:,} rows")
    return parts


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


def _columns_that(found: PairFound, difference: str) -> str:
    return _listed(
        str(one["column"]) for one in _schema_differences(found) if one["difference"] == difference
    )


def _doubles_text(found: PairFound) -> str:
    """The columns whose digits no type holds: equal as doubles is less than equal."""
    columns = _columns_that(found, "compared_as_double")
    return f" (compared as DOUBLE: {columns})" if columns else ""


def _only_in_source(found: PairFound) -> list[str]:
    columns = _columns_that(found, "only_in_source")
    return [f"only in the source: {columns}"] if columns else []


def _key_faults(found: PairFound) -> list[str]:
    uncastable = int(str(found.metadata.get("uncastable_keys") or 0))
    return [f"{counted(uncastable, 'key')} cannot be read as key_cast says"] if uncastable else []


def _lone_side(found: PairFound, arguments: Arguments) -> list[str]:
    """The side that has no row while the other has, also where only a part was looked at."""
    part = ""
    if arguments.get("sample") is not None:
        part = " in the sample"
    elif found.metadata.get("limit_applied"):
        part = " within the limit"
    told = lone_side(_rows_of(found, "source"), _rows_of(found, "target"))
    return [f"{fault}{part}" for fault in told]


def _rows_of(found: PairFound, side: str) -> int:
    """The rows of a side; its keys where rows were not counted."""
    rows = found.numbers.get(f"{side}_rows")
    if rows is not None:
        return int(rows)
    return number_in(found, "total_keys") - number_in(found, f"missing_in_{side}")


def _is_narrowed(found: PairFound, arguments: Arguments) -> bool:
    """Whether a filter, a partition or a sample chose the rows."""
    given = (arguments["where_clause"], arguments["partition"], arguments.get("sample"))
    by_filter = found.metadata.get("empty_reason") == "selection"
    return by_filter or any(one is not None for one in given)


def _nothing_text(found: PairFound, arguments: Arguments) -> str:
    if arguments["partition"] is not None:
        told = f"partition {_partition_text(arguments)} has no rows on either side"
        return ", ".join([told, *_choices(arguments)])
    if not _is_narrowed(found, arguments):
        # Only who looked can tell an empty table from one whose rows its filter left out.
        is_told = found.metadata.get("empty_reason") == "tables"
        told = "both tables are empty" if is_told else "no rows on either side"
        return f"warning: {told}; {scope_text(arguments)}"
    warning = "warning: " if arguments["on_empty"] == EmptyPolicy.WARN else ""
    told = "the filter or sample selects no row on either side"
    return f"{warning}{told}; {scope_text(arguments)}"


def _listed(texts: Iterable[str]) -> str:
    """The first few, and how many more there are."""
    given = list(texts)
    more = len(given) - _LISTED_MAX
    return ", ".join(given[:_LISTED_MAX]) + (f" and {more:,} more" if more > 0 else "")
