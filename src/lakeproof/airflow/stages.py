"""Staged documents: the results of one run as a file that any worker can read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lakeproof.errors import ConfigError, LakeproofError
from lakeproof.gating.policy import decide
from lakeproof.model.outcome import CheckResult
from lakeproof.model.run_id import ensure_run_id
from lakeproof.reporting.document import document_text, run_document
from lakeproof.state.statements import result_of_row

SUFFIX = ".results.json"


@dataclass(frozen=True, slots=True)
class DocumentStage:
    """Result documents below a folder, or below an address such as `s3://bucket/staged`."""

    root: str

    def read(self, run_id: str) -> Sequence[CheckResult] | None:
        try:
            with self._usable():
                content = self._file(run_id).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return [result_of_row(row) for row in json.loads(content)["results"]]
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            raise LakeproofError(
                f"{self.address(run_id)} is no document of staged results: "
                f"{type(problem).__name__}: {problem}. Delete it, and clear the task that runs the "
                "checks"
            ) from problem

    def write(self, run_id: str, results: Sequence[CheckResult]) -> None:
        text = document_text(run_document(run_id, results, decide(results)))
        with self._usable():
            file = self._file(run_id)
            if isinstance(file, Path):
                _replace(file, text)
            else:
                # One PUT: an object store shows the old object or the new one.
                file.write_text(text, encoding="utf-8")

    def address(self, run_id: str) -> str:
        return str(self._file(run_id))

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """An address that no client is installed for, or none exists, stays so."""
        try:
            yield
        except (ImportError, ValueError) as problem:
            raise ConfigError(f"staging {self.root!r} cannot be used: {problem}") from problem

    def _file(self, run_id: str) -> Any:  # noqa: ANN401 (a Path, or Airflow's path of an address)
        ensure_run_id(run_id)
        return _folder(self.root) / f"{run_id}{SUFFIX}"


def _replace(file: Path, text: str) -> None:
    """Two tries of a task may overlap: each has a file of its own until it is complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def _folder(root: str) -> Any:  # noqa: ANN401
    scheme = urlsplit(root).scheme
    if scheme == "file":
        return Path(unquote(urlsplit(root).path))
    if not scheme:
        return Path(root).expanduser()
    from airflow.sdk import ObjectStoragePath

    return ObjectStoragePath(root)
