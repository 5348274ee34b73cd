"""Lakeproof checks lakehouse tables and closes the gate on bad data.

Every public name is listed here and imported on first use: `import lakeproof` alone loads
neither pyspark nor sqlglot.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeproof.accounting.adjoint import (
        AdjointConfig,
        Requirement,
        errors_with_adjoint,
        explode_with_adjoint,
        filter_with_adjoint,
        group_by_with_adjoint,
    )
    from lakeproof.accounting.document import Ledger, load_ledger
    from lakeproof.accounting.ledger import AccountingLedger
    from lakeproof.accounting.listening import LedgerListener
    from lakeproof.accounting.run_directory import new_run_directory
    from lakeproof.accounting.thresholds import ErrorThresholds
    from lakeproof.accounting.without_spark.verifying import verify_ledger
    from lakeproof.api import RunOutcome, Split, gate, plan, run, run_check, run_checks, split
    from lakeproof.checks.plug_ins import register_engine
    from lakeproof.config import Config, ContractSettings, load_config
    from lakeproof.contracts.contract import Contract
    from lakeproof.contracts.loading import load_contract
    from lakeproof.engines.spark.session import local_session
    from lakeproof.errors import (
        AccountingFailureException,
        AlreadyRunningError,
        CheckDefinitionError,
        ConfigError,
        ContractError,
        EngineUnavailableError,
        ErrorThresholdError,
        FencedError,
        GateClosedError,
        LakeproofError,
        LedgerError,
        NothingSelectedError,
        PromotionError,
        RuleTimeoutError,
        StateSchemaError,
        SuiteError,
        UnsafeSqlError,
    )
    from lakeproof.gating.policy import GateDecision
    from lakeproof.gating.promotion_outcome import Promotion, PromotionOutcome, PromotionStatus
    from lakeproof.model.accounting import (
        AccountingDiscrepancy,
        AdjointType,
        AllowedOverlap,
        InputAccounting,
        OutputAccounting,
        OutputPartition,
        PartitionType,
        Verification,
    )
    from lakeproof.model.outcome import CheckResult, CheckStatus
    from lakeproof.model.suite import QualityCheck
    from lakeproof.promoting import promote, rollback
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
    "lakeproof.accounting.adjoint": (
        "AdjointConfig",
        "Requirement",
        "errors_with_adjoint",
        "explode_with_adjoint",
        "filter_with_adjoint",
        "group_by_with_adjoint",
    ),
    "lakeproof.accounting.document": ("Ledger", "load_ledger"),
    "lakeproof.accounting.ledger": ("AccountingLedger",),
    "lakeproof.accounting.listening": ("LedgerListener",),
    "lakeproof.accounting.run_directory": ("new_run_directory",),
    "lakeproof.accounting.thresholds": ("ErrorThresholds",),
    "lakeproof.accounting.without_spark.verifying": ("verify_ledger",),
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
        "AccountingFailureException",
        "AlreadyRunningError",
        "CheckDefinitionError",
        "ConfigError",
        "ContractError",
        "EngineUnavailableError",
        "ErrorThresholdError",
        "FencedError",
        "GateClosedError",
        "LakeproofError",
        "LedgerError",
        "NothingSelectedError",
        "PromotionError",
        "RuleTimeoutError",
        "StateSchemaError",
        "SuiteError",
        "UnsafeSqlError",
    ),
    "lakeproof.gating.policy": ("GateDecision",),
    "lakeproof.gating.promotion_outcome": ("Promotion", "PromotionOutcome", "PromotionStatus"),
    "lakeproof.model.accounting": (
        "AccountingDiscrepancy",
        "AdjointType",
        "AllowedOverlap",
        "InputAccounting",
        "OutputAccounting",
        "OutputPartition",
        "PartitionType",
        "Verification",
    ),
    "lakeproof.model.outcome": ("CheckResult", "CheckStatus"),
    "lakeproof.model.suite": ("QualityCheck",),
    "lakeproof.promoting": ("promote", "rollback"),
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
    "AccountingDiscrepancy",
    "AccountingFailureException",
    "AccountingLedger",
    "AdjointConfig",
    "AdjointType",
    "AggregateConsistencyCheck",
    "AggregateSpec",
    "AllowedOverlap",
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
    "ErrorThresholdError",
    "ErrorThresholds",
    "FencedError",
    "GateClosedError",
    "GateDecision",
    "InputAccounting",
    "KeyParityCheck",
    "LakeproofError",
    "Ledger",
    "LedgerError",
    "LedgerListener",
    "MultiAggregateConsistencyCheck",
    "NothingSelectedError",
    "OutputAccounting",
    "OutputPartition",
    "PartitionType",
    "Promotion",
    "PromotionError",
    "PromotionOutcome",
    "PromotionStatus",
    "QualityCheck",
    "QualityCheckResult",
    "ReconciliationCheck",
    "Requirement",
    "RuleTimeoutError",
    "RunOutcome",
    "Split",
    "StateSchemaError",
    "SuiteError",
    "UnsafeSqlError",
    "Verification",
    "__version__",
    "build_quality_result_insert",
    "build_quality_results_ddl",
    "errors_with_adjoint",
    "explode_with_adjoint",
    "filter_with_adjoint",
    "gate",
    "group_by_with_adjoint",
    "load_config",
    "load_contract",
    "load_ledger",
    "local_session",
    "new_run_directory",
    "plan",
    "promote",
    "reconcile",
    "register_engine",
    "rollback",
    "run",
    "run_check",
    "run_checks",
    "split",
    "verify_ledger",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lakeproof' has no attribute {name!r}")
    found = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
