"""The way from a task to Spark and to what runs have kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from lakeproof.airflow.places import Place, place_of
from lakeproof.config import Config
from lakeproof.errors import ConfigError, EngineUnavailableError, LakeproofError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeproof.airflow.stages import DocumentStage
    from lakeproof.state.reading import StateReader

DEFAULT_CONNECTION = "lakeproof_default"


class LakeproofHook(BaseHook):
    """Sessions and stores of one connection.

    Its host is `local` (a session of the task's own on the lakehouse in the folder that the extra
    `warehouse` names), `sc://host` (Spark Connect; the password is its token) or any Spark master
    (`spark://host`, `yarn`, ...), whose settings are in the extra `spark_conf`. Connections of the
    Spark provider do as well. Extras `config` (a lakeproof.toml), `staging` and `run_url`: see
    `Place`.
    """

    conn_name_attr = "conn_id"
    default_conn_name = DEFAULT_CONNECTION
    conn_type = "lakeproof"
    hook_name = "Lakeproof"

    def __init__(self, conn_id: str = DEFAULT_CONNECTION) -> None:
        super().__init__()
        self.conn_id = conn_id
        self._open = ExitStack()

    @cached_property
    def place(self) -> Place:
        try:
            connection = self.get_connection(self.conn_id)
        except AirflowNotFoundException as problem:
            raise ConfigError(
                f"there is no connection {self.conn_id!r}. Next: airflow connections add "
                f"{self.conn_id} --conn-type lakeproof --conn-host local"
            ) from problem
        return place_of(connection, self.conn_id)

    @cached_property
    def settings(self) -> Config:
        return self.place.settings()

    @property
    def stage(self) -> DocumentStage:
        """Where runs put their results aside; without `staging`, a folder of Airflow's home."""
        from lakeproof.airflow.stages import DocumentStage

        home = os.environ.get("AIRFLOW_HOME") or Path("~/airflow").expanduser()
        return DocumentStage(self.place.staging or str(Path(home) / "lakeproof" / "staged"))

    def run_url(self, run_id: str) -> str:
        """The page of a run; '' where the connection names none."""
        return self.place.run_url.replace("{run_id}", run_id)

    def require_lakehouse(self) -> None:
        """Refuse a folder that is not there: mistyped, it would pass for an empty lakehouse.

        Tasks that only use a lakehouse ask this first; one that ingests may make a new one.
        """
        from lakeproof.engines.spark.opening import is_lakehouse_missing

        session = self.settings.session
        if is_lakehouse_missing(session):
            raise ConfigError(
                f"connection {self.conn_id!r}: no lakehouse in "
                f"{Path(session.warehouse).expanduser().absolute()}. Next: name its folder in the "
                "extra `warehouse`; lakeproof store init makes a new one"
            )

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """A session that is stopped at the end, unless this process had it before."""
        from lakeproof.engines.spark.opening import open_session, open_session_on

        place = self.place
        if place.master:
            opening = open_session_on(place.master, place.spark_conf)
        else:
            opening = open_session(self.settings.session)
        with ExitStack() as stack:
            try:
                spark = stack.enter_context(opening)
            except EngineUnavailableError as problem:
                raise EngineUnavailableError(f"connection {self.conn_id!r}: {problem}") from problem
            yield spark

    @contextmanager
    def reader(
        self, session: Callable[[], AbstractContextManager[SparkSession]] | None = None
    ) -> Iterator[StateReader]:
        """What is kept, read without Spark where that is possible; else in such a session."""
        from lakeproof.state import open_store
        from lakeproof.state.reading import SparkReader
        from lakeproof.state.without_spark import reader_without_spark

        quick = reader_without_spark(self.settings.session, self.settings.store)
        if quick is not None:
            yield quick
            return
        with (session or self.session)() as spark:
            yield SparkReader(open_store(spark, self.settings.store))

    def get_conn(self) -> SparkSession:
        """A session for a task of your own; it ends with the task's process."""
        return self._open.enter_context(self.session())

    def test_connection(self) -> tuple[bool, str]:
        """Whether a session can be had, and if not why, for the connection's page."""
        try:
            self.require_lakehouse()
            with self.session() as spark:
                return True, f"Spark {spark.version}"
        except LakeproofError as problem:
            return False, str(problem)
