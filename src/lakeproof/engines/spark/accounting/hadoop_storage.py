"""Files wherever Hadoop reaches: by the JVM of a classic session, and digested by Spark."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lakeproof.engines.spark.accounting.literal_paths import literal_path
from lakeproof.engines.spark.flavour import Java, is_connect
from lakeproof.errors import LedgerError, short_message
from lakeproof.model.accounting import FileDigest
from lakeproof.model.storing import is_hidden, there_already

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Stores in which a file appears, whole, when it is closed, and where a rename is a slow copy.
_OBJECT_STORES: Final = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs", "swift"})
_REFUSES_OLD: Final = "fs.option.create.conditional.overwrite"
# An executor holds the whole content of a file that it digests; larger ones go by as a stream.
_DIGESTED_BY_SPARK_BYTES_MAX: Final = 64 * 1024 * 1024


def hadoop_storage(spark: SparkSession) -> HadoopStorage | None:
    """What reaches files by this session's JVM; None on Spark Connect, which shows none."""
    return None if is_connect(spark) else HadoopStorage(spark)


@dataclass(frozen=True, slots=True)
class HadoopStorage:
    """Any path that this session can write."""

    spark: SparkSession

    @property
    def is_local_by_default(self) -> bool:
        """Whether a path without a scheme is one of this machine."""
        return str(self._settings().get("fs.defaultFS", "file:///")).startswith("file:")

    def exists(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            place, system = self._at(path)
            return bool(system.exists(place))

    def is_folder(self, path: str) -> bool:
        with _telling(path, "be looked up"):
            place, system = self._at(path)
            return bool(system.exists(place) and system.getFileStatus(place).isDirectory())

    def is_empty(self, path: str) -> bool:
        with _telling(path, "be looked into"):
            place, system = self._at(path)
            if not system.exists(place):
                return True
            is_folder = system.getFileStatus(place).isDirectory()
            return bool(is_folder and not system.listStatusIterator(place).hasNext())

    def read_bytes(self, path: str) -> bytes:
        with _telling(path, "be read"):
            place, system = self._at(path)
            stream = system.open(place)
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

    def write_new(self, path: str, data: bytes) -> None:
        with _telling(path, "be written"):
            place, system = self._at(path)
            if system.exists(place):
                raise there_already(path)
            if system.getScheme() in _OBJECT_STORES:
                _put(system, place, data)
                return
            # A rename is refused by False where the target came to be meanwhile.
            part = self._path(f"{place.getParent()}/.{place.getName()}.{secrets.token_hex(8)}.part")
            try:
                _put(system, part, data)
                if not system.rename(part, place):
                    raise there_already(path)
            finally:
                system.delete(part, False)

    def files(self, path: str) -> tuple[FileDigest, ...]:
        """By the JVM: a list by `binaryFile` would lack the empty files."""
        listed = []
        with _telling(path, "be listed"):
            place, system = self._at(path)
            if not system.exists(place):
                return ()
            root = system.resolvePath(place).toString().rstrip("/")
            found = system.listFiles(place, True)
            while found.hasNext():
                one = found.next()
                name = _relative(one.getPath().toString(), root)
                if not any(map(is_hidden, name.split("/"))):
                    listed.append(FileDigest(name, one.getLen(), one.getModificationTime()))
        return tuple(sorted(listed, key=lambda file: file.path))

    def digest(self, path: str, files: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
        listed = tuple(files)
        with _telling(path, "be digested"):
            place, system = self._at(path)
            root = system.resolvePath(place).toString().rstrip("/")
            is_file = not system.getFileStatus(place).isDirectory()
            paths = {one.path: root if is_file else f"{root}/{one.path}" for one in listed}
            small = [paths[one.path] for one in listed if one.bytes <= _DIGESTED_BY_SPARK_BYTES_MAX]
            digests = self._digests_by_spark(small) if small else {}
            for one in listed:
                if paths[one.path] not in digests:
                    digests[paths[one.path]] = self._digest_of_stream(system, paths[one.path])
        return tuple(replace(one, sha256=digests[paths[one.path]]) for one in listed)

    def _digests_by_spark(self, paths: Sequence[str]) -> dict[str, str]:
        """All but those of empty files, which Spark passes over."""
        # Not looking for partitions: `length=5` in a path would hide a column of the list.
        reader = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        content = reader.load([literal_path(one) for one in paths])
        rows = content.selectExpr("path", "sha2(content, 256) AS sha256").collect()
        return {row["path"]: row["sha256"] for row in rows}

    def _digest_of_stream(self, system: Java, path: str) -> str:
        stream = system.open(self._path(path))
        try:
            digests = self.spark._jvm.org.apache.commons.codec.digest.DigestUtils  # type: ignore[union-attr]  # noqa: SLF001
            return str(digests.sha256Hex(stream))
        finally:
            stream.close()

    def _at(self, path: str) -> tuple[Java, Java]:
        """The path, and the file system that it is on."""
        place = self._path(path)
        return place, place.getFileSystem(self._settings())

    def _path(self, path: str) -> Java:
        return self.spark._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]  # noqa: SLF001

    def _settings(self) -> Java:
        return self.spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001


def _put(system: Java, place: Java, data: bytes) -> None:
    """A new file; S3 is asked to refuse one that came to be meanwhile, others always do."""
    builder = system.createFile(place).overwrite(False).recursive()
    stream = builder.opt(_REFUSES_OLD, "true").build()
    try:
        stream.write(bytearray(data))
    finally:
        stream.close()


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/") or path.rpartition("/")[2]


@contextmanager
def _telling(path: str, what: str) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as problem:
        told = short_message(problem)
        if "FileAlreadyExists" in told:
            raise there_already(path) from None
        raise LedgerError(f"{path} cannot {what}: {told}. Check the path and its rights") from None
