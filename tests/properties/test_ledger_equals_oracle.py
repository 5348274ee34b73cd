"""Books that are kept by Spark and books kept by hand say the same of generated pipelines."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import pytest
from generated_datasets import FORMATS
from generated_pipelines import FAULTS, IN_THE_PIPELINE, Pipeline, pipeline_of
from tampered_partitions import Shelf, Tamperer, read_rows, read_table

from lakeproof.accounting.adjoint import (
    Requirement,
    errors_with_adjoint,
    explode_with_adjoint,
    filter_with_adjoint,
    group_by_with_adjoint,
)
from lakeproof.accounting.ledger import AccountingLedger
from lakeproof.accounting.without_spark.verifying import verify_ledger
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    AdjointType,
    AllowedOverlap,
    OutputPartition,
    PartitionType,
    Verification,
)
from oracle.conditions import compare
from oracle.ledger_books import (
    Explode,
    Fate,
    Filter,
    Forge,
    Group,
    Keep,
    Lose,
    Repeat,
    Row,
    Step,
    Validate,
    Verdict,
    fates_of,
    limbs_of,
    records_of,
    verdict_of,
)
from spark_settings import for_few_records

KEY, WEIGHT = "_lakeproof_key", "_lakeproof_weight"
LIMBS = ("limb_0", "limb_1")
FEW, MANY = range(40), range(1000, 2000)
TOTALS = ["count(*) AS lines", "sum(n) AS total"]


@dataclass
class Run:
    """One pipeline on Spark: its ledger, and where each partition's rows lie."""

    spark: object
    pipeline: Pipeline
    folder: Path
    shelves: dict[str, Shelf] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pipeline, dataset = self.pipeline, self.pipeline.dataset
        dataset.write(self.folder / "input")
        place = str(self.folder / "input")
        given = self.spark.read.parquet(place) if dataset.format == "frame" else place
        self.ledger = AccountingLedger(
            f"seed-{pipeline.seed}",
            given,
            self.folder / "run",
            self.spark,
            input_format="" if dataset.format == "frame" else dataset.format,
            schema=dataset.schema,
            options={"header": str(dataset.has_header).lower()} if dataset.format == "csv" else {},
            level=pipeline.level,
            lineage=pipeline.lineage,
            key_uniqueness=pipeline.key_uniqueness,
            allowed_overlaps=[
                AllowedOverlap(pipeline.overlap_names, "planted", pipeline.overlap_max)
            ]
            if pipeline.overlap_max is not None
            else (),
        )

    def go(self) -> None:
        self.input = self.ledger.initialize_input(list(self.pipeline.dataset.key))
        frame = self.ledger.input_frame()
        for step in self.pipeline.steps:
            frame = self.take(step, frame)

    def take(self, step: Step, frame):
        from pyspark.sql import functions as F  # noqa: N812 - PySpark's own custom

        match step:
            case Filter(name, condition, is_captured):
                config = self.ledger.adjoint(name)
                result = filter_with_adjoint(
                    frame, condition.sql, capture_filtered=is_captured, config=config
                )
            case Validate(name, demands):
                asked = [
                    Requirement(one.name, one.condition.sql, one.error_type, one.error_code)
                    for one in demands
                ]
                result = errors_with_adjoint(frame, asked, config=self.ledger.adjoint(name))
            case Explode(name, column):
                result = explode_with_adjoint(frame, column, config=self.ledger.adjoint(name))
            case Group(name, columns):
                config = self.ledger.adjoint(name)
                result = group_by_with_adjoint(frame, list(columns), TOTALS, config=config)
            case Keep(name):
                return self.keep(name, frame)
            case Lose(key):
                return frame.where(F.col(KEY) != key)
            case Repeat(key):
                return frame.unionAll(frame.where(F.col(KEY) == key))
            case Forge(key, other):
                forged = F.when(F.col(KEY) == key, other).otherwise(F.col(KEY))
                return frame.withColumn(KEY, forged)
        self.ledger.add_result(result)
        for part in result.partitions:
            self.shelves[part.name] = self.shelf(part)
        return result.output

    def keep(self, name: str, frame) -> None:
        """An honest output may drop what is hidden, if its own columns identify its records."""
        rows = self.pipeline.dataset.rows
        has_own_key = (
            not self.pipeline.fault
            and self.pipeline.seed % 2
            and all(row.has_key for row in rows)
            and not any(isinstance(step, Explode) for step in self.pipeline.steps)
        )
        if has_own_key:
            frame = frame.drop(*(one for one in frame.columns if one.startswith("_lakeproof_")))
        place = self.folder / "output"
        frame.write.parquet(str(place))
        part = OutputPartition(
            PartitionType.OUTPUT, "", None, AdjointType.PassThrough, str(place), morphism_id=name
        )
        self.ledger.add_partition(part)
        self.shelves[part.name] = Shelf(place, "" if has_own_key else KEY, WEIGHT)

    def shelf(self, part: OutputPartition) -> Shelf:
        key = "" if part.adjoint_type is AdjointType.GroupCommitments else "source_key"
        return Shelf(self.folder / "run" / part.adjoint_location, key, WEIGHT)

    # ---------------------------------------------------------------------- what storage says

    def stored(self, name: str) -> Counter[tuple[object, ...]]:
        """Each row of a partition that keeps keys: key, weight, and its reason, error or group."""
        shelf = self.shelves[name]
        return Counter(
            (row[shelf.key], row.get(shelf.weight, 1), *self.detail(row))
            for row in read_rows(shelf.folder)
        )

    def detail(self, row: dict[str, object]) -> tuple[object, ...]:
        if "reason" in row:
            return (row["reason"],)
        if "error_type" in row:
            return (row["error_type"], row["error_code"])
        group = row.get("group_key")
        return tuple(group.values()) if isinstance(group, dict) else ()

    def groups(self, name: str) -> dict[tuple[object, ...], tuple[object, ...]]:
        """Of each group its records, rows, sums of hashes, and what the user asked for."""
        morphism = name.removeprefix("AGGREGATED(").removesuffix(")")
        rows = read_table(
            self.folder / "run" / "adjoint" / "groups" / f"{morphism}.parquet"
        ).to_pylist()
        limbs = LIMBS if self.pipeline.level == "COMMIT" else ()
        return {
            self.detail(row): (
                row["records"],
                row["rows"],
                tuple(row[limb] for limb in limbs),
                row["output"],
            )
            for row in rows
        }


# ---------------------------------------------------------------------------- what must be so


def expected_rows(fates: Iterable[Fate]) -> Counter[tuple[object, ...]]:
    return Counter((one.row.key, one.row.weight, *one.detail) for one in fates)


def expected_groups(run: Run, fates: Iterable[Fate]) -> dict[object, object]:
    salt = run.ledger._begun_manifest.salt
    by_group: dict[tuple[object, ...], list[Fate]] = defaultdict(list)
    if Group("sums", ()) in run.pipeline.steps:
        by_group[()] = []  # a total over nothing is one row
    for one in fates:
        by_group[one.detail].append(one)
    found = {}
    for group, members in by_group.items():
        numbers = [one.row.values["n"] for one in members if one.row.values["n"] is not None]
        output = {"lines": len(members), "total": sum(numbers) if numbers else None}
        limbs = limbs_of(records_of(members).elements(), salt)
        found[group] = (
            records_of(members).total(),
            len(members),
            limbs if run.pipeline.level == "COMMIT" else (),
            output,
        )
    return found


def assert_dispositions(run: Run, fates: list[Fate]) -> None:
    by_name: dict[str, list[Fate]] = {name: [] for name in run.shelves}
    for one in fates:
        by_name[one.partition].append(one)
    for name, members in by_name.items():
        if name.startswith("AGGREGATED"):
            assert run.groups(name) == expected_groups(run, members)
        if run.shelves[name].key:
            assert run.stored(name) == expected_rows(members), name


def assert_verdict(run: Run, found: object, honest: list[Fate], fates: list[Fate]) -> None:
    """`honest` are the fates as they were written, `fates` as storage tells them now."""
    pipeline = run.pipeline
    records = Counter(row.key for row in pipeline.dataset.rows)
    expected = seen_by(pipeline, verdict_of(records, fates), records, fates)
    repeated = repeated_keys(pipeline)
    assert run.input.total_records == records.total()
    if expected.balances and not repeated and not is_torn(pipeline, honest, fates):
        assert isinstance(found, Verification), f"{pipeline}: {found}"
        assert found.input_count == records.total()
        assert found.accounted_count == records_of(fates).total()
        kinds = Counter(one.partition.partition("(")[0] for one in fates if one.row.weight)
        assert +Counter(found.partition_counts) == kinds
        return
    assert isinstance(found, AccountingDiscrepancy), f"{pipeline} passed: {expected}"
    assert found.keys_named, f"{pipeline}: {found}"
    missing, extra, duplicate = expected.counts
    counts = (found.missing_count, found.extra_count, found.duplicate_count)
    assert counts == (missing, extra, duplicate + repeated.total()), f"{pipeline}: {found}"
    assert found.missing_keys == tuple(sorted(expected.missing))
    assert found.extra_keys == tuple(sorted(expected.extra))
    assert list(found.duplicate_keys) == sorted({*expected.duplicate, *repeated})
    for key in expected.duplicate:
        assert frozenset(found.duplicate_keys[key]) == expected.partitions[key]


def seen_by(
    pipeline: Pipeline, verdict: Verdict, records: Counter[str], fates: list[Fate]
) -> Verdict:
    """What is left of it at the pipeline's level, and after the overlap that it allows."""
    missing, extra, duplicate = verdict.counts
    if pipeline.level == "COUNT" and missing == extra + duplicate:
        return Verdict()
    meant = Counter(
        {
            key: count
            for key, count in verdict.duplicate.items()
            if is_meant(key, records[key], fates, pipeline.overlap_names)
        }
    )
    if meant.total() <= (pipeline.overlap_max or 0):
        return replace(verdict, duplicate=verdict.duplicate - meant)
    return verdict


def is_meant(key: str, records: int, fates: list[Fate], names: Iterable[str]) -> bool:
    """Whether no name of the overlap has the key more often than the input, and no other place."""
    places = [one.partition for one in fates if one.row.weight and one.row.key == key]
    held = [sum(name in (one[:-1]).split("(") for one in places) for name in names]
    return sum(held) == len(places) and max(held) <= records


def is_torn(pipeline: Pipeline, honest: list[Fate], fates: list[Fate]) -> bool:
    """Whether the stored members of the groups are not those whose sums the groups carry."""
    if pipeline.lineage != "FULL":
        return False
    one, other = (
        records_of(fate for fate in some if fate.partition.startswith("AGGREGATED"))
        for some in (honest, fates)
    )
    return one.total() != other.total() or (pipeline.level == "COMMIT" and one != other)


def repeated_keys(pipeline: Pipeline) -> Counter[str]:
    """Records beyond the first of their key, where there may be none."""
    if pipeline.key_uniqueness != "require":
        return Counter()
    keys = Counter(row.key for row in pipeline.dataset.rows if row.has_key)
    return keys - Counter(keys.keys())


# ------------------------------------------------------------------------------------ the claims


def check_pipeline(spark, seed: int, folder: Path) -> None:
    pipeline = pipeline_of(seed)
    run = Run(spark, pipeline, folder)
    run.go()
    fates = honest = pipeline.fates
    assert_dispositions(run, honest)
    tamperer = Tamperer(random.Random(seed), run.shelves)  # noqa: S311 - picks a row
    if pipeline.fault and pipeline.fault not in IN_THE_PIPELINE:
        tampered = tamperer.commit(pipeline.fault, honest)
        fates = honest if tampered is None else tampered
    found = run.ledger.verify()
    assert_verdict(run, found, honest, fates)
    if isinstance(found, Verification):
        assert_ledger(run, found, tamperer, fates)


def assert_ledger(run: Run, found: Verification, tamperer: Tamperer, fates: list[Fate]) -> None:
    """The verifier without Spark agrees, and sees a fault that comes after the ledger."""
    run.ledger.write_ledger(found)
    place = str(run.folder / "run")
    report = verify_ledger(place)
    assert (report.exit_code, list(report.findings)) == (0, []), run.pipeline
    if any(tamperer.commit(fault, fates) is not None for fault in ("move", "replace")):
        assert verify_ledger(place).exit_code == 1, run.pipeline


def test_few_pipelines_have_something_of_everything():
    few = [pipeline_of(seed) for seed in FEW]
    assert {one.fault for one in few} == {"", *FAULTS}
    assert {one.dataset.format for one in few} == set(FORMATS)
    assert {one.lineage for one in few} == {"FULL", "KEY_DERIVABLE", "NONE"}
    assert {one.key_uniqueness for one in few} == {"require", "allow", "assume"}
    assert {one.level for one in few} == {"COMMIT", "COUNT"}
    assert {type(step) for one in few for step in one.steps} == set(get_args(Step))


@pytest.mark.parametrize("seed", FEW)
def test_books_by_spark_and_by_hand_agree(spark, tmp_path, seed):
    with for_few_records(spark):
        check_pipeline(spark, seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_books_by_spark_and_by_hand_agree_on_many_pipelines(spark, tmp_path, seed):
    with nullcontext() if seed % 5 == 0 else for_few_records(spark):
        check_pipeline(spark, seed, tmp_path)


# ---------------------------------------------------------------------------- the oracle itself


def test_the_oracle_counts_as_a_person_does():
    rows = [Row(key, {"n": n, "tags": tags}) for key, n, tags in PLANTED]
    steps = [
        Filter("positive", compare("n", ">", 0)),
        Explode("apart", "tags"),
        Lose("lost"),
        Repeat("twice"),
        Forge("forged", "other"),
        Group("sums", ("tags",)),
    ]
    fates = fates_of(rows, steps)
    told = sorted((one.row.key, one.partition, one.row.weight, *one.detail) for one in fates)
    assert told == [
        ("empty", "FILTERED(apart)", 1, "EXPLODE_EMPTY"),
        ("many", "AGGREGATED(sums)", 0, "b"),
        ("many", "AGGREGATED(sums)", 1, "a"),
        ("no", "FILTERED(positive)", 1, "PREDICATE_FALSE"),
        ("other", "AGGREGATED(sums)", 1, "a"),
        ("twice", "AGGREGATED(sums)", 1, "a"),
        ("twice", "AGGREGATED(sums)", 1, "a"),
        ("unknown", "FILTERED(positive)", 1, "PREDICATE_NULL"),
    ]
    verdict = verdict_of(Counter(row.key for row in rows), fates)
    assert set(verdict.missing) == {"lost", "forged"}
    assert (set(verdict.extra), set(verdict.duplicate)) == ({"other"}, {"twice"})
    assert verdict.counts == (2, 1, 1)


PLANTED = (
    ("many", 1, ["a", "b"]),
    ("empty", 1, []),
    ("no", 0, ["a"]),
    ("unknown", None, ["a"]),
    ("lost", 1, ["a"]),
    ("twice", 1, ["a"]),
    ("forged", 1, ["a"]),
)
