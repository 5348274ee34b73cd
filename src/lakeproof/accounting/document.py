"""The ledger as a document: what a run's books say, in memory and as JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from lakeproof.accounting.json_form import (
    Tree,
    TreeReader,
    canonical_sha256,
    parse_object,
    print_object,
    put_back,
    to_tree,
)
from lakeproof.accounting.run_directory import (
    FAILED_LEDGER_FILE,
    LEDGER_FILE,
    MANIFEST_FILE,
    relative_location,
)
from lakeproof.accounting.storage import Storage, join, parent, storage_for
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    InputAccounting,
    KeyUniqueness,
    Level,
    Lineage,
    OutputAccounting,
    PartitionType,
    Verification,
)
from lakeproof.model.printable import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeproof.accounting.without_spark.tracing import Trace

LEDGER_VERSION: Final = "1.1"
KNOWN_MAJOR: Final = "1"
SELF_DIGEST: Final = "self_sha256"
_VERSION: Final = re.compile(r"(\d+)\.\d+")


@dataclass(frozen=True, slots=True)
class PreviousLedger:
    """The ledger before this one: where it is, relative to this one, and its SHA-256."""

    location: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The document: what `ledger.json` of a balanced run says, or `ledger.failed.json` of another.

    `discrepancy` is None exactly if the books balance. `manifest_sha256` is of the manifest beside
    it. `unknown` holds fields of later versions by JSON pointer; they are written back as they were
    read.
    """

    ledger_version: str
    run_id: str
    input_dataset: str
    input_accounting: InputAccounting
    output_accounting: OutputAccounting
    verification: Verification
    level: Level = Level.COMMIT
    lineage: Lineage = Lineage.KEY_DERIVABLE
    salt: str = ""
    started_at: str = ""
    finished_at: str = ""
    openlineage_run_id: str = ""
    inputs: tuple[InputAccounting, ...] = ()
    discrepancy: AccountingDiscrepancy | None = None
    previous: PreviousLedger | None = None
    manifest_sha256: str = ""
    unknown: Mapping[str, object] = field(default_factory=dict)
    directory: str = field(default="", compare=False)

    @property
    def balanced(self) -> bool:
        return self.discrepancy is None and self.verification.accounting_balanced

    @property
    def all_inputs(self) -> tuple[InputAccounting, ...]:
        """Every input; a ledger 1.0 has one."""
        return self.inputs or (self.input_accounting,)

    def trace(self, key: str) -> Trace:
        """What became of one record of the input."""
        from lakeproof.accounting.without_spark.tracing import trace

        return trace(self, key)

    def sources(self, group: Mapping[str, object], morphism_id: str = "") -> list[str]:
        """The keys of the records that one aggregated row was made of."""
        from lakeproof.accounting.without_spark.tracing import sources

        return sources(self, group, morphism_id)


def ledger_to_json(ledger: Ledger) -> str:
    """The document as text: the fields of 1.0 first, in the order users know.

    `self_sha256`, last, is a digest of all the rest. It shows that a number was edited; it proves
    nothing, since whoever edits can compute it again.
    """
    tree: Tree = to_tree(ledger)
    put_back(tree, ledger.unknown)
    return print_object({**tree, SELF_DIGEST: self_sha256_of(tree)})


def ledger_from_json(text: str | bytes, where: str = LEDGER_FILE) -> Ledger:
    """The document that a text is; whatever it lacks is said with file and field.

    A version 1.0 claims no more than it knew: records were counted, keys not checked for
    uniqueness, and every key was stored.
    """
    tree = parse_object(text, where)
    _ensure_known_version(tree, where)
    tree.pop(SELF_DIGEST, None)
    if tree["ledger_version"] == "1.0":
        _add_what_1_0_meant(tree)
    reader = TreeReader(where)
    read = reader.read(Ledger, tree)
    counts = _by_today_s_names(read.verification.partition_counts)
    verification = replace(read.verification, partition_counts=counts)
    return replace(read, verification=verification, unknown=reader.unknown)


def load_ledger(path: str | os.PathLike[str], spark: SparkSession | None = None) -> Ledger:
    """The ledger of a run directory, or in a file; of a failed run, its failed ledger.

    Spark is needed only for places that nothing else reaches.
    """
    place = os.fspath(path).rstrip("/") or "/"
    storage = storage_for(place, spark)
    file = ledger_file(place, storage)
    read = ledger_from_json(storage.read_bytes(file), file)
    return replace(read, directory=parent(file))


def ledger_file(place: str, storage: Storage) -> str:
    """The file that holds the ledger of this run directory, or the file itself."""
    if not storage.exists(place):
        raise LedgerError(f"there is no ledger at {place}: no such file or run directory")
    if not storage.is_folder(place):
        return place
    names = (LEDGER_FILE, FAILED_LEDGER_FILE)
    found = [join(place, name) for name in names if storage.exists(join(place, name))]
    if len(found) > 1:
        raise LedgerError(
            f"{place} holds both {LEDGER_FILE} and {FAILED_LEDGER_FILE}, which no run writes. "
            "Name the file, and ask who copied the other"
        )
    if not found:
        begun = storage.exists(join(place, MANIFEST_FILE))
        told = "the run did not complete" if begun else "it is no run directory"
        raise LedgerError(f"{place} holds no {LEDGER_FILE}: {told}")
    return found[0]


def previous_ledger(
    path: str | os.PathLike[str], directory: str, spark: SparkSession | None = None
) -> PreviousLedger:
    """The link from a ledger in this run directory to the one before it."""
    place = os.fspath(path)
    storage = storage_for(place, spark)
    file = ledger_file(place, storage)
    digest = sha256(storage.read_bytes(file)).hexdigest()
    return PreviousLedger(relative_location(file, directory), digest)


def self_sha256_of(tree: Mapping[str, object]) -> str:
    """The digest that a ledger has of its own fields, recomputed from its JSON object."""
    return canonical_sha256({name: tree[name] for name in tree if name != SELF_DIGEST})


def _ensure_known_version(tree: Mapping[str, Any], where: str) -> None:
    version = tree.get("ledger_version")
    known = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if known is None:
        raise LedgerError(
            f"{where}: ledger_version must be text such as {LEDGER_VERSION!r}, "
            f"found {printable(repr(version))}. Is this a ledger?"
        )
    if known[1] != KNOWN_MAJOR:
        raise LedgerError(
            f"{where}: ledger_version {version} is not one that this release reads "
            f"({KNOWN_MAJOR}.x). Use a newer Lakeproof"
        )


def _add_what_1_0_meant(tree: Tree) -> None:
    tree.setdefault("level", Level.COUNT.value)
    tree.setdefault("lineage", Lineage.FULL.value)
    if isinstance(verification := tree.get("verification"), dict):
        verification.setdefault("level", Level.COUNT.value)
    if isinstance(given := tree.get("input_accounting"), dict):
        given.setdefault("key_uniqueness", KeyUniqueness.ASSUME.value)
        if isinstance(records := given.get("total_records"), int):
            given.setdefault("commitment", {"records": records, "limbs": []})


def _by_today_s_names(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by partition type, where `PASS_THROUGH` is an OUTPUT too."""
    named: dict[str, int] = {}
    for name, records in counts.items():
        kind = PartitionType.OUTPUT.value if name == "PASS_THROUGH" else name
        named[kind] = named.get(kind, 0) + records
    return named
