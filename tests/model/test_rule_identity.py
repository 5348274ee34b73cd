"""rule_id: equal for cosmetic edits, different for edits of logic, the same in every release."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from identity_pairs import FROZEN, PAIRS, all_ids, rule_ids
from packaging.version import Version

from sqlglot_versions import allowed, run_with

SCRIPT = "identity_pairs.py"


def test_the_file_holds_at_least_60_pairs_of_both_kinds():
    verdicts = Counter(pair["verdict"] for pair in PAIRS)
    assert set(verdicts) == {"same", "different", "refused"}
    assert len(PAIRS) >= 60
    assert min(verdicts["same"], verdicts["different"]) >= 25
    assert len({pair["why"] for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['verdict']}: {pair['why']}")
def test_a_pair_of_rules_is_as_its_verdict_says(pair):
    left, right = rule_ids(pair["left"]), rule_ids(pair["right"])
    assert left, "the left rule of a pair must be a rule"
    assert bool(right) is (pair["verdict"] != "refused")
    assert (left == right) is (pair["verdict"] == "same")


@pytest.mark.parametrize("entry", FROZEN, ids=lambda entry: json.dumps(entry["rule"])[:60])
def test_ids_of_former_releases_stay(entry):
    assert entry["rule_ids"]
    assert rule_ids(entry["rule"]) == entry["rule_ids"]


@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_another_sqlglot_gives_the_same_ids(end, request):
    found = json.loads(run_with(end, request.path.with_name(SCRIPT)))
    here = all_ids()
    asked = allowed()[end]
    if end == "oldest":
        assert Version(found["sqlglot"]) == Version(asked.partition("==")[2])
    else:
        assert Version(found["sqlglot"]) >= Version(here["sqlglot"])
    assert found["pairs"] == here["pairs"]
    assert found["frozen"] == here["frozen"]
