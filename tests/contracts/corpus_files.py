"""The corpus of public contracts, and a walk through it that knows nothing of our loader."""

from __future__ import annotations

from pathlib import Path

import yaml

FOLDER = next(
    found
    for folder in Path(__file__).resolve().parents
    for found in (folder / "odcs-corpus", folder / "shared" / "odcs-corpus")
    if found.is_dir()
)


def corpus(kind):
    """The files of one folder: valid, implied, legacy or negative."""
    return sorted((FOLDER / kind).glob("*.yaml"))


def pointers_of_rules(path):
    """The JSON pointer of every entry of every `quality` list, as plain PyYAML reads the file."""
    with path.open(encoding="utf-8") as file:
        return list(_walk(yaml.load(file, Loader=yaml.BaseLoader), ""))  # noqa: S506 - texts only


def _walk(value, pointer):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "quality" and isinstance(inner, list):
                yield from (f"{pointer}/quality/{index}" for index in range(len(inner)))
            yield from _walk(inner, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{pointer}/{index}")
