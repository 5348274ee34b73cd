"""Everything Lakeproof raises, in one tree.

    LakeproofError
    ├── ConfigError             lakeproof.toml or an option cannot be used          exit 2
    ├── SuiteError              a suite as a whole cannot be read                   exit 2
    │   └── ContractError       a contract cannot be read; says file:line:column    exit 2
    ├── NothingSelectedError    no rule matches what was selected                   exit 5
    ├── UnsafeSqlError          user SQL is not one read-only query                 a result
    ├── CheckDefinitionError    a check's type, column or parameters do not fit     a result
    │   └── NothingToCheckError they fit, and leave nothing to check                a result
    ├── RuleTimeoutError        a rule ran longer than it may                       a result
    ├── EngineUnavailableError  session, catalog or store unreachable; retry helps  exit 3
    ├── StateSchemaError        state tables of a newer or foreign version          exit 3
    ├── AlreadyRunningError     another driver holds the lease on a table           exit 4
    │   └── TableMovedError     a table was written to before the lease was had     exit 4
    ├── FencedError             a newer batch was committed; this one may not write exit 4
    ├── GateClosedError         raise_for_status() on results not to be published   exit 1
    ├── PromotionError          what was audited cannot be promoted, or taken back  exit 4
    ├── LedgerError             a ledger or its run directory cannot be used        exit 2
    ├── ErrorThresholdError     more error records than a run may have              exit 1
    └── AccountingFailureException   the books of a run do not balance              exit 1

"a result": inside a run, the error of that one rule, never an exception to the caller.
Bad data is never an exception: it is a result. Only `raise_for_status()` turns a closed gate
into one, because the caller asked for it; and a pipeline that keeps books stops where they fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from lakeproof.hiding import hide_secrets

_MESSAGE_CHARACTERS_MAX = 500
# What follows is Java's stack, the query's context, or the plan of a statement that was refused.
_END = re.compile(r"\n\nJVM stacktrace|\n\tat |\n== |;\n(?=['+*\w])")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)?)\] .*SQLSTATE: ([0-9A-Z]{5})")

# Spark puts values of rows into its messages in quotes, backquotes or bare: they cannot be picked
# out, so a whole message is either kept or not. States: data, constraints, a user's raise_error.
_STATES_WITH_VALUES = ("22", "23", "P0")
# Connections, unsupported things, subqueries, conflicts, resources, files, cancelled jobs.
_STATES_WITHOUT_VALUES = ("08", "0A", "21", "40", "53", "57", "58", "HV", "KD001", "XXKDA")
_WITHHELD = "message withheld, for it may quote a row"
_CAST = re.compile(r'of the type ("[A-Z][\w<>(), :]*") cannot be cast to ("[A-Z][\w<>(), :]*")')
_INSTEAD = re.compile(r"Use (?:the SQL function )?[`'](try_\w+|get)\b")

_JAVA_NAME = re.compile(r"\b(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error|Failure)\b")
_PLATFORM = re.compile(
    r"(?:java\.(?:io|net|nio|sql)|javax\.net|sun\.nio|org\.(?:sqlite|postgresql|apache\.(?:iceberg"
    r"|hadoop|http|parquet|thrift))|io\.(?:delta|grpc|netty)|software\.amazon|com\.(?:amazonaws"
    r"|azure|google|microsoft|mysql))\."
)
# Python and Java quote what they could not convert.
_QUOTED_VALUE = re.compile(
    r"\b(value|input|string|text|literal|date|timestamp)\b([^'\"]{0,40})(['\"]).*\3", re.IGNORECASE
)


def short_message(problem: BaseException) -> str:
    """An exception's text on one line, without secrets, Java's stack and query context, cut short.

    Where Spark says by its error class that a row is at fault, the class stands for the text.
    """
    return _told(problem, unsure=_without_quoted_values)


def message_without_values(problem: BaseException) -> str:
    """The same for a statement that reads rows: only a text that cannot quote one is kept.

    Kept are our own, Spark's about names and syntax, and a platform's about files, connections
    and limits; of any other there remain its class and Spark's advice.
    """
    return _told(problem, unsure=partial(_class_alone, type(problem).__name__))


def _told(problem: BaseException, unsure: Callable[[str], str]) -> str:
    """`unsure` says what remains of a text that may quote a row, or may not."""
    text = str(problem) or type(problem).__name__
    if not isinstance(problem, LakeproofError):
        text = " ".join(_END.split(text, maxsplit=1)[0].split())
        condition = _CONDITION.search(text)
        state = condition[2] if condition else ""
        if state.startswith(_STATES_WITH_VALUES):
            text = _class_alone(type(problem).__name__, text)
        elif not (_is_about_names(problem) or state.startswith(_STATES_WITHOUT_VALUES)):
            text = unsure(text)
    # Before it is cut: half a secret would not be known for one.
    return hide_secrets(" ".join(text.split()))[:_MESSAGE_CHARACTERS_MAX]


def _is_about_names(problem: BaseException) -> bool:
    """Whether Spark refused a statement before it read a row; known by name, without pyspark."""
    kinds = {kind.__name__ for kind in type(problem).__mro__}
    return bool(kinds & {"AnalysisException", "ParseException"})


def _without_quoted_values(text: str) -> str:
    return _QUOTED_VALUE.sub(r"\1\2\3...\3", text)


def _class_alone(kind: str, text: str) -> str:
    """The error class with what it says of types and of the function to use instead."""
    condition = _CONDITION.search(text)
    if condition is None:
        names = _JAVA_NAME.findall(text)
        if any(map(_PLATFORM.match, names)):
            return text
        return f"{names[-1] if names else kind}: {_WITHHELD}"
    # The last of each is Spark's own: a value stands before it.
    casts, instead = _CAST.findall(text), _INSTEAD.findall(text)
    told = "a value of the type {} cannot be cast to {}".format(*casts[-1]) if casts else _WITHHELD
    advice = f"; `{instead[-1]}` gives NULL instead" if instead else ""
    return f"[{condition[1]}] {told}{advice}"


class LakeproofError(Exception):
    """The root: catching it catches everything that Lakeproof itself raises.

    A message may repeat a setting or an address as it was given; secrets in it are hidden here.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(hide_secrets(message))


class ConfigError(LakeproofError):
    """A configuration file or option cannot be used; says which key and what is allowed."""


class SuiteError(LakeproofError):
    """A suite as a whole cannot be read: module missing, wrong object, nothing in it."""


class ContractError(SuiteError):
    """A contract file is missing, or refused as a whole; says where in it and why."""


class NothingSelectedError(LakeproofError):
    """No rule matches what was selected; names the nearest names, tables or tags."""


class UnsafeSqlError(LakeproofError):
    """User SQL is not a single read-only query over catalog tables."""


class CheckDefinitionError(LakeproofError):
    """A check's type, column or parameters do not fit; becomes that rule's `error` result."""


class NothingToCheckError(CheckDefinitionError):
    """A rule that holds by the column's type alone: its result is `skipped`, with this reason."""


class RuleTimeoutError(LakeproofError):
    """A rule's action was cancelled because it ran past its limit."""


class EngineUnavailableError(LakeproofError):
    """Session, catalog or store cannot be reached. Nothing was evaluated; a retry may help."""


class StateSchemaError(LakeproofError):
    """A state table has a schema version that this release does not know."""


class AlreadyRunningError(LakeproofError):
    """Another driver holds the lease on a table of this run."""


class TableMovedError(AlreadyRunningError):
    """A table was written to after the run had planned; planned again, the run may begin."""


class FencedError(LakeproofError):
    """A newer batch for the same table was committed meanwhile; nothing more is written."""


class GateClosedError(LakeproofError):
    """The gate is closed and the caller asked to be stopped by it."""


class PromotionError(LakeproofError):
    """What a run has audited cannot be promoted, or what was promoted not be taken back.

    The table or its target moved, was replaced, rolled back or written to, or the position has
    expired: a retry does not help, another run of the checks may.
    """


class LedgerError(LakeproofError):
    """A ledger, its run directory or what is asked of it cannot be used; says what and why."""


class ErrorThresholdError(LakeproofError):
    """More records are errors than the run may have.

    `structural` is True if the first rows already said so: then only samples were written.
    """

    def __init__(
        self, message: str = "", *, errors: int = 0, records: int = 0, structural: bool = False
    ) -> None:
        super().__init__(message)
        self.errors = errors
        self.records = records
        self.structural = structural


class AccountingFailureException(LakeproofError):  # noqa: N818 - the name that users know
    """The books do not balance; `discrepancy` says by how much, and by which keys.

    `directory` is the run's, which holds the full report.
    """

    def __init__(self, discrepancy: object = "", directory: str = "") -> None:
        told = str(getattr(discrepancy, "message", discrepancy))
        shown = f". `lakeproof ledger show {directory}` names the keys" if directory else ""
        super().__init__(f"{told}{shown}")
        self.discrepancy = discrepancy
        self.directory = directory


def error_text(problem: BaseException) -> str:
    """An exception as a result shows it; `Error:` marks what is not in our own words."""
    text = message_without_values(problem)
    return text if isinstance(problem, LakeproofError) else f"Error: {text}"
