"""Configuration is read strictly: a typo is refused, never taken for a default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeproof.config import Config, find_config, load_config
from lakeproof.errors import ConfigError


def write(folder: Path, text: str, name: str = "lakeproof.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_documented_file_holds_every_key_and_equals_the_defaults(tmp_path):
    page = (Path(__file__).parents[1] / "docs/guides/configuration.md").read_text(encoding="utf-8")
    block = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    loaded = load_config(write(tmp_path, block))
    default = Config()
    assert loaded.store == default.store
    assert loaded.session == default.session
    assert loaded.gate == default.gate
    assert loaded.tables["sales"].key == ("order_id",)
    assert (loaded.default_catalog, loaded.default_namespace) == ("iceberg", "lakehouse")


def test_the_store_follows_the_default_catalog_and_namespace(tmp_path):
    loaded = load_config(write(tmp_path, 'default_catalog = "prod"\ndefault_namespace = "dq"'))
    assert (loaded.store.catalog, loaded.store.namespace) == ("prod", "dq")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('default_catalogue = "x"', "unknown key 'default_catalogue'.*'default_catalog'"),
        ('[store]\nformt = "iceberg"', r"\[store\]: unknown key 'formt'.*'format'"),
        ('[store]\nformat = "hudi"', "'hudi' is not one of iceberg, delta"),
        ("[store]\nlease_seconds = 0", "lease_seconds must be a number above 0"),
        ('[store.tables]\nresult = "x"', r"\[store.tables\]: unknown key 'result'"),
        ('[gate]\nfail_on = "maybe"', "'maybe' is not one of warning, error, never"),
        ('[tables."sales"]\nkeys = ["a"]', r"\[tables.\"sales\"\]: unknown key 'keys'"),
        ('[tables."sales"]\nkey = [1]', "must be a list of column names"),
        ("default_catalog = 1", "default_catalog must be a string"),
        ('default_catalog = ""', "must not be empty"),
        ("timeout_seconds = true", "must be a number above 0"),
        ("not toml", "not valid TOML"),
        ("store = 1", "expected a table"),
    ],
)
def test_what_cannot_be_used_is_refused_with_place_and_next_step(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as refused:
        load_config(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_a_config_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "nowhere.toml")


def test_lakeproof_toml_is_found_before_pyproject(tmp_path):
    assert find_config(tmp_path) is None
    project = write(tmp_path, '[tool.lakeproof]\ndefault_namespace = "b"', "pyproject.toml")
    assert find_config(tmp_path) == project
    assert load_config(project).default_namespace == "b"
    own = write(tmp_path, 'default_namespace = "a"')
    assert find_config(tmp_path) == own


def test_a_pyproject_without_our_section_is_not_a_configuration(tmp_path):
    write(tmp_path, '[project]\nname = "x"', "pyproject.toml")
    assert find_config(tmp_path) is None
