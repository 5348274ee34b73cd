"""The text of a first `lakeproof.toml`: every key with its default, as a comment.

A line `#key = value` is a default that may be uncommented; a line `# text` is prose.
"""

from __future__ import annotations

import json

from lakeproof.config import SessionSettings

_TEXT = """\
# Configuration of lakeproof. A line that begins with # and a word shows a key with its default:
# remove the # to change it. An unknown key is refused.

# A table called `sales` or `shop.sales` is completed by these.
#default_catalog = "iceberg"
#default_namespace = "lakehouse"

# A YAML file beside this one with a block `watermarks:`, table to column.
#watermarks_file = ""

# timeout_seconds = 3600 limits a whole run; without it there is no limit.

# Where results and violations are kept: format "iceberg" or "delta".
#[store]
#format = "iceberg"
# Without these two: default_catalog ("spark_catalog" for delta) and default_namespace.
#catalog = "iceberg"
#namespace = "lakehouse"
# How long a driver that died blocks another one elsewhere.
#lease_seconds = 3600
# max_hits_per_rule = 100000 bounds what is stored of one rule's open violations; all are counted.

#[store.tables]
#results = "_quality_results"
#violations = "_quality_violations"
#progress = "_quality_progress"
#intents = "_quality_intents"
#key_index = "_quality_key_index"

# How data contracts are read where their standard leaves a choice: which number duplicates are
# ("values", "rows", "surplus"), whether ranges hold their ends ("closed", "open"), whether NULL is
# missing ("always", "listed"), whether a pattern may match anywhere ("find", "full"), what percent
# of no rows is ("skip", "pass"). Then the engine of rules that name none, and the dialect of SQL.
#[contracts]
#duplicates = "values"
#between = "closed"
#null_is_missing = "always"
#regex = "find"
#empty_percent = "skip"
#default_engine = ""
#sql_dialect = ""

# Words of your contracts for severity, beside the built-in ones: "error", "warning" or "info".
#[contracts.severities]
# minor = "warning"

# What makes the exit code 1: "error", "warning" or "never".
#[gate]
#fail_on = "error"

# Which Spark the command line uses: "embedded", its own on a folder; "provided", the one around
# it (spark-submit, a notebook); or a Spark Connect server, remote = "sc://host:15002".
{session}

# One section per table, by its short or full name. By the key columns a bad row is known; values
# of sensitive columns are shown nowhere. Its changes are read by mode "auto", "cdf", "watermark",
# "snapshot_diff" or "snapshot"; a watermark is a column that grows as rows are added.
# With statistics = false its rows are read even if the statistics of its files decide a rule.
# [tables."sales"]
# key = ["order_id"]
# sensitive = ["email"]
# mode = "auto"
# watermark = {{column = "ingested_at", allowed_lateness = "2h"}}
# statistics = true
"""


def config_text(session: SessionSettings, table: str = "", key: tuple[str, ...] = ()) -> str:
    """The file; what differs from the defaults, and the table's key, stand uncommented."""
    text = _TEXT.format(session=_session_lines(session))
    if not key:
        return text
    columns = ", ".join(_toml_text(column) for column in key)
    return f"{text}\n[tables.{_toml_text(table)}]\nkey = [{columns}]\n"


def _session_lines(session: SessionSettings) -> str:
    default = SessionSettings()
    mark = "#" if session == default else ""
    # What follows the host of a Connect address may hold a token, which belongs into no file.
    remote = session.remote.split("/;", 1)[0]
    given = {"use": session.use, "warehouse": session.warehouse, "remote": remote}
    lines = [f"{key} = {_toml_text(value)}" for key, value in given.items()]
    return "\n".join(f"{mark}{line}" for line in ["[session]", *lines])


def _toml_text(text: str) -> str:
    """A basic string; JSON's escapes are TOML's, but for DEL, which TOML wants escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
