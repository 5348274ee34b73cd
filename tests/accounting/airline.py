"""The files of examples/airline as modules, and runs of them that several tests look at."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "airline"
SMALL, FULL = 3_000, 349_660


@dataclass(frozen=True, slots=True)
class Finished:
    """A run as `make example-airline` has it; not to be written to."""

    folder: Path
    records: int
    ledger: Any

    @property
    def dataset(self) -> Path:
        return self.folder / "datasets" / "airline-clean"

    @property
    def directory(self) -> Path:
        (directory,) = (self.folder / "runs").iterdir()
        return directory


@cache
def finished_run(spark: Any, root: Path, level: str, records: int) -> Finished:
    """The example over this many records, run once for all tests that ask for the same."""
    folder = root / f"airline_{records}_{level}"
    example("generate").write_dataset(folder, records)
    return Finished(folder, records, example("run").run(spark, folder, level))


def example(name: str) -> ModuleType:
    """One of its files, under a name that no other module has."""
    known = f"airline_{name}"
    if known not in sys.modules:
        spec = spec_from_file_location(known, EXAMPLE / f"{name}.py")
        assert spec
        assert spec.loader
        sys.modules[known] = module_from_spec(spec)  # dataclasses look for their module there
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]
