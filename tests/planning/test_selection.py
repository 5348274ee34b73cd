"""Selection against a naive oracle, and what it says about terms that meet nothing."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.errors import ConfigError, NothingSelectedError
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.rule import Logic, RejectedRule, Rule, Severity
from lakeproof.planning.selection import METHODS, Selection, chosen_rules, status_key


def rule(key, table="lake.shop.sales", check="not_null", columns=("id",), **fields):
    name = TableName.parse(table)
    logic = Logic(name, check, 1, columns, {})
    return Rule(key, key, logic, name, name.short, columns, {}, **fields)


NIGHTLY = rule("order_known", tags=("nightly", "core"), dimension="completeness")
WARNING = rule("amount_positive", check="positive", columns=("amount",), severity=Severity.WARNING)
PAIR = rule("pair_unique", table="lake.web.visits", check="uniqueness", columns=("a[].b", "c"))
BROKEN = RejectedRule("odd", "uniqe", "web.visits", None, "a,c", "no such check", tags=("core",))
RULES = [NIGHTLY, WARNING, PAIR, BROKEN]
STATUSES = {"order_known": "failed", "amount_positive": "passed", "odd": "error"}


def by_rule(rules, statuses):
    """As a store gives them: by the rule's key and its table."""
    return {status_key(found): statuses[found.key] for found in rules if found.key in statuses}


def keys(select=(), exclude=(), statuses=None):
    known = by_rule(RULES, statuses or STATUSES)
    chosen = Selection.parse(select, exclude).choose(RULES, lambda: known)
    return [found.key for found in chosen.rules]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("order_known", ["order_known"]),
        ("*_*", ["order_known", "amount_positive", "pair_unique"]),
        ("name:o*", ["order_known", "odd"]),
        ("ORDER_KNOWN", []),
        ("table:sales", ["order_known", "amount_positive"]),
        ("table:shop.sales", ["order_known", "amount_positive"]),
        ("table:lake.shop.sales", ["order_known", "amount_positive"]),
        ("table:`lake`.shop.sales", ["order_known", "amount_positive"]),
        ("table:op.sales", []),
        ("table:web.visits", ["pair_unique", "odd"]),
        ("column:amount", ["amount_positive"]),
        ("column:a[].b", ["pair_unique"]),
        ("column:c", ["pair_unique", "odd"]),
        ("tag:core", ["order_known", "odd"]),
        ("tag:core,tag:nightly", ["order_known"]),
        ("tag:core,check:uniqe", ["odd"]),
        ("dimension:completeness", ["order_known"]),
        ("severity:warning", ["amount_positive"]),
        ("check:positive tag:nightly", ["order_known", "amount_positive"]),
        (["check:positive", "tag:nightly"], ["order_known", "amount_positive"]),
        ("status:failed", ["order_known"]),
        ("status:[ef]*", ["order_known", "odd"]),
        ("status:new", ["pair_unique"]),
        ("status:failed,severity:warning", []),
    ],
)
def test_each_method_selects_what_it_names(select, expected):
    assert keys(select) == expected


def test_what_is_excluded_is_out_whatever_selects_it():
    assert keys(exclude="tag:core") == ["amount_positive", "pair_unique"]
    assert keys("table:sales", "order_known") == ["amount_positive"]
    assert keys("tag:core", "status:error") == ["order_known"]
    assert keys("table:sales", "tag:core,check:positive") == ["order_known", "amount_positive"]


def test_nothing_given_means_every_rule():
    assert not Selection.parse()
    assert chosen_rules(RULES) == RULES
    assert chosen_rules([]) == []
    assert chosen_rules(RULES, "tag:nightly") == [NIGHTLY]
    with pytest.raises(NothingSelectedError):
        chosen_rules(RULES, exclude=["*"])
    assert keys() == [found.key for found in RULES]


CLOSED = {"severity", "status", "schedule-due"}
words = st.sampled_from(["order_known", "sales", "core", "nightly", "c", "error", "uniqueness"])
globs = st.builds(lambda word, cut: f"{word[:cut]}*", words, st.integers(0, 3))
free = st.sampled_from([method for method in METHODS if method not in CLOSED])
terms = st.one_of(
    st.tuples(free, words | globs),
    st.tuples(st.just("severity"), st.sampled_from(["error", "warning", "info", "*"])),
    st.tuples(st.just("status"), st.sampled_from(["failed", "passed", "new", "e*", "skipped"])),
)
unions = st.lists(st.lists(terms, min_size=1, max_size=3), max_size=3)
one_rule = st.builds(
    rule,
    key=st.sampled_from(["order_known", "amount", "x"]),
    table=st.sampled_from(["lake.shop.sales", "c.core.orders"]),
    check=st.sampled_from(["uniqueness", "not_null"]),
    columns=st.lists(st.sampled_from(["c", "amount"]), max_size=2, unique=True).map(tuple),
    tags=st.lists(st.sampled_from(["core", "nightly", "x"]), max_size=2).map(tuple),
    severity=st.sampled_from(Severity),
    dimension=st.sampled_from(["", "core"]),
    declared=st.sampled_from([{}, {"id": "core"}, {"id": "nightly"}]),
)
statuses_of_rules = st.dictionaries(
    st.sampled_from(["order_known", "amount"]),
    st.sampled_from(["failed", "passed", "error"]),
    min_size=1,
)


def naive(found, method, pattern, statuses):
    parts = found.table.parts
    values = {
        "name": [found.key],
        "table": [parts[2], f"{parts[1]}.{parts[2]}", ".".join(parts)],
        "column": found.columns,
        "tag": found.tags,
        "dimension": [found.dimension] if found.dimension else [],
        "severity": [str(found.severity)],
        "check": [found.logic.check],
        "id": [found.declared["id"]] if "id" in found.declared else [],
        "status": [statuses.get(found.key, "new")],
    }[method]
    return any(fnmatchcase(value, pattern) for value in values)


@given(st.lists(one_rule, max_size=6), unions, unions, statuses_of_rules, st.booleans())
def test_the_choice_equals_a_naive_reading(rules, select, exclude, statuses, as_list):
    def met(found, union):
        return any(all(naive(found, *term, statuses) for term in group) for group in union)

    def texts(union):
        found = [",".join(f"{method}:{pattern}" for method, pattern in group) for group in union]
        return found if as_list or not found else "  ".join(found)

    selection = Selection.parse(texts(select), texts(exclude))
    chosen = selection.choose(rules, lambda: by_rule(rules, statuses) or {("", ""): "passed"})
    expected = [one for one in rules if (met(one, select) or not select) and not met(one, exclude)]
    assert list(chosen.rules) == expected
    met_nothing = [
        group
        for group in (*select, *exclude)
        if not any(all(naive(one, *term, statuses) for term in group) for one in rules)
    ]
    assert bool(chosen.unmatched) == bool(met_nothing)


@pytest.mark.parametrize(
    ("select", "told"),
    [
        ("tabel:sales", "unknown method 'tabel'. Did you mean table:? Methods: name, table,"),
        ("each:country", "a rule's name that has a colon is written name:each:country"),
        ("tag:", "nothing stands after tag:"),
        ("tag:core,", "nothing stands beside a comma"),
        (",", "nothing stands beside a comma"),
        (" ", "an empty text selects nothing"),
        ("", "an empty text selects nothing"),
        ("status:fialed", "no status is called 'fialed'. Did you mean failed? Known: passed,"),
        ("severity:warn", "Did you mean warning? Known: error, warning, info"),
        ("status:x*", "no status is called 'x*'. Known: "),
        ([7], "takes text or a list of texts, got 7"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(select, told):
    with pytest.raises(ConfigError) as refused:
        Selection.parse(select)
    assert told in str(refused.value)
    assert str(refused.value).startswith("select")
    with pytest.raises(ConfigError, match=r"^exclude"):
        Selection.parse(exclude=select)


@pytest.mark.parametrize(
    ("select", "told"),
    [
        ("order_knwon", "nothing selected of 4 rules: order_knwon matches no rule (nearest: order"),
        ("order", "order matches no rule (nearest: order_known)"),
        ("table:sale", "table:sale matches no rule (nearest: sales, shop.sales, lake.shop.sales)"),
        ("tag:nigthly", "tag:nigthly matches no rule (nearest: nightly)"),
        ("tag:zzz", "tag:zzz matches no rule (there is: core, nightly)"),
        ("tag:core,check:positive", "no rule matches all of tag:core,check:positive"),
        ("tag:core,check:postive", "check:postive matches no rule (nearest: positive)"),
        ("x* y*", "x* matches no rule; y* matches no rule"),
    ],
)
def test_nothing_selected_names_what_is_near(select, told):
    chosen = Selection.parse(select).choose(RULES)
    with pytest.raises(NothingSelectedError) as raised:
        chosen.raise_if_empty()
    assert told in str(raised.value)


def test_nothing_left_says_that_it_was_excluded():
    with pytest.raises(NothingSelectedError, match="every selected rule is excluded again"):
        Selection.parse("tag:core", "tag:*").choose(RULES).raise_if_empty()
    with pytest.raises(NothingSelectedError, match="the suite holds no rules"):
        Selection.parse("tag:core").choose([]).raise_if_empty()


def test_a_term_that_meets_nothing_beside_one_that_does_is_told_not_raised():
    chosen = Selection.parse("tag:core tag:cor", "nme").choose(RULES)
    chosen.raise_if_empty()
    assert [found.key for found in chosen.rules] == ["order_known", "odd"]
    assert chosen.unmatched == (
        "tag:cor matches no rule (nearest: core)",
        "nme matches no rule",
    )


def test_earlier_results_are_read_only_for_a_status_term():
    def never():
        raise AssertionError

    assert len(Selection.parse("tag:core").choose(RULES, never).rules) == 2
    assert Selection.parse("tag:core", "status:passed").needs_status
    assert not Selection.parse("tag:core").needs_status


def test_a_status_without_earlier_runs_is_refused_but_new_is_not():
    with pytest.raises(ConfigError, match="no store keeps results"):
        Selection.parse("status:failed").choose(RULES)
    with pytest.raises(ConfigError, match="'status:failed' asks for the last run, but no earlier"):
        Selection.parse("status:failed status:new").choose(RULES, dict)
    assert len(Selection.parse("status:new").choose(RULES, dict).rules) == len(RULES)


def test_a_hostile_table_name_can_be_selected():
    odd = rule("odd", table="lake.ns.`a${b}.c`")
    unreadable = RejectedRule("bad", "", "a..b", None, "", "no name")
    chosen = Selection.parse("table:a${b}.c table:a..b").choose([odd, unreadable])
    assert list(chosen.rules) == [odd, unreadable]


def test_names_that_contain_the_word_come_before_those_spelled_alike():
    known = ["main", "row_min", "min_max", "mine"]
    assert nearest("min", known) == ["mine", "min_max", "row_min"]
    assert nearest("SALES", ["Sale", "other"]) == ["Sale"]
    assert nearest("zzz", known) == []


# --------------------------------------------------------------------------- what a contract says

EVENING = rule("evening", declared={"id": "ord_01", "schedule": "0 20 * * *", "scheduler": "cron"})
ALWAYS = rule("always", declared={"id": "ord_02"})
THEIRS = rule("theirs", declared={"schedule": "nightly", "scheduler": "airflow"})
SKIPPED = RejectedRule(
    "told", "", "sales", None, "", "text", is_skipped=True, declared={"schedule": "0 8 * * *"}
)
DECLARED = [EVENING, ALWAYS, THEIRS, SKIPPED]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("id:ord_01", ["evening"]),
        ("id:ord_*", ["evening", "always"]),
        ("schedule-due:2026-01-15T20:00Z", ["evening", "always"]),
        ("schedule-due:2026-01-15T20:00:59", ["evening", "always"]),
        ("schedule-due:2026-01-15T21:00+01:00", ["evening", "always"]),
        ("schedule-due:2026-01-15T08:00Z", ["always", "told"]),
        ("schedule-due:2026-01-15T20:00Z,id:ord_01", ["evening"]),
    ],
)
def test_what_a_contract_declares_is_selectable(select, expected):
    assert [one.key for one in Selection.parse(select).choose(DECLARED).rules] == expected


def test_a_rule_whose_scheduler_is_not_cron_is_left_out_and_told():
    chosen = Selection.parse("schedule-due:2026-01-15T20:00Z").choose(DECLARED)
    (told,) = chosen.unmatched
    assert told.startswith("schedule-due:2026-01-15T20:00Z cannot be decided for 1 rule ")
    assert told.endswith("(theirs: scheduler 'airflow' is not cron)")


def test_nothing_due_says_so():
    chosen = Selection.parse("schedule-due:2026-01-15T07:59").choose([EVENING])
    with pytest.raises(NothingSelectedError, match="no rule is due by schedule-due:2026-01-15T07"):
        chosen.raise_if_empty()


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="'tomorrow' is no ISO time such as"):
        Selection.parse("schedule-due:tomorrow")
