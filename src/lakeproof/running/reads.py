"""How each table of a run is read, and what the user asks of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakeproof.config import TableSettings
from lakeproof.engines.engine import ChangeSource, Engine
from lakeproof.model.names import TableName
from lakeproof.model.reading import Mode
from lakeproof.planning.plan import TablePlan
from lakeproof.planning.read_mode import AUTO, Choice, Part, Share
from lakeproof.running.progress import Listener
from lakeproof.running.proving import Prover, Proving
from lakeproof.state.store import RuleProgress


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asks of reading: a mode for every table, and whether it may fall back.

    `rebuild` names rules, by rule_key, whose state is to be built anew; `proving` says what may be
    left unread.
    """

    settings_of: Callable[[TableName], TableSettings] = lambda _table: TableSettings()
    mode: str = AUTO
    require_incremental: bool = False
    rebuild: frozenset[str] = frozenset()
    proving: Proving = field(default_factory=Proving)

    def mode_of(self, table: TableName) -> str:
        return self.settings_of(table).mode if self.mode == AUTO else self.mode

    def prover(self, engine: Engine, listener: Listener) -> Prover:
        return Prover(engine, self.proving, self.settings_of, listener)


@dataclass(frozen=True, slots=True)
class TableRead:
    """How one table is read.

    `source` is None where it is read whole; `parents` are the sources of the tables that its rules
    refer to, by rule_id. `kept` is up to where rows were kept under `kept_id`, for a source that
    keeps them, and `watermark_column` the one that is declared, in mode watermark.
    """

    plan: TablePlan
    choice: Choice
    progress: Mapping[str, RuleProgress]
    shares: tuple[Share, ...] = ()
    source: ChangeSource | None = None
    parents: Mapping[str, ChangeSource] = field(default_factory=dict)
    kept_id: str = ""
    kept: RuleProgress | None = None
    watermark_column: str = ""

    @property
    def whole(self) -> tuple[str, ...]:
        return tuple(name for share in self.of(Part.WHOLE) for name in share.rule_ids)

    def of(self, *parts: Part) -> list[Share]:
        return [share for share in self.shares if share.part in parts]

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why each rule is read as it is, by rule_id."""
        return {name: share.reason for share in self.shares for name in share.rule_ids}

    @property
    def is_still(self) -> bool:
        """Whether no rule of the table has anything to read."""
        return all(share.part is Part.STILL for share in self.shares)

    def release(self) -> None:
        for source in {id(one): one for one in self.parents.values()}.values():
            source.release()
        if self.source is not None:
            self.source.release()


def read_whole(plan: TablePlan) -> TableRead:
    """The read of a table in a run that keeps nothing."""
    ids = tuple(dict.fromkeys(rule.rule_id for rule in plan.rules))
    share = Share(Part.WHOLE, ids, plan.mode_reason)
    return TableRead(plan, Choice(Mode.SNAPSHOT, plan.mode_reason), {}, (share,))
