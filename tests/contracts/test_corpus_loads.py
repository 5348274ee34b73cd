"""Every contract of the corpus loads with all its rules; every negative one says what is wrong."""

from __future__ import annotations

import json
import random
import time

import pytest
import yaml
from corpus_files import corpus, pointers_of_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeproof.contracts.finding import Level
from lakeproof.contracts.loading import load_contract
from lakeproof.errors import ContractError

FILES = {"valid": 31, "implied": 8, "legacy": 10, "negative": 28}
RULES = {"valid": 89, "implied": 0, "legacy": 14}
LOADABLE = [path for kind in RULES for path in corpus(kind)]
NEGATIVE = {path.name.split("__dev_")[1].removesuffix(".odcs.yaml"): path
            for path in corpus("negative")}  # fmt: skip

# Where each negative file goes wrong, and a word of what is said there.
PLACES = {
    "additional-unknown-property": (9, Level.WARNING, "unknownRootField"),
    "enum-duplicate-values": (17, Level.WARNING, "twice"),
    "enum-empty": (15, Level.ERROR, "no value"),
    "enum-missing-value": (16, Level.ERROR, "value"),
    "invalid-api-version": (5, Level.WARNING, "v4.0.0"),
    "invalid-kind": (6, Level.WARNING, "DataContract"),
    "invalid-quality-dimension": (20, Level.WARNING, "conformity"),
    "invalid-quality-metric": (17, Level.ERROR, "invalidValues"),
    "invalid-quality-type": (17, Level.ERROR, "unknown"),
    "map-missing-block": (13, Level.WARNING, "map"),
    "map-missing-key": (15, Level.WARNING, "key"),
    "map-missing-value": (15, Level.WARNING, "value"),
    "missing-required-fields": (4, Level.WARNING, "id"),
    "quality-custom-missing-implementation": (17, Level.WARNING, "implementation"),
    "quality-element-field": (18, Level.WARNING, "element"),
    "quality-library-missing-metric": (17, Level.ERROR, "metric"),
    "quality-multiple-operators": (20, Level.WARNING, "one operator"),
    "quality-mustbebetween-wrong-size": (15, Level.ERROR, "two numbers"),
    "quality-sql-missing-query": (17, Level.ERROR, "query"),
    "relationship-property-level-with-from": (17, Level.WARNING, "from"),
    "relationship-schema-level-missing-from-to": (13, Level.ERROR, "from"),
    "schema-property-invalid-logicaltype": (14, Level.WARNING, "binary"),
    "schema-property-missing-name": (13, Level.ERROR, "name"),
    "server-invalid-type": (11, Level.WARNING, "mongodb"),
    "server-missing-conditional-fields": (10, Level.WARNING, "schema"),
    "server-missing-required-fields": (10, Level.WARNING, "server"),
    "sla-missing-required-value": (10, Level.WARNING, "value"),
    "synonym-missing-term": (18, Level.WARNING, "synonym"),
}

# Three rules of this file have an operator and no metric: the standard's schema lets them pass,
# its text gives them no meaning.
ERRORS_IN_VALID_FILES = {
    "datacontract__datacontract-cli__fixtures_azure-blob-file_datacontract.yaml": [36, 49, 56],
}


def test_the_corpus_is_whole():
    assert {kind: len(corpus(kind)) for kind in FILES} == FILES


def test_the_103_rules_of_an_independent_walk_are_all_read():
    found = {
        kind: sum(len(list(load_contract(path).rules())) for path in corpus(kind)) for kind in RULES
    }
    walked = {kind: sum(len(pointers_of_rules(path)) for path in corpus(kind)) for kind in RULES}
    assert found == walked == RULES
    assert sum(found.values()) == 103


@pytest.mark.parametrize("path", LOADABLE, ids=lambda path: path.name)
def test_every_rule_is_found_at_its_own_pointer(path):
    contract = load_contract(path)
    assert sorted(rule.pointer for _, _, rule in contract.rules()) == sorted(
        pointers_of_rules(path)
    )


@pytest.mark.parametrize("path", LOADABLE, ids=lambda path: path.name)
def test_a_contract_that_somebody_published_has_no_error_but_the_known_ones(path):
    contract = load_contract(path)
    errors = [one.location.line for one in contract.findings if one.level is Level.ERROR]
    assert errors == ERRORS_IN_VALID_FILES.get(path.name, [])
    assert all(one.location.line for one in contract.findings)


def test_the_standards_own_examples_of_its_last_version_have_no_findings():
    ours = [path for path in corpus("valid") if path.name.startswith("bitol-io")]
    assert len(ours) == 6
    assert {path.name: load_contract(path).findings for path in ours} == {
        path.name: () for path in ours
    }


@pytest.mark.parametrize("name", sorted(NEGATIVE))
def test_a_negative_file_says_what_is_wrong_in_its_line(name):
    line, level, word = PLACES[name]
    findings = load_contract(NEGATIVE[name]).findings
    there = [one for one in findings if (one.location.line, one.level) == (line, level)]
    assert any(word in one.message for one in there), [str(one) for one in findings]
    assert all(f"{name}.odcs.yaml:" in str(one) for one in findings)


def test_a_negative_file_keeps_its_rules():
    rules = {path: len(list(load_contract(path).rules())) for path in NEGATIVE.values()}
    assert sum(rules.values()) == 9
    assert rules == {path: len(pointers_of_rules(path)) for path in NEGATIVE.values()}


@pytest.mark.parametrize("path", LOADABLE, ids=lambda path: path.name)
def test_a_contract_as_json_or_as_values_is_the_same_contract(path):
    contract = load_contract(path)
    value = contract.document.value
    as_json = load_contract(json.dumps(value, indent="\t"), source="contract.json")
    as_values = load_contract(value)
    told = [(one.level, one.message) for one in contract.findings]
    for other in (as_json, as_values):
        assert other.objects == contract.objects
        assert other.servers == contract.servers
        assert other.sla == contract.sla
        assert sorted((one.level, one.message) for one in other.findings) == sorted(told)
    assert all(one.location.line is None for one in as_values.findings)


SHORT = [path for path in LOADABLE if path.stat().st_size < 8_000]
SIGNS = ["\t", "&a ", "*a", "!!x ", "{", "}", "[", "]", ": ", "- ", "\n", "'", '"', "|", ">", "#",
         "null", "~", "1e9", "yes", "<<", "\u2028", "\x00", "🙂", "?", "%", "@", ","]  # fmt: skip


@given(st.integers(min_value=0), st.sampled_from(SHORT))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_contract_that_was_damaged_is_read_or_refused_and_nothing_else(seed, path):
    chance = random.Random(seed)  # noqa: S311 - damage, not a secret
    text = path.read_text(encoding="utf-8")
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text))
        end = start + chance.choice((0, 1, 5, 40))
        text = text[:start] + chance.choice(SIGNS) + text[end:]
    assert _says_where(text + "\n")


@given(st.integers(min_value=0), st.sampled_from(SHORT))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_with_values_of_wrong_types_every_pointer_still_leads_to_its_value(seed, path):
    chance = random.Random(seed)  # noqa: S311 - damage, not a secret
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    for _ in range(3):
        _damage(value, chance)
    contract = load_contract(value)
    for _, part, rule in contract.rules():
        found = _at(contract.document.value, rule.pointer)
        assert found is rule.raw or [found] == rule.raw  # no rule, and never run as one
        assert part is None or _at(contract.document.value, part.pointer) is part.raw
    assert all(one.location.line is None for one in contract.findings)


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text):
    assert _says_where(text + "\n")


def _says_where(text):
    """Whether the text is read or refused, soon, and all that is said of it has its place."""
    started = time.process_time()
    try:
        contract = load_contract(text)
    except ContractError as problem:
        return str(problem).startswith("<text>:") and time.process_time() - started < 1
    return all(one.location.line for one in contract.findings)


def _at(value, pointer):
    for step in pointer.split("/")[1:]:
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _damage(value, chance):
    """Put something of another type at a random place."""
    inner = value
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        if not keys:
            return
        key = chance.choice(keys)
        below = inner[key]
        if not isinstance(below, (dict, list)) or not below or chance.random() < 0.2:
            wrong = ["text", 7, 1.5, True, None, [], {}, [None], {"a": 1}, ["x"], [[1]], "yes"]
            inner[key] = chance.choice(wrong)
            return
        inner = below
