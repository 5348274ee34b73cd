"""A rule on its way from a contract to a plan: a check of ours, or the reason why there is none.

Each form that a contract can be written in has one module that turns an entry into drafts;
`contracts.rules` makes rules of them. One entry may become several drafts, never none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lakeproof.config import Config, ContractSettings
from lakeproof.contracts.contract import Contract, DeclaredRule, Object, Property, Server
from lakeproof.model.comparison import Comparison
from lakeproof.model.names import TableName
from lakeproof.model.threshold import Threshold


@dataclass(frozen=True, slots=True)
class Draft:
    """One result to come. `check`, `columns` and `params` are those of `QualityCheck`.

    `columns` are paths by physical names. `comparison` is what the contract asks of the number
    that the check counts or measures; without it the check judges by itself, within `threshold`.
    `error` says why it cannot run as written, `skipped` why it does not run although nothing is
    wrong. `label` tells several drafts of one entry apart. `notes` are told with the result, and
    `choices` are the readings of the standard that were used. `plug_in` names the function that
    runs it; `severity` (ours: error, warning, info) is one that the entry's own form gives.
    """

    check: str = ""
    columns: tuple[str, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    filter: str | None = None
    comparison: Comparison | None = None
    threshold: Threshold = field(default_factory=Threshold)
    error: str = ""
    skipped: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    dimension: str = ""
    plug_in: str = ""
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a form's module may know beside the entry itself.

    `table_of` gives the table of an object, by the object's name; `variables` are those that
    `${VAR}` may name; `now` is the run's moment. `owner` is None for a rule that no object has.
    `server` is the one whose SQL and types the contract is written in. `given` are tables that
    the caller gave to names that no object has.
    """

    contract: Contract
    owner: Object | None
    part: Property | None
    settings: ContractSettings
    table_of: Callable[[str], TableName]
    variables: Mapping[str, str]
    now: datetime
    server: Server | None = None
    config: Config = field(default_factory=Config)
    given: Mapping[str, TableName] = field(default_factory=dict)

    @property
    def column(self) -> str:
        """The path of the property that the rule stands on; '' at table level."""
        return self.part.path if self.part is not None else ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A declared rule with its setting: what the modules of forms are given."""

    rule: DeclaredRule
    setting: Setting


@dataclass(frozen=True, slots=True)
class PlacedDraft:
    """A draft that the schema or the service level implies, with the place that implies it.

    `what` names it within its property or object: `required`, `maxLength`, `foreignKey`.
    """

    draft: Draft
    what: str
    pointer: str
    owner: Object | None = None
    part: Property | None = None


def error(reason: str, **more: str) -> Draft:
    """A draft that cannot run as it was written."""
    return Draft(error=reason, **more)  # type: ignore[arg-type]


def skipped(reason: str, **more: str) -> Draft:
    """A draft that does not run although nothing is wrong with it."""
    return Draft(skipped=reason, **more)  # type: ignore[arg-type]
