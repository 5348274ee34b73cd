"""Suites by name: `package.module:NAME` is a list of QualityCheck, a file is a contract."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

from lakeproof.cli.sources import with_sources
from lakeproof.errors import SuiteError, short_message
from lakeproof.model.nearest import NEAREST_MAX, nearest
from lakeproof.model.suite import Comparing, QualityCheck

if TYPE_CHECKING:
    from lakeproof.contracts.contract import Contract

CONTRACT_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of checks, or a contract; what in it is no check is told by its rule."""

    name: str
    checks: tuple[QualityCheck | Comparing | Contract, ...]


def load_suites(names: Sequence[str]) -> list[Suite]:
    """The suites in the order given; the current folder is importable."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return [Suite(name, _contract(name) or _checks(name)) for name in names]


def all_checks(suites: Iterable[Suite]) -> list[QualityCheck | Comparing | Contract]:
    return [check for suite in suites for check in suite.checks]


def label_of(suites: Iterable[Suite]) -> str:
    """What results say about where their rules were written."""
    return ",".join(suite.name for suite in suites)


def _contract(name: str) -> tuple[Contract, ...]:
    """The contract in the file of that name; none if it is no name of such a file."""
    if not name.lower().endswith(CONTRACT_SUFFIXES):
        return ()
    from lakeproof.contracts.loading import load_contract  # a suite alone needs no YAML

    return (load_contract(Path(name)),)


def _checks(name: str) -> tuple[QualityCheck | Comparing, ...]:
    module_name, sign, attribute = name.partition(":")
    if not sign or not module_name or not attribute:
        raise SuiteError(
            f"suite {name!r} is neither of the form package.module:NAME{_form_hint(name)}, nor a "
            f"contract, whose name ends in {', '.join(CONTRACT_SUFFIXES)}"
        )
    module = _module(name, module_name)
    if not hasattr(module, attribute):
        near = _nearest(attribute, _suite_names(module) or _public_names(module))
        raise SuiteError(f"suite {name!r}: module {module_name!r} has no {attribute!r}.{near}")
    found = getattr(module, attribute)
    problem = _not_a_suite(found)
    if problem:
        near = _nearest(attribute, _suite_names(module))
        raise SuiteError(
            f"suite {name!r}: {attribute!r} is {problem}, not a list of QualityCheck.{near}"
        )
    return with_sources(found, module, attribute)


def _form_hint(name: str) -> str:
    module = name.partition(":")[0]
    if module.endswith(".py") or "/" in module:
        dotted = module.removesuffix(".py").strip("./").replace("/", ".")
        return f"; of a file in this folder, write {dotted}:NAME"
    return ", such as checks:SALES_CHECKS"


def _module(name: str, module_name: str) -> ModuleType:
    if module_name.endswith(".py") or "/" in module_name or module_name.startswith("."):
        raise SuiteError(
            f"suite {name!r}: {module_name!r} is not a module's name{_form_hint(name)}"
        )
    try:
        return import_module(module_name)
    except ModuleNotFoundError as problem:
        missing = problem.name or ""
        if missing != module_name and not module_name.startswith(f"{missing}."):
            raise _import_failed(name, module_name, problem) from problem
        near = _nearest(missing.rpartition(".")[2], _modules_beside(missing))
        raise SuiteError(
            f"suite {name!r}: no module {missing!r} here ({Path.cwd()}) or installed.{near}"
        ) from problem
    except (Exception, SystemExit) as problem:
        raise _import_failed(name, module_name, problem) from problem


def _import_failed(name: str, module_name: str, problem: BaseException) -> SuiteError:
    return SuiteError(
        f"suite {name!r}: importing {module_name!r} failed: "
        f"{type(problem).__name__}: {short_message(problem)}"
    )


def _modules_beside(missing: str) -> list[str]:
    """The modules in the place where this one was looked for."""
    parent, _, _ = missing.rpartition(".")
    paths = getattr(sys.modules.get(parent), "__path__", []) if parent else None
    return [found.name for found in iter_modules(paths)]


def _not_a_suite(found: object) -> str:
    """What it is instead; '' if it is a list or tuple that holds a check, or nothing yet."""
    if isinstance(found, (QualityCheck, Comparing)):
        return f"one {type(found).__name__}; put it into a list"
    if not isinstance(found, (list, tuple)):
        return f"a {type(found).__name__}"
    if found and not any(isinstance(entry, (QualityCheck, Comparing)) for entry in found):
        return f"a {type(found).__name__} of {type(found[0]).__name__}"
    return ""


def _suite_names(module: ModuleType) -> list[str]:
    return [
        name
        for name in _public_names(module)
        if getattr(module, name) and not _not_a_suite(getattr(module, name))
    ]


def _public_names(module: ModuleType) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]


def _nearest(name: str, known: Sequence[str]) -> str:
    """Names like this one, whatever their case; else those that there are, if they are few."""
    near = nearest(name, known)
    if near:
        return f" Nearest: {', '.join(near)}."
    few = sorted(known)[:NEAREST_MAX]
    return f" There is: {', '.join(few)}." if few and len(known) <= NEAREST_MAX else ""
