from __future__ import annotations

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.suite import QualityCheck
from lakeproof.state.last_statuses import last_statuses
from lakeproof.state.reading import Answer

TABLE = "iceberg.lakehouse.sales"


def rules(*names, table=TABLE):
    return rules_of([QualityCheck(name, "not_null", table, "a") for name in names], Config())


class Kept:
    """Answers from (executed_at, run_id, rule_key, status, table), and counts the questions."""

    def __init__(self, *rows):
        names = ("executed_at", "run_id", "rule_key", "status", "table_fqn")
        self.rows = [dict(zip(names, (*row, TABLE)[:5], strict=True)) for row in rows]
        self.asked = 0

    def ask(self, question):
        self.asked += 1
        rows = [
            row
            for row in self.rows
            if all(
                any(row[column] in item.values for column in item.columns)
                for item in question.where
            )
        ]
        for name in reversed(question.order):
            column = name.removeprefix("-")
            rows.sort(key=lambda row, column=column: row[column], reverse=name.startswith("-"))
        return Answer(tuple(rows[: question.limit]), len(rows))


def test_each_rule_has_its_status_in_the_last_run_that_had_it():
    kept = Kept(
        (1, "old", "a", "passed"),
        (1, "old", "b", "failed"),
        (2, "new", "a", "failed"),
        (2, "new", "other", "error"),
    )
    found = last_statuses(kept, rules("a", "b", "never"))
    assert found == {("a", TABLE): "failed", ("b", TABLE): "failed"}


def test_rules_of_one_name_on_two_tables_are_two():
    other = "iceberg.lakehouse.other"
    kept = Kept((1, "old", "a", "failed"), (2, "new", "a", "passed", other))
    assert last_statuses(kept, rules("a")) == {("a", TABLE): "failed"}
    both = [*rules("a"), *rules("a", table=other)]
    assert last_statuses(kept, both) == {("a", TABLE): "failed", ("a", other): "passed"}


def test_rules_of_one_run_take_two_questions():
    kept = Kept(*((1, "run", f"rule_{number}", "passed") for number in range(100)))
    assert len(last_statuses(kept, rules(*(f"rule_{number}" for number in range(100))))) == 100
    assert kept.asked == 2


def test_nothing_kept_is_nothing_known():
    assert last_statuses(Kept(), rules("a")) == {}
    assert last_statuses(Kept(), []) == {}
