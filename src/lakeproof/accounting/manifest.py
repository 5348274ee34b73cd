"""The manifest of a run, written once before the first record is read: what ran, on what."""

from __future__ import annotations

import platform
import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from lakeproof.accounting.code_identity import CodeIdentity, code_identity
from lakeproof.accounting.json_form import (
    Tree,
    TreeReader,
    canonical_sha256,
    parse_object,
    print_object,
    put_back,
    to_tree,
)
from lakeproof.accounting.run_directory import MANIFEST_FILE
from lakeproof.accounting.storage import Storage, join, parent
from lakeproof.errors import LedgerError
from lakeproof.hiding import hide_secrets
from lakeproof.model.accounting import (
    DatasetPosition,
    KeyColumn,
    KeyUniqueness,
    Level,
    Lineage,
)
from lakeproof.model.run_id import ensure_run_id

MANIFEST_VERSION: Final = "1.0"
SALT_BYTES: Final = 16
_PACKAGES: Final = ("pyspark", "delta-spark", "lakeproof")
_PARENTS_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How the books of a run are kept. Without an `epoch`, the run's UTC date is its label."""

    level: Level = Level.COMMIT
    lineage: Lineage = Lineage.KEY_DERIVABLE
    key_uniqueness: KeyUniqueness = KeyUniqueness.REQUIRE
    epoch: str = ""


@dataclass(frozen=True, slots=True)
class ManifestInput:
    """One input as it stood before it was read; `dataset` is what the caller called it."""

    name: str
    position: DatasetPosition
    key: tuple[KeyColumn, ...] = ()
    dataset: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run began with.

    `salt` seeds the hashes of keys; `key` is the first input's. `engine` maps packages to versions.
    """

    manifest_version: str
    run_id: str
    started_at: str
    openlineage_run_id: str
    epoch: str
    salt: str
    level: Level
    lineage: Lineage
    key_uniqueness: KeyUniqueness
    key: tuple[KeyColumn, ...] = ()
    inputs: tuple[ManifestInput, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    config_sha256: str = ""
    code: CodeIdentity = field(default_factory=CodeIdentity)
    engine: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, object] = field(default_factory=dict)

    @property
    def started(self) -> datetime:
        return datetime.fromisoformat(self.started_at)


def new_manifest(
    run_id: str,
    settings: RunSettings,
    inputs: Sequence[ManifestInput],
    *,
    config: Mapping[str, object] | None = None,
    engine: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> Manifest:
    """The manifest of a run that begins now, with a salt and an OpenLineage run id of its own.

    Secrets in the configuration are hidden before it is kept or hashed.
    """
    ensure_run_id(run_id)
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    shown = {str(name): _shown(str(name), value) for name, value in (config or {}).items()}
    return Manifest(
        manifest_version=MANIFEST_VERSION,
        run_id=run_id,
        started_at=utc_text(moment),
        openlineage_run_id=str(time_ordered_uuid(moment)),
        epoch=settings.epoch or moment.date().isoformat(),
        salt=secrets.token_hex(SALT_BYTES),
        level=settings.level,
        lineage=settings.lineage,
        key_uniqueness=settings.key_uniqueness,
        key=inputs[0].key if inputs else (),
        inputs=tuple(inputs),
        config=shown,
        config_sha256=canonical_sha256(shown),
        code=code_identity(),
        engine={**_versions(), **(engine or {})},
    )


def utc_text(moment: datetime) -> str:
    """`2026-01-31T10:20:30.000001Z`."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def time_ordered_uuid(moment: datetime) -> uuid.UUID:
    """A UUID of version 7 (RFC 9562): milliseconds first, then 74 random bits."""
    milliseconds = int(moment.timestamp() * 1000) & ((1 << 48) - 1)
    high, low = secrets.randbits(12), secrets.randbits(62)
    return uuid.UUID(int=(milliseconds << 80) | (7 << 76) | (high << 64) | (0b10 << 62) | low)


def manifest_to_json(manifest: Manifest) -> str:
    tree: Tree = to_tree(manifest)
    put_back(tree, manifest.unknown)
    return print_object(tree)


def manifest_from_json(text: str | bytes, where: str = MANIFEST_FILE) -> Manifest:
    """The manifest that a text is; a later major version is refused."""
    tree = parse_object(text, where)
    known = MANIFEST_VERSION.partition(".")[0]
    stated = str(tree.get("manifest_version", ""))
    if stated.partition(".")[0] != known:
        raise LedgerError(
            f"{where}: manifest_version {stated!r} is not one that this release reads "
            f"({known}.x). Use a newer Lakeproof, or name a run directory"
        )
    reader = TreeReader(where)
    return replace(reader.read(Manifest, tree), unknown=reader.unknown)


def load_manifest(directory: str, storage: Storage) -> Manifest:
    file = join(directory, MANIFEST_FILE)
    return manifest_from_json(storage.read_bytes(file), file)


def find_manifest(path: str, storage: Storage) -> tuple[str, Manifest]:
    """The run directory that holds a path, and its manifest: the folder or one of three above."""
    folder = path.rstrip("/") or "/"
    for _ in range(_PARENTS_MAX + 1):
        if storage.exists(join(folder, MANIFEST_FILE)):
            return folder, load_manifest(folder, storage)
        folder = parent(folder)
    raise LedgerError(
        f"{path} lies in no run directory: there is no {MANIFEST_FILE} in it, nor in the three "
        "folders above. Call AccountingLedger.initialize_input first, and capture below its "
        "output_dir"
    )


def _versions() -> dict[str, str]:
    """Of Python and of our packages; '' for one that is not installed."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def _shown(name: str, value: object) -> object:
    """A setting for a file that others read: JSON's types, secrets as `***`."""
    if isinstance(value, Mapping):
        return {str(key): _shown(str(key), member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(name, member) for member in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    text = value.isoformat() if isinstance(value, date) else str(value)
    # By its name too: the value of a password looks like any other.
    told = hide_secrets(f"{name}={text}")
    return told.removeprefix(f"{name}=") if told.startswith(f"{name}=") else hide_secrets(text)
