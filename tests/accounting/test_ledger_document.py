import json
import subprocess
import sys
from dataclasses import replace

import pytest

from lakeproof.accounting.document import (
    LEDGER_VERSION,
    Ledger,
    PreviousLedger,
    ledger_from_json,
    ledger_to_json,
    load_ledger,
    previous_ledger,
    self_sha256_of,
)
from lakeproof.accounting.storage import LocalStorage
from lakeproof.errors import LedgerError
from lakeproof.model.accounting import (
    PROOF_METHOD,
    Account,
    AccountingDiscrepancy,
    AdjointType,
    Commitment,
    DatasetPosition,
    FileDigest,
    InputAccounting,
    KeyColumn,
    KeyUniqueness,
    Level,
    Lineage,
    OutputAccounting,
    OutputPartition,
    Overlap,
    PartitionType,
    Verification,
    input_hash_of,
)

SEED_LEDGER = """{
  "ledger_version": "1.0",
  "run_id": "baseline-test",
  "input_dataset": "test-data/datasets/airline-clean",

  "input_accounting": {
    "total_records": 349660,
    "source_key_field": "segment_id",
    "input_hash": "sha256:abc123..."
  },

  "output_accounting": {
    "partitions": [
      {
        "partition_type": "AGGREGATED",
        "description": "Records aggregated into daily summaries",
        "record_count": 345000,
        "adjoint_type": "ReverseJoinMetadata",
        "adjoint_location": "adjoint/reverse_joins/daily_revenue_aggregation.parquet",
        "verification": "All source keys recoverable via backward traversal"
      },
      {
        "partition_type": "FILTERED",
        "description": "Records filtered by ticket_price <= 0",
        "record_count": 4000,
        "adjoint_type": "FilteredKeysMetadata",
        "adjoint_location": "adjoint/filtered_keys/positive_price_filter.parquet",
        "verification": "All filtered keys captured with filter predicate"
      },
      {
        "partition_type": "ERROR",
        "description": "Records failed validation/parsing",
        "record_count": 660,
        "adjoint_type": "ErrorRecords",
        "adjoint_location": "errors/",
        "verification": "All error records have source_key linking to input"
      }
    ],
    "total_accounted": 349660,
    "unaccounted": 0
  },

  "verification": {
    "accounting_balanced": true,
    "proof_method": "set_equality_with_collision_detection",
    "input_count": 349660,
    "accounted_count": 349660,
    "partition_counts": {
      "AGGREGATED": 345000,
      "FILTERED": 4000,
      "ERROR": 660
    }
  }
}
"""
ODD_TEXT = 'say "no",\n\ttab \\ back, Zürich 東京 \u2028 🛫 \x00 and half a pair: \udc80'
ABOVE_2_53 = 2**53 + 1


def seed(**changes) -> dict:
    tree = json.loads(SEED_LEDGER)
    tree.update(changes)
    return tree


def changed(path: str, value: object) -> str:
    """The seed's ledger with one field put in the place that the path names; None removes it."""
    tree = json.loads(SEED_LEDGER)
    *steps, name = [int(step) if step.isdecimal() else step for step in path.split(".")]
    place = tree
    for step in steps:
        place = place[step]
    if value is None:
        del place[name]
    else:
        place[name] = value
    return json.dumps(tree)


def whole_ledger() -> Ledger:
    """Every field of ours, with values that JSON and others get wrong."""
    files = (FileDigest(f"dir=ä/{ODD_TEXT}", ABOVE_2_53, 1_700_000_000_123, "ab" * 32),)
    position = DatasetPosition(
        "files", "in", "json", "7", "m.json", '{"type":"struct"}', {"header": "true"}, files
    )
    source = InputAccounting(
        total_records=ABOVE_2_53,
        source_key_field="a, b",
        input_hash=input_hash_of(position),
        key=(KeyColumn("a", "decimal(12,2)"), KeyColumn("b `x`", "string")),
        key_uniqueness=KeyUniqueness.ALLOW,
        distinct_keys=None,
        null_keys=3,
        commitment=Commitment(ABOVE_2_53, (2**32 - 1, 2**63 + 5)),
        position=position,
        name="bookings",
    )
    partition = OutputPartition(
        PartitionType.FILTERED,
        ODD_TEXT,
        None,
        AdjointType.FilteredKeysMetadata,
        "adjoint/filtered_keys/f.parquet",
        morphism_id="f",
        rows=2,
        commitment=Commitment(2, (1, 2)),
        position=DatasetPosition("files"),
        recompute=object(),
    )
    account = Account("bookings", "daily", 5, 4, balanced=False)
    return Ledger(
        ledger_version=LEDGER_VERSION,
        run_id="r1",
        input_dataset=ODD_TEXT,
        input_accounting=source,
        output_accounting=OutputAccounting((partition,), 4, 1),
        verification=Verification(
            accounting_balanced=False,
            proof_method=PROOF_METHOD,
            input_count=5,
            accounted_count=4,
            partition_counts={"FILTERED": 4},
            overlaps=(Overlap(("A", "B"), "known", 3, 1, ("k",)),),
            accounts=(account,),
        ),
        lineage=Lineage.NONE,
        salt="00" * 16,
        inputs=(source, source),
        discrepancy=AccountingDiscrepancy(
            "lost", ("k1",), {"k2": ("FILTERED(f)", "ERROR")}, accounts=(account,)
        ),
        previous=PreviousLedger("../before/ledger.json", "cd" * 32),
    )


def test_the_seed_s_own_ledger_loads_and_claims_no_more_than_it_knew():
    ledger = ledger_from_json(SEED_LEDGER)

    assert ledger.balanced
    assert ledger.run_id == "baseline-test"
    assert ledger.input_accounting.total_records == 349_660
    assert ledger.input_accounting.commitment == Commitment(349_660)
    assert ledger.input_accounting.key_uniqueness is KeyUniqueness.ASSUME
    assert (ledger.level, ledger.verification.level) == (Level.COUNT, Level.COUNT)
    assert ledger.lineage is Lineage.FULL
    assert [part.partition_type for part in ledger.output_accounting.partitions] == [
        PartitionType.AGGREGATED,
        PartitionType.FILTERED,
        PartitionType.ERROR,
    ]
    assert ledger.output_accounting.partitions[2].adjoint_location == "errors/"
    assert ledger.verification.partition_counts["ERROR"] == 660


def test_what_the_seed_wrote_stands_first_and_unchanged_in_what_we_write():
    written = json.loads(ledger_to_json(ledger_from_json(SEED_LEDGER)))

    def first_fields(ours: object, seeds: object) -> None:
        if isinstance(seeds, dict):
            assert list(ours)[: len(seeds)] == list(seeds)
            for name, value in seeds.items():
                first_fields(ours[name], value)
        elif isinstance(seeds, list):
            for one, two in zip(ours, seeds, strict=True):
                first_fields(one, two)
        else:
            assert ours == seeds

    first_fields(written, json.loads(SEED_LEDGER))
    assert list(written)[-1] == "self_sha256"


SEED_PROOF_METHODS = (
    "adjoint_backward_traversal",
    "set_equality_with_collision_detection",
    "dataframe_set_operations",
)


@pytest.mark.parametrize("method", [*SEED_PROOF_METHODS, PROOF_METHOD])
def test_each_spelling_of_the_method_loads_and_stays(method):
    ledger = ledger_from_json(changed("verification.proof_method", method))

    assert ledger.verification.proof_method == method
    assert ledger_from_json(ledger_to_json(ledger)) == ledger


def test_pass_through_is_an_output_in_partitions_and_in_counts():
    tree = seed()
    tree["output_accounting"]["partitions"][0]["partition_type"] = "PASS_THROUGH"
    tree["verification"]["partition_counts"] = {"PASS_THROUGH": 345_000, "OUTPUT": 1}

    ledger = ledger_from_json(json.dumps(tree))

    assert ledger.output_accounting.partitions[0].partition_type is PartitionType.OUTPUT
    assert ledger.verification.partition_counts == {"OUTPUT": 345_001}


def test_counts_by_type_may_be_absent_as_in_the_seed_s_writer():
    ledger = ledger_from_json(changed("verification.partition_counts", None))

    assert ledger.verification.partition_counts == {}


def test_every_field_comes_back_exactly():
    ledger = whole_ledger()

    text = ledger_to_json(ledger)

    assert ledger_from_json(text) == ledger
    assert ledger_to_json(ledger_from_json(text)) == text
    assert json.loads(text)["input_accounting"]["commitment"]["limbs"] == [
        "ffffffff",
        "8000000000000005",
    ]
    assert "Zürich 東京" in text
    assert text.encode("utf-8")
    assert "recompute" not in text
    assert "directory" not in json.loads(text)


def test_unknown_fields_at_every_level_are_kept_and_written_back():
    tree = json.loads(ledger_to_json(whole_ledger()))
    del tree["self_sha256"]
    places = [
        tree,
        tree["input_accounting"],
        tree["input_accounting"]["commitment"],
        tree["input_accounting"]["position"]["files"][0],
        tree["inputs"][1]["key"][0],
        tree["output_accounting"],
        tree["output_accounting"]["partitions"][0],
        tree["verification"]["accounts"][0],
        tree["discrepancy"],
        tree["previous"],
    ]
    for number, place in enumerate(places):
        place["later/~field"] = {"deep": [number, None, "ü"]}

    ledger = ledger_from_json(json.dumps(tree))
    written = json.loads(ledger_to_json(ledger))

    assert len(ledger.unknown) == len(places)
    assert ledger.unknown["/output_accounting/partitions/0/later~1~0field"] == {
        "deep": [6, None, "ü"]
    }
    assert written.pop("self_sha256")
    assert written == tree


def test_words_of_later_versions_stay_text():
    tree = seed(ledger_version="1.9", level="SEALED", lineage="SAMPLED")
    tree["output_accounting"]["partitions"][0].update(
        partition_type="GENERATED", adjoint_type="InclusionProof"
    )

    ledger = ledger_from_json(json.dumps(tree))

    partition = ledger.output_accounting.partitions[0]
    assert (ledger.level, ledger.lineage) == ("SEALED", "SAMPLED")
    assert (partition.partition_type, partition.adjoint_type) == ("GENERATED", "InclusionProof")
    assert partition.name == "GENERATED"
    assert json.loads(ledger_to_json(ledger))["level"] == "SEALED"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "x.json: not valid JSON"),
        ('{"a": 1} {}', "x.json: not valid JSON"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": 1e999}', "1e999 is not a number"),
        ('{"a": ' + "9" * 5000 + "}", "x.json: not valid JSON"),
        ("[" * 100_000, "x.json: not valid JSON"),
        (b"\xff\xfe\xfa", "x.json: not valid JSON"),
        ("[]", "x.json: expected an object"),
        ("{}", "ledger_version must be text such as '1.1', found None"),
        (changed("ledger_version", 1.1), "ledger_version must be text"),
        (changed("ledger_version", "2.0"), "ledger_version 2.0 is not one that this release reads"),
        (changed("run_id", None), "x.json: run_id is missing"),
        (changed("input_accounting", []), "input_accounting must be an object, found []"),
        (
            changed("input_accounting.total_records", "5"),
            'input_accounting.total_records must be a whole number, found "5"',
        ),
        (changed("input_accounting.total_records", True), "must be a whole number, found true"),
        (changed("input_accounting.total_records", 5.0), "must be a whole number, found 5.0"),
        (
            changed("output_accounting.partitions.1.record_count", [4]),
            "output_accounting.partitions.1.record_count must be a whole number",
        ),
        (
            changed("output_accounting.partitions.2.adjoint_type", None),
            "output_accounting.partitions.2.adjoint_type is missing",
        ),
        (changed("output_accounting.partitions.0.partition_type", 7), "must be text, found 7"),
        (changed("verification.accounting_balanced", 1), "must be true or false, found 1"),
        (
            changed("verification.partition_counts.ERROR", "many"),
            "verification.partition_counts.ERROR must be a whole number",
        ),
        (
            changed("input_accounting.commitment", {"records": 1, "limbs": ["-1", "0"]}),
            "input_accounting.commitment.limbs must hold hexadecimal numbers",
        ),
        (
            changed("input_accounting.commitment", {"records": 1, "limbs": ["1", "2", "3"]}),
            "input_accounting.commitment.limbs holds 3 numbers, and this version of Lakeproof adds",
        ),
    ],
)
def test_a_document_that_is_none_says_file_and_field(text, says):
    with pytest.raises(LedgerError) as refused:
        ledger_from_json(text, "x.json")

    assert says in str(refused.value)
    assert str(refused.value).startswith("x.json: ")


def test_its_own_digest_sees_the_edit_of_any_field_and_no_change_of_layout():
    tree = json.loads(ledger_to_json(whole_ledger()))
    stated = tree["self_sha256"]

    def edited(node: object) -> list[object]:
        """The document once for each of its values, with that value changed."""
        if isinstance(node, dict):
            return [{**node, name: one} for name in node for one in edited(node[name])]
        if isinstance(node, list):
            return [
                [*node[:at], one, *node[at + 1 :]]
                for at, member in enumerate(node)
                for one in edited(member)
            ]
        return [f"{node}x"]

    assert self_sha256_of(tree) == stated
    assert self_sha256_of(dict(reversed(tree.items()))) == stated
    others = [one for one in edited(tree) if one["self_sha256"] == stated]
    assert len(others) > 80
    assert stated not in {self_sha256_of(one) for one in others}


def test_a_ledger_is_found_in_its_directory_or_by_its_file(tmp_path):
    balanced, failed, begun = tmp_path / "balanced", tmp_path / "failed", tmp_path / "begun"
    storage = LocalStorage()
    text = ledger_to_json(replace(whole_ledger(), discrepancy=None)).encode()
    storage.write_new(str(balanced / "ledger.json"), text)
    storage.write_new(str(failed / "ledger.failed.json"), ledger_to_json(whole_ledger()).encode())
    storage.write_new(str(begun / "manifest.json"), b"{}")

    assert load_ledger(balanced).directory == str(balanced)
    assert load_ledger(f"{balanced}/") == load_ledger(balanced / "ledger.json")
    assert load_ledger(f"file:{balanced}").discrepancy is None
    assert load_ledger(failed).discrepancy is not None
    for place, says in [
        (begun, "holds no ledger.json: the run did not complete"),
        (tmp_path, "holds no ledger.json: it is no run directory"),
        (tmp_path / "nowhere", "there is no ledger at"),
    ]:
        with pytest.raises(LedgerError, match=says):
            load_ledger(place)
    storage.write_new(str(failed / "ledger.json"), text)
    with pytest.raises(LedgerError, match="holds both"):
        load_ledger(failed)
    assert previous_ledger(balanced, str(failed)).location == str(balanced / "ledger.json")


def test_reading_a_ledger_needs_no_spark(tmp_path):
    (tmp_path / "ledger.json").write_text(SEED_LEDGER, encoding="utf-8")
    script = (
        "import sys, lakeproof.accounting.document as d\n"
        "print(d.load_ledger(sys.argv[1]).balanced)\n"
        "heavy = {'pyspark', 'py4j', 'pyarrow', 'sqlglot', 'fsspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("True\n", "")


def test_the_hash_of_an_input_follows_its_files_or_its_version():
    one, two = FileDigest("a", 1, 5, "aa"), FileDigest("b", 2, 6, "bb")
    files = DatasetPosition("files", files=(one, two))
    touched = DatasetPosition("files", files=(two, replace(one, modified_ms=9)))

    assert input_hash_of(files).startswith("sha256:")
    assert input_hash_of(touched) == input_hash_of(files)
    assert input_hash_of(replace(files, files=(one,))) != input_hash_of(files)
    assert input_hash_of(replace(files, files=(replace(one, sha256=""), two))) == ""
    assert input_hash_of(DatasetPosition("delta", version="12")) == "delta:12"
    assert input_hash_of(DatasetPosition("frame")) == ""
