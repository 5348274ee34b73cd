"""Results made by hand, and a report of them."""

from __future__ import annotations

import re
from dataclasses import replace

from lakeproof.gating.policy import decide
from lakeproof.model.canonical import encode_key
from lakeproof.model.outcome import CheckResult, CheckStatus
from lakeproof.reporting.run_report import RunReport

RUN = "run-20250102t030405-abcdef"


def made(name, status=CheckStatus.PASSED, **fields):
    base = CheckResult(
        check_name=name,
        check_type="not_null",
        table_name="sales",
        column_name="amount",
        status=status,
        failing_rows=0,
        total_rows=1000,
        details="none of 1000 rows have NULL in amount",
        executed_at="2025-01-02 03:04:05.000000",
        run_id=RUN,
        rule_id="f00d",
        rule_key=name,
        table_fqn="iceberg.lakehouse.sales",
        dimension="completeness",
        threshold="0 rows",
        measure=0.0,
        duration=0.25,
        table_rows=1000,
    )
    return replace(base, **fields)


def failed(name, **fields):
    given = {
        "failing_rows": 5,
        "measure": 0.005,
        "details": "5 of 1000 rows have NULL in amount",
        "new_violations": 5,
        "sample_keys": tuple(encode_key({"order_id": number}) for number in (1, 2, 3)),
        "sample_values": ("-3.0", "", "0.0"),
        "source": "suites/checks.py:7",
    }
    return made(name, **{"status": CheckStatus.FAILED, **given, **fields})


def report(*results, **options):
    return RunReport(RUN, results, decide(results), **options)


def whole(text):
    """As UTF-8 can hold it: half a surrogate pair is no character."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def hostile(text):
    """Results with this text wherever a text can come from outside, and a name of it."""
    fields = {
        "check_type": text,
        "table_name": text,
        "column_name": text,
        "details": text,
        "rule_id": text,
        "rule_key": text,
        "table_fqn": text,
        "dimension": text,
        "tags": (text, text),
        "threshold": text,
        "position": text,
        "suite": text,
        "mode_reason": text,
        "dag_run_id": text,
        "sample_keys": (text, encode_key({whole(text): whole(text)})),
        "sample_values": (text, text),
        "measures": {text: 1.0},
        "source": f"{text}:7",
    }
    return (
        failed(text, **fields),
        failed(text, **{**fields, "status": CheckStatus.WARNED, "severity": "warning"}),
        made(text, CheckStatus.ERROR, **fields),
        made(text, CheckStatus.SKIPPED, **fields),
    )
