"""`lakeproof contract`: coverage, export and due, all without Spark."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CONTRACT = """\
apiVersion: v3.2.0
kind: DataContract
id: shop
version: 1.0.0
schema:
  - name: orders
    physicalName: orders_${STAGE:-test}
    properties:
      - name: id
        required: true
        quality:
          - metric: nullValues
            mustBe: 0
            schedule: 0 10 * * *
            scheduler: cron
          - type: text
            description: looks fine
          - metric: nullValus
            mustBe: 0
          - type: custom
            engine: montecarlo
            implementation: x
            schedule: nightly
            scheduler: airflow
"""


@pytest.fixture
def shop(folder):
    (folder / "shop.yaml").write_text(CONTRACT, encoding="utf-8")
    return "shop.yaml"


def test_coverage_says_of_every_rule_what_runs_or_why_not(lakeproof, shop):
    done = lakeproof("contract", "coverage", shop)
    assert done.exit_code == 0, done.stderr
    file, _, table, why, *rules, _, last = done.stdout.splitlines()
    assert (file, table) == ("shop.yaml", "iceberg.lakehouse.orders_test")
    assert why.startswith("  the contract names no server")
    first, text, misspelled, foreign, *implied = rules
    assert " ".join(first.split()) == "runs 12:13 quality id not_null, must be 0 rows"
    assert text.startswith("  skipped  16:13  quality  id  a text for people")
    assert misspelled.startswith("  error    18:13  quality  id  ")
    assert "nullValues" in misspelled
    assert "'montecarlo'" in foreign
    assert [line.split() for line in implied] == [
        ["runs", "9:9", "implied", "id", "column_type"],
        ["runs", "10:9", "implied", "id", "not_null"],
    ]
    assert last == "6 rules: 3 run, 2 skipped, 1 error"


def test_coverage_as_json_has_every_rule_with_its_place(lakeproof, shop):
    done = lakeproof("contract", "coverage", shop, "--format", "json")
    document = json.loads(done.stdout)
    assert document["counts"] == {"rules": 6, "runs": 3, "skipped": 2, "error": 1}
    assert document["rules"][0] == {
        "key": "shop/orders.id:quality[0]",
        "location": "shop.yaml:12:13",
        "origin": "quality",
        "status": "runs",
        "check": "not_null",
        "table": "iceberg.lakehouse.orders_test",
        "column": "id",
        "limit": "must be 0 rows",
        "engine": "lakeproof",
        "reason": "",
        "notes": "",
        "place": "the contract names no server: by its physical name, with the default catalog "
        "and namespace",
    }
    assert all(one["reason"] for one in document["rules"] if one["status"] != "runs")
    assert any("nullValus" in found for found in document["findings"])


def test_tables_and_variables_come_from_the_command_line(lakeproof, shop):
    def tables(*options):
        done = lakeproof("contract", "coverage", shop, "--format", "json", *options)
        assert done.exit_code == 0, done.stderr
        return {one["table"] for one in json.loads(done.stdout)["rules"]}

    assert tables("--var", "STAGE=prod") == {"iceberg.lakehouse.orders_prod"}
    assert tables("--table", "orders=lake.crm.orders") == {"lake.crm.orders"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--table", "ordres=a.b.c"], "no object 'ordres'"),
        (["--server", "prod"], "no server 'prod'"),
        (["--table", "orders"], "'orders' is not of the form OBJECT=TABLE"),
        (["--table", "orders=a.b", "--table", "orders=c.d"], "'orders' is given twice"),
        (["--var", "=secret"], "'' is not of the form NAME=VALUE"),
        (["-o", "nowhere/out.txt"], "nowhere/out.txt cannot be written"),
    ],
)
def test_what_cannot_be_used_is_refused(lakeproof, shop, options, said):
    done = lakeproof("contract", "coverage", shop, *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "secret" not in done.stderr


def test_a_contract_that_cannot_be_read_is_refused_with_its_place(lakeproof, folder):
    (folder / "bad.yaml").write_text("a: 1\na: 2\n", encoding="utf-8")
    done = lakeproof("contract", "coverage", "bad.yaml")
    assert done.exit_code == 2
    assert "bad.yaml:2:1" in done.stderr
    assert lakeproof("contract", "export", "none.yaml").exit_code == 2


def test_due_lists_rules_by_their_schedule_and_those_nobody_can_decide(lakeproof, shop):
    done = lakeproof("contract", "due", shop, "--at", "2025-03-01T10:00")
    assert done.exit_code == 0, done.stderr
    *rules, last = done.stdout.splitlines()
    assert last == "5 of 6 rules due at 2025-03-01T10:00:00+00:00"
    assert [line.split()[0] for line in rules] == ["due", "due", "due", "undecidable", *["due"] * 2]
    assert "scheduler 'airflow' is not cron" in rules[3]
    later = lakeproof("contract", "due", shop, "--at", "2025-03-01T11:30+01:00", "--format", "json")
    document = json.loads(later.stdout)
    assert document["at"] == "2025-03-01T11:30:00+01:00"
    assert "shop/orders.id:quality[0]" not in {one["key"] for one in document["rules"]}


def test_due_refuses_a_time_that_is_none(lakeproof, shop):
    done = lakeproof("contract", "due", shop, "--at", "noon")
    assert done.exit_code == 2
    assert "'noon' is not an ISO time" in done.stderr


def test_export_writes_the_standard_s_form_to_a_file(lakeproof, folder, shop):
    done = lakeproof("contract", "export", shop, "-o", "out.yaml")
    assert (done.exit_code, done.stdout) == (0, "")
    text = (folder / "out.yaml").read_text(encoding="utf-8")
    assert "physicalName: orders_${STAGE:-test}\n" in text
    assert lakeproof("contract", "export", shop).stdout == text


def test_no_command_of_it_loads_pyspark(folder, shop):
    call = ["contract", "coverage", shop]
    look = (
        "import sys\nfrom lakeproof.cli.main import main\n"
        f"try: main({call!r})\nexcept SystemExit: print('pyspark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout.splitlines()[-1] == "False"
