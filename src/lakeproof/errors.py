"""Everything Lakeproof raises, in one tree.

    LakeproofError
    ├── ConfigError             lakeproof.toml or an option cannot be used          exit 2
    ├── SuiteError              a suite as a whole cannot be read                   exit 2
    ├── UnsafeSqlError          user SQL is not one read-only query                 a result
    ├── CheckDefinitionError    a check's type, column or parameters do not fit     a result
    ├── RuleTimeoutError        a rule ran longer than it may                       a result
    ├── EngineUnavailableError  session, catalog or store unreachable; retry helps  exit 3
    ├── StateSchemaError        state tables of a newer or foreign version          exit 3
    ├── AlreadyRunningError     another driver holds the lease on a table           exit 4
    ├── FencedError             a newer batch was committed; this one may not write exit 4
    └── GateClosedError         raise_for_status() on results not to be published   exit 1

"a result": inside a run, the error of that one rule, never an exception to the caller.
Bad data is never an exception: it is a result. Only `raise_for_status()` turns a closed gate
into one, because the caller asked for it.
"""

from __future__ import annotations

import re

_MESSAGE_CHARACTERS_MAX = 500
# Spark quotes the value of the row that broke a cast; rows do not belong into results and logs.
_VALUE_IN_MESSAGE = re.compile(r"\b(value|input|string|date|timestamp) '[^']*'", re.IGNORECASE)


def short_message(problem: BaseException) -> str:
    """An exception's text on one line, without a JVM's stack and query context, cut short."""
    text = str(problem) or type(problem).__name__
    for stop in ("\n\nJVM stacktrace", "\n\tat ", "\n== SQL"):
        text = text.split(stop, 1)[0]
    text = _VALUE_IN_MESSAGE.sub(r"\1 '...'", " ".join(text.split()))
    return text[:_MESSAGE_CHARACTERS_MAX]


class LakeproofError(Exception):
    """The root: catching it catches everything that Lakeproof itself raises."""


class ConfigError(LakeproofError):
    """A configuration file or option cannot be used; says which key and what is allowed."""


class SuiteError(LakeproofError):
    """A suite as a whole cannot be read: module missing, wrong object, nothing in it."""


class UnsafeSqlError(LakeproofError):
    """User SQL is not a single read-only query over catalog tables."""


class CheckDefinitionError(LakeproofError):
    """A check's type, column or parameters do not fit; becomes that rule's `error` result."""


class RuleTimeoutError(LakeproofError):
    """A rule's action was cancelled because it ran past its limit."""


class EngineUnavailableError(LakeproofError):
    """Session, catalog or store cannot be reached. Nothing was evaluated; a retry may help."""


class StateSchemaError(LakeproofError):
    """A state table has a schema version that this release does not know."""


class AlreadyRunningError(LakeproofError):
    """Another driver holds the lease on a table of this run."""


class FencedError(LakeproofError):
    """A newer batch for the same table was committed meanwhile; nothing more is written."""


class GateClosedError(LakeproofError):
    """The gate is closed and the caller asked to be stopped by it."""
