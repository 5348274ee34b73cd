from __future__ import annotations

import socket

import pytest

from lakeproof.cli.options import Where
from lakeproof.config import Config, SessionSettings
from lakeproof.engines.spark.opening import address_for_people, open_session
from lakeproof.errors import ConfigError, EngineUnavailableError


def test_the_file_in_this_folder_is_used_and_options_outweigh_it(folder):
    (folder / "lakeproof.toml").write_text(
        "default_namespace = 'shop'\n[session]\nuse = 'provided'\nwarehouse = 'there'\n",
        encoding="utf-8",
    )
    found = Where().settings()
    assert (found.default_namespace, found.session.use) == ("shop", "provided")
    given = Where(warehouse="here").settings()
    assert given.default_namespace == "shop"
    assert given.session == SessionSettings(use="embedded", warehouse="here")
    assert Where(remote="sc://host").settings().session.remote == "sc://host"


def test_without_a_file_the_defaults_apply(folder):
    assert folder.is_dir()
    assert Where().settings() == Config()


def test_the_other_format_is_kept_in_its_own_catalog():
    config = Config()
    assert Where().kept_in(config) == config.store
    assert Where(store="none").kept_in(config) is None
    delta = Where(store="delta").kept_in(config)
    assert delta is not None
    assert (delta.format, delta.catalog, delta.namespace) == (
        "delta",
        "spark_catalog",
        "lakehouse",
    )
    with pytest.raises(ConfigError, match="nothing to open"):
        Where(store="none").store_to_open(config)


def test_the_next_command_repeats_the_place_safely_quoted():
    typed = Where(config="my conf.toml", warehouse="$(rm x)", store="delta").typed
    assert typed == " --config 'my conf.toml' --warehouse '$(rm x)' --store delta"


@pytest.fixture
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.mark.usefixtures("no_proxy")
def test_a_connect_server_that_is_not_there_is_told_at_once_without_its_token():
    address = f"sc://127.0.0.1:{free_port()}/;token=secret"
    with (
        pytest.raises(EngineUnavailableError, match="no Spark Connect server answers") as raised,
        open_session(SessionSettings(remote=address)),
    ):
        pass
    assert "secret" not in str(raised.value)
    assert address_for_people("sc://host:1/;token=secret") == "sc://host:1"


@pytest.mark.parametrize("address", ["sc://host:notaport", "sc://[bad"])
def test_an_address_that_is_none_is_told(address):
    with (
        pytest.raises(EngineUnavailableError, match="is not a Spark Connect address"),
        open_session(SessionSettings(remote=address)),
    ):
        pass


def test_a_session_that_was_there_is_used_and_not_stopped(spark, warehouse):
    for settings in (
        SessionSettings(use="embedded", warehouse=str(warehouse)),
        SessionSettings(use="provided"),
    ):
        with open_session(settings) as found:
            assert found.sparkContext is spark.sparkContext
        assert spark.sql("SELECT 1 AS one").collect()[0]["one"] == 1
