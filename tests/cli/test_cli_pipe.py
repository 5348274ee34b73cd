from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LAKEPROOF = Path(sys.executable).with_name("lakeproof")


@pytest.mark.slow
def test_a_run_piped_into_json_tool_while_progress_shows(spark, warehouse, folder, suite_file):
    """The real thing, in processes of its own: command, Java, pipe."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.cli_pipe")
    spark.sql(
        "CREATE OR REPLACE TABLE iceberg.cli_pipe.sales USING iceberg AS "
        "SELECT id AS order_id, id - 1 AS amount FROM range(5)"
    )
    name = suite_file(
        "CHECKS = [QualityCheck('amount_positive', 'positive', 'sales', 'amount')]\n"
        "print('a suite that talks')\n"
    )
    (folder / "lakeproof.toml").write_text("default_namespace = 'cli_pipe'\n", encoding="utf-8")
    command = (
        f"set -o pipefail; '{LAKEPROOF}' run {name}:CHECKS --warehouse '{warehouse}' "
        f"--key sales=order_id --format json | '{sys.executable}' -m json.tool"
    )
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["gate"]["open"] is False
    (result,) = document["results"]
    assert (result["status"], result["failing_rows"], result["new_violations"]) == ("failed", 2, 2)
    told = done.stderr.splitlines()
    assert told[0] == "a suite that talks"
    assert told[1].startswith("Spark is ready (")
    assert any(line.startswith("iceberg.cli_pipe.sales: scanned 5 rows") for line in told)
    assert not [line for line in told if "WARN" in line or "Exception" in line]
