"""Where a connection leads: which Spark, which lakehouse, and where documents are put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from lakeproof.config import Config, SessionSettings, load_config
from lakeproof.errors import ConfigError
from lakeproof.model.nearest import nearest

EMBEDDED = ("", "local")
"""Hosts that stand for a session of the task's own, on a lakehouse in a folder."""

KNOWN_EXTRAS = ("warehouse", "config", "staging", "run_url", "spark_conf", "use_ssl")
_CONNECT = "sc://"
_WORDS = {"true": True, "false": False}


class Connection(Protocol):
    """What is read of an Airflow connection, of this provider or of the Spark one."""

    conn_type: str
    host: str | None
    port: int | None
    password: str | None

    @property
    def extra_dejson(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """One of: a folder (`warehouse`), a Spark Connect server (`remote`), a Spark `master`.

    `staging` is a folder or an address that every worker reaches; `run_url` makes the address of
    a run out of `{run_id}`.
    """

    master: str = ""
    remote: str = field(default="", repr=False)  # it may hold a token
    warehouse: str = ""
    config_file: str = ""
    staging: str = ""
    run_url: str = ""
    spark_conf: Mapping[str, str] = field(default_factory=dict, repr=False)

    def settings(self) -> Config:
        """The configuration in the named file, or the defaults, with the session of this place."""
        config = load_config(self.config_file) if self.config_file else Config()
        session = SessionSettings(
            use="provided" if self.master else "embedded",
            warehouse=self.warehouse or _beside(self.config_file, config.session.warehouse),
            remote=self.remote,
        )
        return replace(config, session=session)


def place_of(connection: Connection, conn_id: str) -> Place:
    """What the connection says; an extra that nobody knows is refused, as it would go unheard."""
    extra = dict(connection.extra_dejson)
    is_own = connection.conn_type == "lakeproof"
    for name in extra if is_own else ():
        if name not in KNOWN_EXTRAS:
            near = nearest(str(name), KNOWN_EXTRAS)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ConfigError(
                f"connection {conn_id!r}: unknown extra {name!r}.{hint} "
                f"Known: {', '.join(KNOWN_EXTRAS)}."
            )
    address = _address(connection, is_encrypted=_flag(extra, "use_ssl", conn_id))
    is_remote = address.startswith(_CONNECT)
    conf = extra.get("spark_conf") or {}
    if not isinstance(conf, Mapping):
        raise ConfigError(f"connection {conn_id!r}: extra spark_conf must map settings to values")
    return Place(
        master="" if is_remote or address in EMBEDDED else address,
        remote=address if is_remote else "",
        warehouse=str(extra.get("warehouse") or ""),
        config_file=str(extra.get("config") or ""),
        staging=str(extra.get("staging") or ""),
        run_url=str(extra.get("run_url") or ""),
        spark_conf={str(name): str(value) for name, value in conf.items()},
    )


def _flag(extra: Mapping[str, Any], name: str, conn_id: str) -> bool:
    """An extra that was typed into a form is text: there `false` is not nothing."""
    given = extra.get(name) or False
    found = given if isinstance(given, bool) else _WORDS.get(str(given).strip().lower())
    if found is None:
        raise ConfigError(f"connection {conn_id!r}: extra {name} must be true or false")
    return found


def _address(connection: Connection, *, is_encrypted: bool) -> str:
    """Host and port as Spark takes them; a password is the token of a Connect server."""
    host = (connection.host or "").rstrip("/")
    if connection.conn_type == "spark_connect" and "://" not in host:
        host = f"{_CONNECT}{host}"
    if connection.port and host not in EMBEDDED:
        host = f"{host}:{connection.port}"
    if not host.startswith(_CONNECT):
        return host
    parameters = []
    if connection.password:
        # Spark splits the address at `;` and `=`, and unquotes what it has found then.
        parameters.append(f"token={quote(connection.password, safe='')}")
    if is_encrypted:
        parameters.append("use_ssl=true")
    return f"{host}/;{';'.join(parameters)}" if parameters else host


def _beside(config_file: str, warehouse: str) -> str:
    """A relative folder is meant from where the configuration is: a worker runs anywhere."""
    folder = Path(warehouse).expanduser()
    return str(Path(config_file).parent / folder) if config_file else warehouse
