"""Reports as files: refused before the run if they cannot be written, whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakeproof.errors import ConfigError, LakeproofError
from lakeproof.reporting.formats import REPORT_FORMATS
from lakeproof.reporting.run_report import RunReport

_KIND_GIVEN = re.compile(r"([a-z]+)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report of this kind is to be written to this path."""

    kind: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> ReportFile:
        """`KIND=PATH`, or a path whose suffix tells the kind."""
        given = _KIND_GIVEN.fullmatch(text)
        kind, path = given.groups() if given else ("", text)
        if kind and kind not in REPORT_FORMATS:
            raise ConfigError(
                f"report {text!r}: {kind!r} is not one of {', '.join(REPORT_FORMATS)}"
            )
        if not kind:
            kinds = {known.suffix: known.kind for known in REPORT_FORMATS.values() if known.suffix}
            kind = kinds.get(Path(path).suffix.lower(), "")
        if not kind:
            raise ConfigError(
                f"report {text!r}: the suffix is none of {', '.join(kinds)}. Write KIND=PATH"
            )
        if not path:
            raise ConfigError(f"report {text!r} names no file. Write KIND=PATH")
        return cls(kind, Path(path))

    def check(self) -> None:
        """Make the folder, and refuse a place that cannot be written while nothing has run yet."""
        try:
            if self._target.exists() and not self._target.is_file():
                # A device or pipe too: the file that replaces it would break it for everybody.
                raise FileExistsError("it is there and is no file")
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._part.touch()
            self._part.unlink()
        except (OSError, ValueError) as problem:
            raise ConfigError(
                f"report {self.kind}={self.path} cannot be written: {problem}. Name another place"
            ) from problem

    def write(self, report: RunReport) -> None:
        """A reader finds the file before or the file after, never half of one."""
        text = REPORT_FORMATS[self.kind].render(report)
        try:
            self._part.write_text(f"{text}\n", encoding="utf-8", newline="\n")
            self._part.replace(self._target)
        except OSError as problem:
            self._part.unlink(missing_ok=True)
            raise LakeproofError(
                f"report {self.kind}={self.path} was not written: {problem}. lakeproof show run "
                f"{report.run_id} --report {self.kind}=PATH writes it from kept results"
            ) from problem

    @property
    def _target(self) -> Path:
        return self.path.resolve()

    @property
    def _part(self) -> Path:
        return self._target.with_name(f".{self._target.name}.{os.getpid()}.part")


def files_in(folder: str) -> list[ReportFile]:
    """A file of each kind that is meant for files."""
    named = [known for known in REPORT_FORMATS.values() if known.file_name]
    return [ReportFile(known.kind, Path(folder) / known.file_name) for known in named]


def check_files(wanted: Sequence[ReportFile]) -> None:
    """Refuse what cannot be written, or what one report would write over another."""
    for file in wanted:
        file.check()
    places = [file.path.resolve() for file in wanted]
    for file, place in zip(wanted, places, strict=True):
        if places.count(place) > 1:
            raise ConfigError(f"two reports would be written to {file.path}. Name another place")


def write_files(wanted: Iterable[ReportFile], report: RunReport) -> None:
    for file in wanted:
        file.write(report)
