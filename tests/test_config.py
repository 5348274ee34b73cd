"""Configuration is read strictly: a typo is refused, never taken for a default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeproof.config import (
    READ_MODES,
    Config,
    TableSettings,
    WatermarkSettings,
    find_config,
    load_config,
)
from lakeproof.errors import ConfigError
from lakeproof.model.names import TableName
from lakeproof.planning.read_mode import MODES
from lakeproof.planning.settings import table_settings, with_keys


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


def _late(keys: str) -> str:
    return f'[tables."t"]\nwatermark = {{column = "a", {keys}}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('default_catalogue = "x"', "unknown key 'default_catalogue'.*'default_catalog'"),
        ('[store]\nformt = "iceberg"', r"\[store\]: unknown key 'formt'.*'format'"),
        ('[store]\nformat = "hudi"', "'hudi' is not one of iceberg, delta"),
        ("[store]\nlease_seconds = 0", "lease_seconds must be a number above 0"),
        (
            "[tables.shop.orders]\nkey = ['id']",
            r"\[tables\.shop\.orders\]: a name with dots is written in quotes",
        ),
        (
            "[store]\nmax_hits_per_rule = 0.5",
            "max_hits_per_rule must be a whole number above 0, got 0.5",
        ),
        ('[store.tables]\nresult = "x"', r"\[store.tables\]: unknown key 'result'"),
        ('[gate]\nfail_on = "maybe"', "'maybe' is not one of warning, error, never"),
        ('[tables."sales"]\nkeys = ["a"]', r"\[tables.\"sales\"\]: unknown key 'keys'"),
        ('[tables."sales"]\nkey = [1]', "must be a list of column names"),
        ("default_catalog = 1", "default_catalog must be a string"),
        ('default_catalog = ""', "must not be empty"),
        ("timeout_seconds = true", "must be a number above 0"),
        ('[tables."t"]\nmode = "cfd"', r"\[tables.\"t\"\]: mode = 'cfd' is not one of auto, cdf"),
        ('[tables."t"]\nwatermark = 3', "watermark must be a column's name or"),
        ('[tables."t"]\nwatermark = " "', "watermark must be a column's name or"),
        ('[tables."t"]\nwatermark = {colum = "a"}', "unknown key 'colum'.*'column'"),
        ('[tables."t"]\nwatermark = {allowed_lateness = 0}', "column is missing"),
        ('[tables."t"]\nwatermark = {column = "a"}', "allowed_lateness is missing.* or 0"),
        (_late('allowed_lateness = "2 moons"'), "'2 moons' is no length of time"),
        (_late('allowed_lateness = "1mo"'), "'1mo' is no length of time.*without months"),
        (_late("allowed_lateness = -1"), "-1 is no length of time"),
        (_late("allowed_lateness = true"), "True is no length of time"),
        (_late('allowed_lateness = 0, nulls = "skip"'), "'skip' is not one of error, include"),
        (_late('allowed_lateness = 0, timezone = "Mars/Base"'), "not an IANA zone: 'Mars/Base'"),
        (_late('allowed_lateness = 0, skew = "soon"'), "skew = 'soon' is no length of time"),
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
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot be read"):
        load_config(write(tmp_path, 'watermarks_file = "nowhere.yaml"'))


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


def test_a_watermark_is_declared_in_full_or_by_its_column(tmp_path):
    text = """
        [tables."orders"]
        mode = "watermark"
        watermark.column = "at"
        watermark.allowed_lateness = "2h"
        watermark.nulls = "include"
        watermark.timezone = "Europe/Berlin"
        watermark.skew = 30
        [tables."iceberg.lakehouse.events"]
        watermark = "seq"
        [tables."events"]
        key = ["id"]
        mode = "snapshot_diff"
    """
    config = load_config(write(tmp_path, text))
    at = WatermarkSettings("at", 7200.0, "include", "Europe/Berlin", 30.0)
    orders, events = (
        table_settings(config, TableName(("iceberg", "lakehouse", name)))
        for name in ("orders", "events")
    )
    assert orders == TableSettings(mode="watermark", watermark=at)
    short = WatermarkSettings("seq", is_short_form=True)
    assert events == TableSettings(("id",), (), "snapshot_diff", short), "entries are joined"
    keyed = with_keys(config, {"orders": ["k"]})
    assert keyed.tables["orders"] == TableSettings(("k",), (), "watermark", at)
    assert set(READ_MODES) == set(MODES)


def test_watermarks_load_from_a_yaml_block(tmp_path):
    write(
        tmp_path,
        "watermarks:\n"
        "  dq_prd.monitoring.job_run_audit: start_time\n"
        "  dq_prd.txn.fact_orders: {column: ingest_ts, allowed_lateness: 90, nulls: exclude}\n"
        "  sales: no\n",
        "marks.yaml",
    )
    text = 'watermarks_file = "marks.yaml"\n[tables."sales"]\nkey = "id"'
    tables = load_config(write(tmp_path, text)).tables
    assert tables["dq_prd.monitoring.job_run_audit"].watermark == WatermarkSettings(
        "start_time", is_short_form=True
    )
    assert tables["dq_prd.txn.fact_orders"].watermark == WatermarkSettings(
        "ingest_ts", 90.0, "exclude"
    )
    assert tables["sales"].key == ("id",)
    assert tables["sales"].watermark.column == "no", "a column called no is no truth value"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected a mapping with the one key 'watermarks'"),
        ("marks:\n  a: b", "unknown key 'marks'"),
        ("watermarks: a", ":1: expected a mapping of tables"),
        ("watermarks:\n  a: b\n  a: c", ":3: 'a' is given twice"),
        ("watermarks:\n  a: [b]", ":2: expected a column's name or a mapping for 'a'"),
        ("watermarks:\n  a: {column: [b]}", ":2: expected a text or a number"),
        ("watermarks:\n  a: {column: b, lateness: 2h}", "a: unknown key 'lateness'"),
        ("watermarks:\n  a: {column: b}", "a: allowed_lateness is missing"),
        ("watermarks:\n  sales: b", "'sales' has a watermark in .*lakeproof.toml too"),
        ("watermarks: {a: b", "not valid YAML"),
        ("watermarks: " + "[" * 20_000, "not valid YAML"),
        ("x" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_a_yaml_block_that_cannot_be_used_is_refused_with_its_place(tmp_path, text, message):
    write(tmp_path, text, "marks.yaml")
    config = 'watermarks_file = "marks.yaml"\n[tables."sales"]\nwatermark = "a"'
    with pytest.raises(ConfigError, match=message) as refused:
        load_config(write(tmp_path, config))
    assert "marks.yaml" in str(refused.value)
