"""Run directories that hold no more than a manifest, for steps that capture into them."""

from __future__ import annotations

import json
from pathlib import Path

from lakeproof.accounting.adjoint import AdjointConfig
from lakeproof.accounting.manifest import (
    ManifestInput,
    RunSettings,
    manifest_to_json,
    new_manifest,
)
from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.model.accounting import DatasetPosition, KeyUniqueness, Level, Lineage

RUN_ID = "run-1"


class BegunRun:
    """A run after its manifest; `step` configures one of its steps."""

    def __init__(self, directory, level=Level.COMMIT, inputs=("input",)):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True)
        self.manifest = new_manifest(
            RUN_ID,
            RunSettings(level, Lineage.KEY_DERIVABLE, KeyUniqueness.REQUIRE, "2026-01-31"),
            [ManifestInput(name, DatasetPosition("frame")) for name in inputs],
        )
        (self.directory / "manifest.json").write_text(
            manifest_to_json(self.manifest), encoding="utf-8"
        )

    def step(self, morphism_id, **options):
        return AdjointConfig(morphism_id, RUN_ID, str(self.directory), **options)

    def written(self):
        """Every data file, by its folder relative to the run."""
        files = self.directory.rglob("part-*")
        return sorted({str(file.parent.relative_to(self.directory)) for file in files})

    def table(self, spark, kind, morphism_id):
        """A captured table, by a path that no character makes a pattern."""
        path = self.directory / "adjoint" / kind / f"{morphism_id}.parquet"
        return spark.read.parquet(literal_path(str(path)))

    def error_records(self):
        """All error records of the run, with the type that their folder names, by key."""
        found = []
        for file in self.directory.glob("errors/error_type=*/part-*"):
            kind = file.parent.name.partition("=")[2]
            lines = file.read_text(encoding="utf-8").splitlines()
            found += [{"error_type": kind, **json.loads(line)} for line in lines]
        return sorted(found, key=lambda record: (record["source_key"], record["morphism_path"]))


def rows_of(frame, *columns):
    """The rows as tuples, in any order that is always the same."""
    return sorted(map(tuple, frame.select(*columns).collect()), key=repr)
