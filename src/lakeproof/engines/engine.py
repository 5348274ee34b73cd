"""What the runner needs of an engine; `spark/` provides it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lakeproof.config import TableSettings
from lakeproof.model.pairing import PairFound
from lakeproof.model.reading import Mark, Mode, Reading
from lakeproof.model.standing import Standing
from lakeproof.model.violation import HitSummary, Samples
from lakeproof.planning.pairs.steps import PairStep
from lakeproof.planning.plan import CallStep, TablePlan
from lakeproof.planning.possible import FileFacts
from lakeproof.planning.read_mode import Abilities
from lakeproof.planning.tables import PinnedTable, TableReader


class Hits(Protocol):
    """Bad rows of one table, held by the engine so that they are computed once."""

    @property
    def view(self) -> str:
        """A view with rule_id, hit_id, violation_key, occurrences, excess, observed."""

    def summaries(self) -> Mapping[str, HitSummary]:
        """What they amount to per rule_id; this reads the table, the first time."""

    def samples_without(self, rule_ids: Sequence[str], left_out: str) -> Mapping[str, Samples]:
        """A few of each of these rules whose hit_id is not in `left_out`, an SQL of such."""

    def release(self) -> None:
        """Let the engine forget them."""


class Rows(Protocol):
    """Rows with their weight (`model.weighing.WEIGHT`), held by the engine until released."""

    @property
    def relation(self) -> str:
        """SQL for a FROM clause, with the columns of the table and the weight."""

    @property
    def is_snapshot(self) -> bool:
        """Whether these are all rows of the table, each once."""

    def release(self) -> None:
        """Let the engine forget them."""


class Weights(Protocol):
    """What rows do to rules."""

    @property
    def standings(self) -> Mapping[str, Standing]:
        """The numbers that they add, by rule_id, without `keys`; a rule in error has none."""

    @property
    def errors(self) -> Mapping[str, str]:
        """Rules that could not be weighed, each with the reason."""

    @property
    def view(self) -> str:
        """The keys that they touch, as `Store.add_weights` takes them; no rule in error."""

    @property
    def tile_view(self) -> str:
        """Keys that are told by tiles, beside those of the view; '' if there are none."""

    def release(self) -> None:
        """Let the engine forget them."""


class ChangeSource(Protocol):
    """The changes of one pinned table as rows with weights: the same for every format."""

    @property
    def mode(self) -> Mode: ...

    @property
    def until(self) -> Mark:
        """Up to where this run reads: fixed when the source was made."""

    def can_read(self, since: Mark) -> Reading:
        """Whether the changes after `since` are to be had; reads metadata only."""

    def changes(self, since: Mark) -> Sequence[Rows]:
        """The changes after `since` up to `until`."""

    def snapshot(self) -> Rows:
        """Every row as of `until`, each with weight 1."""

    def present(self) -> Rows:
        """The same rows to look some up: not held, though a table without history may move."""

    @property
    def kept_id(self) -> str:
        """The id under which it keeps rows from run to run; '' if the table remembers itself."""

    def to_keep(self) -> Rows | None:
        """What to keep after `changes` or `snapshot` was called; None if there is nothing new."""

    def missed(self, since: Mark, rows_counted: int) -> int | None:
        """How many rows it knows it did not see; None if it sees everything."""

    def release(self) -> None:
        """Let the engine forget the rows of it; a feed may be asked and read again after that."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a table is, by its metadata."""

    files: int
    size_bytes: int


class FileStatistics(Protocol):
    """What the metadata of a pinned table say of each of its data files."""

    @property
    def facts(self) -> FileFacts: ...

    def release(self) -> None:
        """Let the engine forget them."""


class ChosenFiles(Protocol):
    """Some data files of a pinned table."""

    @property
    def relation(self) -> str:
        """SQL for a FROM clause that reads their rows and no others."""

    def release(self) -> None:
        """Let the engine forget them."""


class Engine(TableReader, Protocol):
    """Runs SQL over pinned tables. Never writes, never stops the session it was given."""

    def ensure_ready(self) -> None:
        """Raise EngineUnavailableError if nothing can be asked, or files might be skipped."""

    def fetch_row(self, sql: str, timeout_seconds: float | None) -> Mapping[str, object]:
        """The one row of an aggregate statement; RuleTimeoutError past the limit."""

    def fetch_texts(self, sql: str, timeout_seconds: float | None) -> Sequence[str]:
        """The one column of a statement, which has few rows."""

    def extent(self, pinned: PinnedTable) -> Extent:
        """How large the table is; reads no row."""

    def file_statistics(
        self, pinned: PinnedTable, columns: Collection[tuple[str, ...]]
    ) -> FileStatistics:
        """What is known of these columns in each file of an Iceberg or Delta table."""

    def chosen_files(
        self, pinned: PinnedTable, paths: Collection[str], *, may_filter: bool = False
    ) -> ChosenFiles | None:
        """Only these files of the table; None where they cannot be read without the others.

        `may_filter`: then the others may be read too, and their rows are left out.
        """

    def call(
        self, step: CallStep, pinned: PinnedTable, now: datetime, timeout_seconds: float | None
    ) -> object | None:
        """Call the user's function; gives its value, or None if rows are in the step's view."""

    def compare(self, step: PairStep, timeout_seconds: float | None) -> PairFound:
        """Hold two tables against each other; the step's view has what differs."""

    def release_pair(self, step: PairStep, *, forget: bool = False) -> None:
        """Give back the memory of what differs; with `forget` nobody will read it again."""

    def hold_hits(self, sql: str, timeout_seconds: float | None) -> Hits:
        """Bad rows by a statement as `planning.bad_rows` writes it."""

    def abilities(self, pinned: PinnedTable, settings: TableSettings) -> Abilities:
        """How the table's changes could be read, by its metadata."""

    def change_source(
        self, pinned: PinnedTable, mode: Mode, settings: TableSettings, kept: str | None
    ) -> ChangeSource:
        """The changes of the table up to where it is pinned; `kept` is SQL of `Store.kept`."""

    def weigh(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[Rows],
        timeout_seconds: float | None,
    ) -> Weights:
        """What these rows of the checked table do to the rules."""

    def weigh_parents(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        rows: Sequence[Rows],
        timeout_seconds: float | None,
    ) -> Weights:
        """What these rows of the table referred to do to the rules: weights on side `parent`."""

    def weigh_again(
        self,
        plan: TablePlan,
        rule_ids: Sequence[str],
        view: str,
        timeout_seconds: float | None,
        besides: Sequence[str] = (),
        rows: Rows | None = None,
    ) -> Weights:
        """What keys weigh now against what is known of them (`Store.known_keys`), as corrections.

        `besides` are views of weights that the same batch adds. `rows` are those that count, if
        not every row of the table does (`ChangeSource.present`).
        """
