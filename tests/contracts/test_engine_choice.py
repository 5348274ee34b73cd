"""Which engine a rule is for, why, and what becomes of rules for engines that are not ours."""

import pytest
from drafted_rules import contract_of, draft

import lakeproof.checks.plug_ins as registry
from lakeproof.checks.plug_ins import find_plug_in, register_engine, unregister_engine
from lakeproof.config import ContractSettings
from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines.choice import chosen_engine
from lakeproof.errors import CheckDefinitionError, ConfigError
from lakeproof.model.comparison import Unit

SETTINGS = ContractSettings()
CUSTOM = {"type": "custom", "implementation": {"a": 1}}


def no_function(frame, rule, context):
    return 0


@pytest.fixture
def plugged():
    names = []

    def register(name, function=no_function):
        names.append(name)
        register_engine(name, function)

    yield register
    for name in names:
        unregister_engine(name)


def choose(raw, *others, settings=SETTINGS, custom=None):
    return chosen_engine(raw, contract_of(raw, *others, custom=custom), settings)


def test_the_rules_own_engine_comes_first():
    settings = ContractSettings(default_engine="dbt")
    found = choose({**CUSTOM, "engine": "soda"}, settings=settings, custom={"defaultEngine": "x"})
    assert (found.name, found.why) == ("soda", "the rule's engine")


def test_a_tool_is_an_engine_too():
    found = choose({**CUSTOM, "toolName": "MonteCarlo"})
    assert (found.name, found.why) == ("montecarlo", "the rule's toolName")


def test_then_comes_the_configured_one():
    settings = ContractSettings(default_engine="dbt")
    found = choose(CUSTOM, settings=settings, custom={"defaultEngine": "soda"})
    assert (found.name, found.why) == ("dbt", "the configured default engine")


def test_then_the_contracts_own_default():
    found = choose(CUSTOM, {"engine": "dqx"}, custom={"defaultEngine": "soda"})
    assert found.name == "soda"
    assert "defaultEngine" in found.why


def test_then_the_only_engine_that_the_contract_names():
    one = choose(CUSTOM, {"engine": "great-expectations"}, {"engine": "greatExpectations"})
    assert (one.name, one.why) == ("greatExpectations", "the only engine that the contract names")
    assert choose(CUSTOM, {"engine": "soda"}, {"engine": "dbt"}).name == "lakeproof"


def test_and_last_ours():
    assert choose(CUSTOM).name == "lakeproof"
    assert choose("no mapping").name == "lakeproof"


def test_a_tool_of_version_two_is_no_engine_of_the_contract():
    assert choose(CUSTOM, {"code": "nullCheck", "toolName": "Elevate"}).name == "lakeproof"


@pytest.mark.parametrize(
    "raw",
    [
        {"metric": "rowCount", "mustBe": 0},
        {"type": "sql", "query": "SELECT 1"},
        {"rule": "price > 0"},
        {"code": "nullCheck", "toolName": "Elevate"},
        {"code": "required", "toolName": "Elevate"},
        {"code": "required"},
        {"type": "row_count", "must_be": 1},
    ],
)
def test_a_rule_that_needs_no_engine_is_ours_whatever_the_default(raw):
    settings = ContractSettings(default_engine="montecarlo")
    assert choose(raw, {"engine": "dqx"}, settings=settings).name == "lakeproof"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("great-expectations", "greatExpectations"),
        ("great_expectations", "greatExpectations"),
        ("Great Expectations", "greatExpectations"),
        ("Soda", "soda"),
        ("MyTool", "MyTool"),
    ],
)
def test_spellings_of_an_engine_are_one(given, name):
    assert choose({**CUSTOM, "engine": given}).name == name


@pytest.mark.parametrize("engine", ["montecarlo", "dqx", "somebody's"])
def test_an_engine_that_is_not_ours_is_skipped_with_the_way_to_register_it(engine):
    found = draft({**CUSTOM, "engine": engine}, "price")
    assert engine in found.skipped
    assert "lakeproof.register_engine" in found.skipped
    assert not found.error


def test_a_registered_engine_takes_its_rules(plugged):
    plugged("monte-carlo")
    assert draft({**CUSTOM, "engine": "montecarlo"}, "price") == Draft(
        columns=("price",), plug_in="montecarlo"
    )


def test_operators_judge_what_a_plug_in_returns(plugged):
    plugged("python")
    found = draft({**CUSTOM, "engine": "python", "mustBeLessThan": 5})
    assert str(found.comparison) == "< 5"
    assert found.comparison.unit is Unit.NONE


def test_a_plug_in_may_take_texts(plugged):
    plugged("text")
    assert draft({"type": "text", "description": "verified"}).plug_in == "text"


def test_a_text_goes_to_the_plug_in_that_it_names(plugged):
    plugged("reader")
    assert draft({"type": "text", "description": "d", "engine": "reader"}).plug_in == "reader"
    assert draft({"type": "text", "description": "d"}).skipped


def test_a_tool_with_a_plug_in_takes_the_codes_that_we_do_not_know(plugged):
    raw = {"code": "theirs", "toolName": "Elevate"}
    assert "unknown code 'theirs'" in draft(raw).error
    plugged("Elevate")
    assert draft(raw).plug_in == "Elevate"
    assert draft({"code": "nullCheck", "toolName": "Elevate"}, "price").check == "not_null"


def test_a_tool_that_is_a_known_engine_takes_the_codes_that_we_do_not_know():
    name = "expect_column_values_to_not_be_null"
    found = draft({"code": name, "toolName": "great-expectations"}, "price")
    assert (found.check, found.columns) == ("not_null", ("price",))
    assert "montecarlo" in draft({"code": "theirs", "toolName": "montecarlo"}).skipped
    assert draft({"code": "required", "toolName": "montecarlo"}, "price").check == "not_null"


def test_a_default_engine_takes_the_codes_that_we_do_not_know():
    settings = ContractSettings(default_engine="montecarlo")
    assert "montecarlo" in draft({"code": "theirs"}, settings=settings).skipped
    assert draft({"code": "required"}, "price", settings=settings).check == "not_null"


@pytest.mark.parametrize(
    ("name", "function", "told"),
    [
        ("soda", no_function, "register another name"),
        ("", no_function, "a text that is not empty"),
        ("mine", 7, "needs a function"),
    ],
)
def test_a_registration_that_cannot_work_is_refused(name, function, told):
    with pytest.raises(ConfigError, match=told):
        register_engine(name, function)


class _Point:
    value = "package:function"

    def __init__(self, name, found):
        self.name, self.found = name, found

    def load(self):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def test_engines_come_by_entry_point(monkeypatch):
    points = [_Point("packaged", no_function), _Point("broken", ImportError("no such module"))]
    installed = {point.name: point for point in points}
    monkeypatch.setattr(registry, "_installed", lambda: installed)
    assert find_plug_in("packaged") is no_function
    assert find_plug_in("other") is None
    with pytest.raises(CheckDefinitionError, match="cannot be loaded"):
        find_plug_in("broken")
    assert "cannot be loaded" in draft({**CUSTOM, "engine": "broken"}).error
