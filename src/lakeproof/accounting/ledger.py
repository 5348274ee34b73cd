"""The books of one pipeline run: opened on its input, closed when every record is accounted for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakeproof.accounting.adding import with_partition
from lakeproof.accounting.balancing import ensure_source
from lakeproof.accounting.choices import key_names, one_of, overlap_of
from lakeproof.accounting.closing import RunFiles, say
from lakeproof.accounting.composing import compose_ledger
from lakeproof.accounting.diagnostics import (
    NOT_INITIALIZED,
    balanced_line,
    failure_text,
    masked,
    violated_line,
)
from lakeproof.accounting.document import (
    Ledger,
    ledger_to_json,
    load_ledger,
    previous_ledger,
)
from lakeproof.accounting.judging import Books, Verdict, judge, judge_stopped
from lakeproof.accounting.listening import BREACHED, UNBALANCED, LedgerListener, tell
from lakeproof.accounting.manifest import (
    Manifest,
    RunSettings,
    manifest_to_json,
    new_manifest,
)
from lakeproof.accounting.opening import (
    Dataset,
    DeclaredInput,
    OpenedInput,
    open_all,
    open_declared,
)
from lakeproof.accounting.run_directory import LEDGER_FILE, MANIFEST_FILE, absolute_place
from lakeproof.accounting.storage import LocalStorage, Storage, join, storage_for
from lakeproof.accounting.thresholds import ErrorThresholds, thresholds_of
from lakeproof.errors import AccountingFailureException, LedgerError
from lakeproof.faults import reach
from lakeproof.model.accounting import (
    AccountingDiscrepancy,
    AllowedOverlap,
    InputAccounting,
    KeyUniqueness,
    Level,
    Lineage,
    OutputPartition,
    Verification,
)
from lakeproof.model.column import folded
from lakeproof.model.run_id import ensure_run_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeproof.accounting.adjoint import AdjointConfig, AdjointResult
    from lakeproof.accounting.without_spark.tracing import Trace
    from lakeproof.engines.spark.accounting.inputs import AccountedInput


_FIRST_INPUT = "input"


class AccountingLedger:
    """Keeps the books of one run: every record of the input is in exactly one partition.

    `output_dir` is the run's directory, which must be empty: it is written once. Begin with
    `initialize_input`, read the input by `input_frame`, capture what steps drop by the adjoint
    helpers with a configuration from `adjoint`, add their partitions, then `finish`. `verify` and
    `write_ledger` are the two halves of that, for those who decide themselves what to do.

    `level` is COMMIT, COUNT or OFF; `lineage` FULL, KEY_DERIVABLE or NONE; `key_uniqueness`
    require, allow or assume. `previous` is the ledger before this one, to be chained to it.
    `thresholds` are ErrorThresholds or a preset's name: default, strict, permissive.
    `sensitive` names key columns whose values no report may show.
    """

    load_ledger = staticmethod(load_ledger)

    def __init__(  # noqa: PLR0913 (the seed's four, then keywords, each a word that users know)
        self,
        run_id: str,
        input_dataset_path: Dataset,
        output_dir: str | os.PathLike[str],
        spark: SparkSession,
        *,
        input_format: str = "",
        schema: StructType | str | None = None,
        options: Mapping[str, str] | None = None,
        input_name: str = _FIRST_INPUT,
        level: Level | str = Level.COMMIT,
        lineage: Lineage | str = Lineage.KEY_DERIVABLE,
        key_uniqueness: KeyUniqueness | str = KeyUniqueness.REQUIRE,
        allowed_overlaps: Sequence[AllowedOverlap | Mapping[str, Any]] = (),
        empty_input: str = "allow",
        sensitive: Sequence[str] = (),
        thresholds: ErrorThresholds | str | None = None,
        epoch: str = "",
        previous: str | os.PathLike[str] | None = None,
        listeners: Sequence[LedgerListener] = (),
        config: Mapping[str, object] | None = None,
    ) -> None:
        ensure_run_id(run_id)
        self.run_id = run_id
        self.output_dir = os.fspath(output_dir)
        self.level = one_of(Level, level, "level")
        self.lineage = one_of(Lineage, lineage, "lineage")
        self.key_uniqueness = one_of(KeyUniqueness, key_uniqueness, "key_uniqueness")
        if empty_input not in {"allow", "deny"}:
            raise LedgerError(f"empty_input is {empty_input!r}; it may be 'allow' or 'deny'")
        self._denies_empty = empty_input == "deny"
        self._overlaps = tuple(map(overlap_of, allowed_overlaps))
        self._sensitive = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        self._thresholds = thresholds_of(thresholds)
        self._epoch = epoch
        self._config = dict(config or {})
        self._listeners = tuple(listeners)
        self._spark = spark
        self._storage: Storage = storage_for(self.output_dir, spark)
        if isinstance(self._storage, LocalStorage):
            self.output_dir = absolute_place(self.output_dir)
        self._files = RunFiles(self._storage, self.output_dir)
        self._declared = [
            DeclaredInput(input_name, input_dataset_path, input_format, schema, dict(options or {}))
        ]
        self._previous = previous_ledger(previous, self.output_dir, spark) if previous else None
        self._manifest: Manifest | None = None
        self._inputs: dict[str, AccountedInput] = {}
        self._partitions: list[OutputPartition] = []
        self._measured: tuple[OutputPartition, ...] = ()
        self._error_summary = ""
        self._verdict: Verdict | None = None
        self._is_failure_told = False
        self._document: Ledger | None = None

    # -------------------------------------------------------------------------------- the input

    def add_input(
        self,
        name: str,
        dataset: Dataset,
        source_key_field: str | Sequence[str],
        *,
        input_format: str = "",
        schema: StructType | str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Declare one more input, with an equation of its own; before `initialize_input`."""
        if self._inputs:
            raise LedgerError(f"input {name!r} comes too late: add inputs before initialize_input")
        if any(item.name == name for item in self._declared):
            raise LedgerError(f"there is an input {name!r} already; give this one another name")
        key = key_names(source_key_field)
        self._declared.append(
            DeclaredInput(name, dataset, input_format, schema, dict(options or {}), key)
        )

    def initialize_input(self, source_key_field: str | Sequence[str]) -> InputAccounting:
        """Pin the input, write the manifest, and take the sums of all its keys in one pass."""
        if self._inputs:
            raise LedgerError("initialize_input was called before; a run has one beginning")
        self._declared[0] = replace(self._declared[0], key=key_names(source_key_field))
        self._ensure_sensitive()
        if self.level is Level.OFF:
            return InputAccounting(0, ", ".join(self._declared[0].key))
        if not self._storage.is_empty(self.output_dir):
            raise LedgerError(
                f"{self.output_dir} is not empty, and a run's directory is written once. "
                "Take a new one: new_run_directory(root, run_id)"
            )
        opened = open_all(self._declared, self._spark)
        manifest = self._begun(opened)
        self._manifest = manifest
        tell(self._listeners, lambda listener: listener.started(manifest))
        self._inputs = {
            name: item.account(manifest.salt, self.level, self.key_uniqueness)
            for name, item in opened.items()
        }
        return self._first.accounting

    def input_frame(self, name: str = "") -> DataFrame:
        """The pinned input as a frame; each record carries its key in a hidden column.

        Files that appear later are not in it. At level OFF it is the plain input.
        """
        if self.level is Level.OFF:
            return open_declared(self._declared_as(name), self._spark).pinned.plain_frame()
        if not self._inputs:
            raise LedgerError(f"{NOT_INITIALIZED}: call initialize_input first")
        found = self._inputs[self._declared_as(name).name]
        frame = found.frame()
        if len(self._inputs) == 1:
            return frame
        from lakeproof.engines.spark.accounting.source_keys import SOURCE, text_sql

        return frame.selectExpr("*", f"{text_sql(found.accounting.name)} AS {SOURCE}")

    # ---------------------------------------------------------------------------- the partitions

    def adjoint(self, morphism_id: str, **options: Any) -> AdjointConfig:  # noqa: ANN401
        """The configuration of one step of this run; options are those of `AdjointConfig`."""
        from lakeproof.accounting.adjoint import AdjointConfig

        if self.level is not Level.OFF and self._manifest is None:
            raise LedgerError(f"{NOT_INITIALIZED}: call initialize_input first")
        terms: dict[str, Any] = {
            "level": self.level,
            "lineage": self.lineage,
            "on_breach": lambda _: self.verify(),
        }
        if self._inputs:
            terms["records"] = sum(item.accounting.total_records for item in self._inputs.values())
        if self._thresholds is not None:
            terms["thresholds"] = self._thresholds
        return AdjointConfig(morphism_id, self.run_id, self.output_dir, **{**terms, **options})

    def add_partition(self, partition: OutputPartition) -> None:
        """Register records that share a fate; their keys are read from storage by `verify`.

        A relative location lies in the run directory if something is there, else in the working
        directory. An output may be a table, by its name.
        """
        if isinstance(self._verdict, AccountingDiscrepancy) or self._document is not None:
            raise LedgerError("this run is closed; start another in a new directory")
        ensure_source(partition, [item.name for item in self._declared])
        self._partitions = with_partition(self._partitions, partition, self.output_dir, self._spark)
        self._verdict = None

    def add_result(self, result: AdjointResult) -> None:
        """Register all partitions of a helper's result; a lossy step has none."""
        for partition in result.partitions:
            self.add_partition(partition)

    # ------------------------------------------------------------------------------- the verdict

    def verify(self) -> Verdict:
        """Read again what is on storage and hold it against the input; data never raises.

        If the books do not balance, the differing keys are named, listed and written down beside
        the manifest, and the run stays failed. After `write_ledger` the verdict stays what it was.
        """
        if self.level is Level.OFF:
            raise LedgerError("at level OFF no books are kept, so there is nothing to verify")
        if not self._inputs:
            return AccountingDiscrepancy(NOT_INITIALIZED)
        breach = self._files.breach() if self._document is None else None
        verdict = self._verdict
        if verdict is None or (self._document is None and isinstance(verdict, Verification)):
            verdict = self._verdict = self._judged(breach[0] if breach else "")
        if isinstance(verdict, AccountingDiscrepancy):
            self._tell_failure(verdict, breach)
        return verdict

    def write_ledger(self, verification: Verification) -> Ledger:
        """Write ledger.json, last and atomically; only for the balanced verdict of this ledger."""
        if self._document is not None:
            raise LedgerError(f"the ledger of run {self.run_id!r} is written already")
        if verification is not self._verdict or not isinstance(verification, Verification):
            raise LedgerError(
                "this is not the verification that verify() of this ledger returned last; "
                "only a balanced run has a ledger.json"
            )
        self._files.ensure_not_failed()
        self._files.write_summary(self._error_summary)
        document = self._as_document(verification)
        reach("before_ledger")
        text = ledger_to_json(document)
        self._storage.write_new(join(self.output_dir, LEDGER_FILE), text.encode())
        reach("after_ledger")
        self._document = document
        tell(self._listeners, lambda listener: listener.completed(document))
        return document

    def finish(self) -> Ledger | None:
        """Verify, then write the ledger or raise AccountingFailureException; None at level OFF."""
        if self.level is Level.OFF:
            return None
        verdict = self.verify()
        if isinstance(verdict, AccountingDiscrepancy):
            say(violated_line(verdict.message))
            raise AccountingFailureException(verdict, self.output_dir)
        document = self.write_ledger(verdict)
        say(balanced_line(verdict.input_count))
        return document

    # ------------------------------------------------------------------------------ the questions

    def trace(self, key: str) -> Trace:
        """What became of the record with this key, written as `source_key` has it."""
        return self._written().trace(key)

    def sources(self, group: Mapping[str, object], morphism_id: str = "") -> list[str]:
        """The keys of the records that were aggregated into this group."""
        return self._written().sources(group, morphism_id)

    # --------------------------------------------------------------------------------- beneath

    @property
    def _first(self) -> AccountedInput:
        return next(iter(self._inputs.values()))

    @property
    def _begun_manifest(self) -> Manifest:
        if self._manifest is None:
            raise LedgerError(f"{NOT_INITIALIZED}: call initialize_input first")
        return self._manifest

    def _declared_as(self, name: str) -> DeclaredInput:
        for item in self._declared:
            if name in {"", item.name}:
                return item
        known = ", ".join(repr(item.name) for item in self._declared)
        raise LedgerError(f"there is no input {name!r}; this ledger has {known}")

    def _begun(self, opened: Mapping[str, OpenedInput]) -> Manifest:
        """The manifest, written before a row is read: the salt may not depend on the data."""
        settings = RunSettings(self.level, self.lineage, self.key_uniqueness, self._epoch)
        manifest = new_manifest(
            self.run_id,
            settings,
            tuple(item.for_manifest() for item in opened.values()),
            config=self._config,
            engine={"spark": self._spark.version},
        )
        self._storage.write_new(
            join(self.output_dir, MANIFEST_FILE), manifest_to_json(manifest).encode()
        )
        reach("after_manifest")
        return manifest

    def _ensure_sensitive(self) -> None:
        known = {folded(name): name for item in self._declared for name in item.key}
        for name in self._sensitive:
            if folded(name) not in known:
                raise LedgerError(
                    f"sensitive names {name!r}, which is no key column; reports show only keys, "
                    f"of {', '.join(known.values())}"
                )

    def _judged(self, breach: str) -> Verdict:
        books = Books(
            spark=self._spark,
            directory=self.output_dir,
            inputs=tuple(self._inputs.values()),
            partitions=tuple(self._partitions),
            salt=self._begun_manifest.salt,
            level=self.level,
            overlaps=self._overlaps,
            denies_empty=self._denies_empty,
        )
        judged = judge_stopped(books, breach) if breach else judge(books)
        self._measured, self._error_summary = judged.partitions, judged.error_summary
        return masked(judged.verdict) if self._sensitive else judged.verdict

    def _tell_failure(
        self, discrepancy: AccountingDiscrepancy, breach: tuple[str, int] | None
    ) -> None:
        """Write down why, then tell the listeners; only then the caller hears of it.

        If writing fails, the run has failed all the same: `verify` again writes what is lacking.
        """
        if self._is_failure_told:
            return
        self._files.write_summary(self._error_summary)
        self._files.write_failure(
            failure_text(self.run_id, self._declared[0].called, discrepancy),
            ledger_to_json(self._as_document(discrepancy)),
        )
        self._is_failure_told = True
        reason, count = (BREACHED, breach[1]) if breach else (UNBALANCED, discrepancy.error_count)
        tell(self._listeners, lambda listener: listener.failed(reason, count, discrepancy))

    def _as_document(self, verdict: Verdict) -> Ledger:
        document = compose_ledger(
            self._begun_manifest,
            [item.accounting for item in self._inputs.values()],
            self._measured,
            verdict,
        )
        return replace(
            document,
            input_dataset=self._declared[0].called,
            previous=self._previous,
            directory=self.output_dir,
        )

    def _written(self) -> Ledger:
        if self._document is None:
            raise LedgerError("there is no ledger to ask yet: finish() the run first")
        return self._document
