"""What can be done to the books of a finished run, and what gives it away at each level.

The table of docs/reference/accounting-levels.md is made from `CHANGES` and `FAULTS`, which
test_what_each_level_sees runs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

COUNT, COMMIT, DIGEST = "COUNT", "COMMIT", "DIGEST"
FILTERED = "adjoint/filtered_keys/positive_price_filter.parquet"
GROUPS = "adjoint/groups/daily_revenue_aggregation.parquet"
ERRORS = "errors"
FOREIGN_KEY = "BKG_999999"


@dataclass(frozen=True, slots=True)
class Run:
    """A copy of a finished run and of its input."""

    directory: Path
    dataset: Path


@dataclass(frozen=True, slots=True)
class Change:
    """Done after the ledger was written; which kinds of finding `ledger verify` has of it."""

    what: str
    do: Callable[[Run], None]
    at_count: tuple[str, ...]
    at_commit: tuple[str, ...]
    names: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """Done by the pipeline, before `verify()`; what is said of it, "" where nothing is."""

    what: str
    do: Callable[[Rows], None]
    at_count: str
    at_commit: str


Rows = dict[str, list[str]]
"""The keys of each partition, by its type."""


# --------------------------------------------------------------------------- after the ledger


def change_rows(folder: Path, change: Callable[[list[dict[str, object]]], object]) -> None:
    """Write the fullest Parquet file of a table again, with its rows changed in place."""
    import pyarrow as pa
    from pyarrow import parquet

    files = sorted(folder.glob("*.parquet"))
    table, file = max(
        ((parquet.read_table(file), file) for file in files), key=lambda it: len(it[0])
    )
    rows = table.to_pylist()
    change(rows)
    parquet.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)


def in_filtered(change: Callable[[list[dict[str, object]]], object]) -> Callable[[Run], None]:
    return lambda run: change_rows(run.directory / FILTERED, change)


def double(rows: list[dict[str, object]]) -> None:
    rows.append(rows[1])


def drop_and_double(rows: list[dict[str, object]]) -> None:
    rows[0] = rows[1]


def put_foreign(rows: list[dict[str, object]]) -> None:
    rows[0]["source_key"] = FOREIGN_KEY


def add_foreign(rows: list[dict[str, object]]) -> None:
    rows.append(rows[0] | {"source_key": FOREIGN_KEY})


def error_file(run: Run) -> Path:
    return next((run.directory / ERRORS).glob("error_type=validation/*.json"))


def move_to_errors(run: Run) -> None:
    moved: list[dict[str, object]] = []
    change_rows(run.directory / FILTERED, lambda rows: moved.append(rows.pop(0)))
    record = json.loads(error_file(run).read_text(encoding="utf-8").splitlines()[0])
    record["source_key"] = moved[0]["source_key"]
    with error_file(run).open("a", encoding="utf-8") as out:
        out.write(f"{json.dumps(record)}\n")


def swap_with_error(run: Run) -> None:
    lines = error_file(run).read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])

    def swap(rows: list[dict[str, object]]) -> None:
        rows[0]["source_key"], record["source_key"] = record["source_key"], rows[0]["source_key"]

    change_rows(run.directory / FILTERED, swap)
    text = "\n".join([json.dumps(record), *lines[1:]])
    error_file(run).write_text(f"{text}\n", encoding="utf-8")


def take_from_a_day(run: Run) -> None:
    def take(rows: list[dict[str, object]]) -> None:
        rows[0]["records"] -= 1

    change_rows(run.directory / GROUPS, take)


def raise_revenue(run: Run) -> None:
    def add(rows: list[dict[str, object]]) -> None:
        rows[0]["output"]["total_revenue"] += 1

    change_rows(run.directory / GROUPS, add)


def edit_byte(run: Run) -> None:
    """In the footer, where the file names its writer: every value is still there."""
    file = next((run.directory / GROUPS).glob("*.parquet"))
    data = file.read_bytes()
    assert data.count(b"parquet-mr version") == 1
    file.write_bytes(data.replace(b"parquet-mr version", b"parquet-mr vers1on"))


def edit_number(run: Run) -> None:
    file = run.directory / "ledger.json"
    ledger = json.loads(file.read_text(encoding="utf-8"))
    ledger["output_accounting"]["partitions"][0]["record_count"] += 1
    file.write_text(json.dumps(ledger, indent=2, ensure_ascii=False), encoding="utf-8")


def input_file(run: Run) -> Path:
    return run.dataset / "bookings-1.json"


def drop_line(run: Run) -> None:
    lines = input_file(run).read_text(encoding="utf-8").splitlines(keepends=True)
    input_file(run).write_text("".join(lines[1:]), encoding="utf-8")


def edit_value(run: Run) -> None:
    text = input_file(run).read_text(encoding="utf-8")
    input_file(run).write_text(text.replace('"EUR"', '"USD"', 1), encoding="utf-8")


def remove_table(run: Run) -> None:
    shutil.rmtree(run.directory / FILTERED)


def then(change: Callable[[Run], None], cover: Callable[[Run], None]) -> Callable[[Run], None]:
    def both(run: Run) -> None:
        change(run)
        cover(run)

    return both


def remake_digests(run: Run) -> None:
    """What an editor does who knows the ledger: every digest fits what is there now."""
    _rewrite(run, remake_sums=False)


def remake_everything(run: Run) -> None:
    """Counts and commitments of the partitions too."""
    _rewrite(run, remake_sums=True)


def _rewrite(run: Run, *, remake_sums: bool) -> None:
    from lakeproof.accounting.document import ledger_to_json, load_ledger
    from lakeproof.accounting.storage import LocalStorage
    from lakeproof.model.accounting import AdjointType

    ledger, storage = load_ledger(run.directory), LocalStorage()
    partitions = []
    for part in ledger.output_accounting.partitions:
        place = str(run.directory / part.adjoint_location)
        files = storage.digest(place, storage.files(place))
        remade = replace(part, position=replace(part.position, files=files))
        if remake_sums and part.adjoint_type is not AdjointType.GroupCommitments:
            commitment = _commitment(run.directory / part.adjoint_location, ledger)
            remade = replace(remade, record_count=commitment.records, commitment=commitment)
        partitions.append(remade)
    accounting = replace(ledger.output_accounting, partitions=tuple(partitions))
    counts = {str(part.partition_type): part.record_count for part in partitions}
    verification = replace(ledger.verification, partition_counts=counts)
    ledger = replace(ledger, output_accounting=accounting, verification=verification)
    text = ledger_to_json(ledger)
    (run.directory / "ledger.json").write_text(text, encoding="utf-8")


def _commitment(place: Path, ledger):
    from pyarrow import parquet

    from lakeproof.accounting.without_spark.key_text import Summer

    summer = Summer(ledger.salt, ledger.level)
    if place.name == ERRORS:
        for file in place.glob("error_type=*/*.json"):
            lines = file.read_text(encoding="utf-8").splitlines()
            summer.add_all([json.loads(line)["source_key"] for line in lines])
    else:
        for file in place.glob("*.parquet"):
            summer.add_all(parquet.read_table(file)["source_key"].to_pylist())
    return summer.commitment


CHANGES = (
    Change("nothing", lambda _: None, (), ()),
    Change(
        "a filtered record is dropped",
        in_filtered(lambda rows: rows.pop(0)),
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "a filtered record is stored twice",
        in_filtered(double),
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "one filtered record is dropped, another stored twice",
        in_filtered(drop_and_double),
        (DIGEST,),
        (COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "a key from elsewhere takes the place of a filtered record's",
        in_filtered(put_foreign),
        (DIGEST,),
        (COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "a key from elsewhere is added to the filtered ones",
        in_filtered(add_foreign),
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "a record is moved from the filtered ones to the errors",
        move_to_errors,
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "ERROR",
    ),
    Change(
        "a filtered record and an error change places",
        swap_with_error,
        (DIGEST,),
        (COMMIT, DIGEST),
        "ERROR",
    ),
    Change(
        "a day's group loses a record",
        take_from_a_day,
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "AGGREGATED(daily_revenue_aggregation)",
    ),
    Change(
        "a day's revenue is raised",
        raise_revenue,
        (DIGEST,),
        (DIGEST,),
        "AGGREGATED(daily_revenue_aggregation)",
    ),
    Change(
        "one byte of an output file is edited", edit_byte, (DIGEST,), (DIGEST,), "daily_revenue"
    ),
    Change(
        "the table of the filtered keys is removed",
        remove_table,
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "FILTERED(positive_price_filter)",
    ),
    Change(
        "a number in ledger.json is edited", edit_number, (COUNT, DIGEST), (COUNT, DIGEST), "record"
    ),
    Change(
        "a record of the input is dropped",
        drop_line,
        (COUNT, DIGEST),
        (COUNT, COMMIT, DIGEST),
        "bookings-1.json",
    ),
    Change("a value in the input is edited", edit_value, (DIGEST,), (DIGEST,), "bookings-1.json"),
    Change(
        "one filtered record is dropped, another stored twice, and all digests are made again",
        then(in_filtered(drop_and_double), remake_digests),
        (),
        (COMMIT,),
    ),
    Change(
        "a filtered record and an error change places, and all digests are made again",
        then(swap_with_error, remake_digests),
        (),
        (COMMIT,),
    ),
    Change(
        "a day's revenue is raised, and all digests are made again",
        then(raise_revenue, remake_digests),
        (),
        (),
    ),
    Change(
        "a record is moved to the errors, and digests, counts and commitments are made again",
        then(move_to_errors, remake_everything),
        (),
        (),
    ),
)


# -------------------------------------------------------------------------- before the ledger


def _drop(rows: Rows) -> None:
    rows["FILTERED"].pop()


def _count_twice(rows: Rows) -> None:
    rows["ERROR"].append(rows["AGGREGATED"][0])


def _drop_and_count_twice(rows: Rows) -> None:
    _drop(rows)
    _count_twice(rows)


def _invent(rows: Rows) -> None:
    rows["FILTERED"].append(FOREIGN_KEY)


def _replace(rows: Rows) -> None:
    rows["FILTERED"][-1] = FOREIGN_KEY


def _capture_nothing(rows: Rows) -> None:
    rows["FILTERED"].clear()


def _misplace(rows: Rows) -> None:
    rows["ERROR"].append(rows["FILTERED"].pop())


FAULTS = (
    Fault("nothing", lambda _: None, "", ""),
    Fault("a record is lost", _drop, "1 missing: BKG_036", "1 missing: BKG_036"),
    Fault(
        "a record is aggregated and is an error too",
        _count_twice,
        "1 duplicate: BKG_001",
        "1 duplicate: BKG_001",
    ),
    Fault(
        "one record is lost, another counted twice",
        _drop_and_count_twice,
        "",
        "1 missing: BKG_036, 1 duplicate: BKG_001",
    ),
    Fault(
        "a record comes from nowhere", _invent, f"1 extra: {FOREIGN_KEY}", f"1 extra: {FOREIGN_KEY}"
    ),
    Fault(
        "a record takes another's place",
        _replace,
        "",
        f"1 missing: BKG_036, 1 extra: {FOREIGN_KEY}",
    ),
    Fault(
        "the filter captures nothing",
        _capture_nothing,
        "6 missing: BKG_031, BKG_032, BKG_033, BKG_034, BKG_035, BKG_036",
        "6 missing: BKG_031, BKG_032, BKG_033, BKG_034, BKG_035, BKG_036",
    ),
    Fault("a record that was filtered is put with the errors", _misplace, "", ""),
)


@dataclass(frozen=True, slots=True)
class LostElement:
    """An element of an exploded record that a plain filter loses; what is said of it."""

    what: str
    element: str
    at_count: str
    at_commit: str


LOST_ELEMENTS = (
    LostElement(
        "the first element of an exploded record is lost",
        "first",
        "1 missing: BKG_001",
        "1 missing: BKG_001",
    ),
    LostElement("a later element of an exploded record is lost", "second", "", ""),
)
