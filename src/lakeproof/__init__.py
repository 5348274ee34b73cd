"""Lakeproof checks lakehouse tables and closes the gate on bad data.

Every public name is listed here and imported on first use: `import lakeproof` alone loads
neither pyspark nor sqlglot.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeproof.api import RunOutcome, Split, gate, plan, run, run_check, run_checks, split
    from lakeproof.checks.plug_ins import register_engine
    from lakeproof.config import Config, ContractSettings, load_config
    from lakeproof.contracts.contract import Contract
    from lakeproof.contracts.loading import load_contract
    from lakeproof.engines.spark.session import local_session
    from lakeproof.errors import (
        AlreadyRunningError,
        CheckDefinitionError,
        ConfigError,
        ContractError,
        EngineUnavailableError,
        FencedError,
        GateClosedError,
        LakeproofError,
        NothingSelectedError,
        RuleTimeoutError,
        StateSchemaError,
        SuiteError,
        UnsafeSqlError,
    )
    from lakeproof.gating.policy import GateDecision
    from lakeproof.model.outcome import CheckResult, CheckStatus
    from lakeproof.model.suite import QualityCheck
    from lakeproof.reconciliation import (
        AggregateConsistencyCheck,
        AggregateSpec,
        ChecksumReconciliationCheck,
        KeyParityCheck,
        MultiAggregateConsistencyCheck,
        QualityCheckResult,
        ReconciliationCheck,
        reconcile,
    )
    from lakeproof.state.statements import build_quality_result_insert, build_quality_results_ddl

__version__ = "0.1.0"

_HOMES = {
    "lakeproof.api": (
        "RunOutcome",
        "Split",
        "gate",
        "plan",
        "run",
        "run_check",
        "run_checks",
        "split",
    ),
    "lakeproof.checks.plug_ins": ("register_engine",),
    "lakeproof.config": ("Config", "ContractSettings", "load_config"),
    "lakeproof.contracts.contract": ("Contract",),
    "lakeproof.contracts.loading": ("load_contract",),
    "lakeproof.engines.spark.session": ("local_session",),
    "lakeproof.errors": (
        "AlreadyRunningError",
        "CheckDefinitionError",
        "ConfigError",
        "ContractError",
        "EngineUnavailableError",
        "FencedError",
        "GateClosedError",
        "LakeproofError",
        "NothingSelectedError",
        "RuleTimeoutError",
        "StateSchemaError",
        "SuiteError",
        "UnsafeSqlError",
    ),
    "lakeproof.gating.policy": ("GateDecision",),
    "lakeproof.model.outcome": ("CheckResult", "CheckStatus"),
    "lakeproof.model.suite": ("QualityCheck",),
    "lakeproof.reconciliation": (
        "AggregateConsistencyCheck",
        "AggregateSpec",
        "ChecksumReconciliationCheck",
        "KeyParityCheck",
        "MultiAggregateConsistencyCheck",
        "QualityCheckResult",
        "ReconciliationCheck",
        "reconcile",
    ),
    "lakeproof.state.statements": ("build_quality_result_insert", "build_quality_results_ddl"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AggregateConsistencyCheck",
    "AggregateSpec",
    "AlreadyRunningError",
    "CheckDefinitionError",
    "CheckResult",
    "CheckStatus",
    "ChecksumReconciliationCheck",
    "Config",
    "ConfigError",
    "Contract",
    "ContractError",
    "ContractSettings",
    "EngineUnavailableError",
    "FencedError",
    "GateClosedError",
    "GateDecision",
    "KeyParityCheck",
    "LakeproofError",
    "MultiAggregateConsistencyCheck",
    "NothingSelectedError",
    "QualityCheck",
    "QualityCheckResult",
    "ReconciliationCheck",
    "RuleTimeoutError",
    "RunOutcome",
    "Split",
    "StateSchemaError",
    "SuiteError",
    "UnsafeSqlError",
    "__version__",
    "build_quality_result_insert",
    "build_quality_results_ddl",
    "gate",
    "load_config",
    "load_contract",
    "local_session",
    "plan",
    "reconcile",
    "register_engine",
    "run",
    "run_check",
    "run_checks",
    "split",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lakeproof' has no attribute {name!r}")
    found = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
