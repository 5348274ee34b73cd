"""Secrets in configuration and in what others raise: in nothing that a command says, nor an API."""

from __future__ import annotations

import sys

import canaries
import pytest
from canaries import found_in
from click.testing import CliRunner

from lakeproof import ConfigError, EngineUnavailableError, QualityCheck, run_checks
from lakeproof.cli.main import main
from lakeproof.config import Config, StoreSettings, load_config

SUITE = """
from lakeproof.model.suite import QualityCheck
CHECKS = [QualityCheck("a", "not_null", "sales", "id")]
"""
DSN = "jdbc:postgresql://db/x?password="


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with this configuration and suite module; the module's name is of this test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(settings="", suite=SUITE):
        name = f"suite_with_secrets_{tmp_path.name}"
        (tmp_path / "lakeproof.toml").write_text(settings, encoding="utf-8")
        (tmp_path / f"{name}.py").write_text(suite, encoding="utf-8")
        return f"{name}:CHECKS"

    return write


def call(*arguments):
    done = CliRunner().invoke(main, [*arguments, "-vv"])
    assert done.stderr.splitlines()[-1].startswith("lakeproof: ")
    return done


@pytest.mark.parametrize(
    ("remote", "told"),
    [
        (f"sc://127.0.0.1:1/;token={canaries.REMOTE_TOKEN}", "127.0.0.1:1"),
        (f"sc://127.0.0.1:1;token={canaries.REMOTE_TOKEN_WITHOUT_SLASH}", "not a Spark Connect"),
        (f"sc://me:{canaries.REMOTE_PASSWORD}@127.0.0.1:1/", "127.0.0.1:1"),
    ],
)
def test_the_address_of_a_server_is_told_without_its_secrets(project, monkeypatch, remote, told):
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):  # where one is set nobody knocks
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    suite = project(f'[session]\nremote = "{remote}"\n')
    done = call("run", suite)
    assert done.exit_code == 3
    assert told in done.stderr
    assert "Traceback" in done.stderr
    assert found_in(done.output) == []


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (f'[session]\nremote = ["sc://h/;token={canaries.REMOTE_IN_A_LIST}"]', "remote"),
        (f'[session]\npassword = "{canaries.UNKNOWN_SETTING}"', "unknown key 'password'"),
        (f'[session]\nremote = "sc://h/;token={canaries.BROKEN_FILE}', "not valid TOML"),
    ],
)
def test_a_refused_configuration_is_told_without_its_secrets(project, tmp_path, settings, told):
    suite = project(settings)
    done = call("lint", suite)
    assert done.exit_code == 2
    assert told in done.stderr
    assert found_in(done.output) == []
    with pytest.raises(ConfigError) as refused:
        load_config(tmp_path / "lakeproof.toml")
    assert found_in(f"{refused.value} {refused.value!r}") == []


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (f"cannot reach postgresql://me:{canaries.SUITE_DSN}@db/x", "postgresql://***@db/x"),
        (f"InvalidAccessKeyId: {canaries.SUITE_AWS_KEY} is not known", "*** is not known"),
        (f"401 for Authorization: Bearer {canaries.SUITE_BEARER}", "401 for Authorization: ***"),
    ],
)
def test_what_a_suite_raises_is_told_without_secrets_trace_included(project, raised, told):
    suite = project(suite=f"raise RuntimeError({raised!r})\n")
    done = call("lint", suite)
    assert done.exit_code == 2
    assert told in done.stderr
    assert "Traceback" in done.stderr
    assert found_in(done.output) == []


def test_a_parameter_with_a_connection_string_is_told_without_its_password(project):
    dsn = f"{DSN}{canaries.PARAMETER_DSN}"
    text = (
        f'CHECKS = [QualityCheck("a", "row_count_range", "sales", params={{"min_count": {dsn!r}}})]'
    )
    suite = project(suite=f"from lakeproof.model.suite import QualityCheck\n{text}\n")
    done = CliRunner().invoke(main, ["lint", suite, "-vv"])
    assert done.exit_code == 2
    assert f"{DSN}***" in done.output
    assert found_in(done.output) == []


@pytest.fixture
def broken_catalogs(spark):
    """Two catalogs that cannot be reached, their addresses and settings with passwords."""
    user = f"http://me:{canaries.CATALOG_USER_PASSWORD}@127.0.0.1:1/"
    settings = {
        "broken_jdbc": {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:/no/such/folder/x.db?password={canaries.CATALOG_PASSWORD}",
            "jdbc.password": canaries.CATALOG_PASSWORD,
            "warehouse": "/no/such/folder",
        },
        "broken_rest": {"type": "rest", "uri": user, "token": canaries.CATALOG_USER_PASSWORD},
    }
    for catalog, values in settings.items():
        name = f"spark.sql.catalog.{catalog}"
        spark.conf.set(name, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in values.items():
            spark.conf.set(f"{name}.{key}", value)
    yield list(settings)
    for catalog, values in settings.items():
        for key in values:
            spark.conf.unset(f"spark.sql.catalog.{catalog}.{key}")
        spark.conf.unset(f"spark.sql.catalog.{catalog}")


def test_a_catalog_that_cannot_be_reached_is_named_without_its_password(spark, broken_catalogs):
    causes = ""
    for catalog in broken_catalogs:
        check = QualityCheck("a", "not_null", f"{catalog}.x.sales", "id")
        with pytest.raises(EngineUnavailableError) as unreachable:
            run_checks(spark, [check])
        assert catalog in str(unreachable.value)
        causes += str(unreachable.value.__cause__)
        assert found_in(f"{unreachable.value} {unreachable.value!r}") == []
        with pytest.raises(EngineUnavailableError) as unkept:
            run_checks(spark, [check], store=StoreSettings(catalog=catalog), config=Config())
        assert found_in(f"{unkept.value} {unkept.value!r}") == []
    assert found_in(causes) == [canaries.CATALOG_PASSWORD], "else there was nothing to hide"
