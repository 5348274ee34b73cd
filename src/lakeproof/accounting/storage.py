"""Where the files of a run lie: listed, digested, read, and written once and whole."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from lakeproof.errors import LedgerError
from lakeproof.model.accounting import FileDigest
from lakeproof.model.storing import is_hidden, there_already

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of two letters at least: `C:` is a disk.
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):")
_FILE_URI: Final = re.compile(r"file:(?://[^/]*(?=/))?", re.IGNORECASE)
# What mounts of object stores say to a hard link.
_NO_LINKS: Final = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class Storage(Protocol):
    """A place for files, by path. Nothing is ever written over."""

    def exists(self, path: str) -> bool: ...

    def is_folder(self, path: str) -> bool: ...

    def is_empty(self, path: str) -> bool:
        """Whether nothing is there, or a folder with nothing in it, hidden files included."""
        ...

    def read_bytes(self, path: str) -> bytes: ...

    def write_new(self, path: str, data: bytes) -> None:
        """A reader finds the whole file or none; one that is there already is refused."""
        ...

    def files(self, path: str) -> tuple[FileDigest, ...]:
        """The files that Spark would read below a folder, or the file itself, not yet digested.

        Paths are relative to the folder and sorted. Nothing there is no files.
        """
        ...

    def digest(self, path: str, files: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
        """The same files with the SHA-256 of what they hold."""
        ...


def storage_for(path: str | os.PathLike[str], spark: SparkSession | None = None) -> Storage:
    """What reaches a path: this machine's files, Hadoop by a classic session, else fsspec.

    A path without a scheme is local unless the session's default file system is another one.
    """
    text = os.fspath(path)
    if spark is not None:
        from lakeproof.engines.spark.accounting.hadoop_storage import hadoop_storage

        hadoop = hadoop_storage(spark)
        has_scheme = _SCHEME.match(text) is not None
        if hadoop and not (is_local(text) and (has_scheme or hadoop.is_local_by_default)):
            return hadoop
    return LocalStorage() if is_local(text) else FsspecStorage(_file_system(text))


def is_local(path: str) -> bool:
    """Whether the path has no scheme, or that of files."""
    scheme = _SCHEME.match(path)
    return scheme is None or scheme[1].lower() == "file"


def local_path(path: str) -> Path:
    """A local path or `file:` URI. Nothing is decoded in it, as Hadoop decodes nothing."""
    return Path(_FILE_URI.sub("", path, count=1) if is_local(path) else path)


def join(folder: str, *names: str) -> str:
    return "/".join([folder.rstrip("/"), *names])


def parent(path: str) -> str:
    """The folder around a path; of a root the root itself."""
    head, slash, name = path.rstrip("/").rpartition("/")
    if name in {".", ".."}:
        return join(path, "..")
    if not slash:
        return "." if name and not _SCHEME.match(name) else path
    return path if head.endswith("/") else head or "/"


# ------------------------------------------------------------------------------------ this machine


@dataclass(frozen=True, slots=True)
class LocalStorage:
    """Files of this machine, by path or `file:` URI."""

    def exists(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            return local_path(path).exists()

    def is_folder(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            return local_path(path).is_dir()

    def is_empty(self, path: str) -> bool:
        place = local_path(path)
        with _telling(path, "be looked into"):
            return not place.exists() or (place.is_dir() and not any(place.iterdir()))

    def read_bytes(self, path: str) -> bytes:
        with _telling(path, "be read"):
            return local_path(path).read_bytes()

    def write_new(self, path: str, data: bytes) -> None:
        target = local_path(path)
        part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        with _telling(path, "be written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                _name_once(part, target)
            finally:
                part.unlink(missing_ok=True)
            _keep_names(target.parent)

    def files(self, path: str) -> tuple[FileDigest, ...]:
        root = local_path(path)
        with _telling(path, "be listed"):
            if root.is_file():
                return (_listed(root, root.name),)
            found = [_listed(file, file.relative_to(root).as_posix()) for file in _walk(root)]
        return tuple(sorted(found, key=lambda file: file.path))

    def digest(self, path: str, files: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
        root = local_path(path)
        return tuple(replace(one, sha256=_sha256(root, one.path)) for one in files)


def _walk(root: Path) -> Iterator[Path]:
    # Links to folders are followed, as Hadoop's local file system follows them.
    for folder, folders, names in os.walk(root, followlinks=True, onerror=_raise_unless_absent):
        folders[:] = [name for name in folders if not is_hidden(name)]
        yield from (Path(folder, name) for name in names if not is_hidden(name))


def _raise_unless_absent(problem: OSError) -> None:
    if not isinstance(problem, FileNotFoundError):
        raise problem


def _listed(file: Path, name: str) -> FileDigest:
    found = file.stat()
    return FileDigest(name, found.st_size, found.st_mtime_ns // 1_000_000)


def _sha256(root: Path, name: str) -> str:
    place = root if root.is_file() else root / name
    with _telling(str(place), "be read"), place.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _name_once(part: Path, target: Path) -> None:
    """Give a whole file its name; a link, unlike a rename, never replaces what is there."""
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise there_already(str(target)) from None
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        # Two writers at one instant could both get here; on these mounts nothing prevents it.
        if target.exists():
            raise there_already(str(target)) from None
        part.rename(target)


def _keep_names(folder: Path) -> None:
    """Make names durable, where folders can be synchronised."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def _telling(path: str, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        told = problem.strerror or str(problem) or type(problem).__name__
        raise LedgerError(f"{path} cannot {what}: {told}. Check the path and its rights") from None


# ------------------------------------------------------------------------- elsewhere, without Java


@dataclass(frozen=True, slots=True)
class FsspecStorage:
    """Any place that fsspec reaches, for sessions without a JVM and readers without Spark."""

    system: Any

    def exists(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            return bool(self.system.exists(path))

    def is_folder(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            return bool(self.system.isdir(path))

    def is_empty(self, path: str) -> bool:
        with _telling(path, "be looked into"):
            return not self.system.exists(path) or not self.system.find(path)

    def read_bytes(self, path: str) -> bytes:
        with _telling(path, "be read"):
            return bytes(self.system.cat_file(path))

    def write_new(self, path: str, data: bytes) -> None:
        """One PUT of an object store is whole or not; where it can refuse an old one, it does."""
        with _telling(path, "be written"):
            if self.system.exists(path):
                raise there_already(path)
            self.system.makedirs(parent(path), exist_ok=True)
            try:
                self.system.pipe_file(path, data, mode="create")
            except FileExistsError:
                raise there_already(path) from None
            except (NotImplementedError, TypeError):
                self.system.pipe_file(path, data)

    def files(self, path: str) -> tuple[FileDigest, ...]:
        with _telling(path, "be listed"):
            found = self.system.find(path, detail=True)
        root = str(self.system._strip_protocol(path)).rstrip("/")  # noqa: SLF001 - the only way
        listed = []
        for place, told in found.items():
            name = place.removeprefix(root).lstrip("/") or place.rpartition("/")[2]
            if not any(map(is_hidden, name.split("/"))):
                listed.append(FileDigest(name, int(told["size"] or 0), _modified_ms(told)))
        return tuple(sorted(listed, key=lambda file: file.path))

    def digest(self, path: str, files: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
        is_file = not self.is_folder(path)
        digested = []
        for one in files:
            place = path if is_file else join(path, one.path)
            with _telling(place, "be read"), self.system.open(place, "rb") as file:
                digested.append(replace(one, sha256=file_digest(file, "sha256").hexdigest()))
        return tuple(digested)


def _modified_ms(told: dict[str, Any]) -> int:
    """Stores call it by different names; one that does not tell it has 0."""
    names: Sequence[str] = ("mtime", "LastModified", "last_modified", "updated", "created")
    moment = next((told[name] for name in names if told.get(name)), 0)
    seconds = moment.timestamp() if hasattr(moment, "timestamp") else moment
    return int(seconds * 1000) if isinstance(seconds, (int, float)) else 0


def _file_system(path: str) -> Any:  # noqa: ANN401 - fsspec has no types
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]

        return url_to_fs(path)[0]
    except (ImportError, ValueError) as problem:
        raise LedgerError(
            f"{path} is not on this machine and cannot be reached without a JVM: {problem}. "
            "Install fsspec with the package for this store, or use a local path"
        ) from None
