"""Four rules on one table of one column, planned without Spark, and where they stand."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeproof.config import Config
from lakeproof.contracts.suite import rules_of
from lakeproof.model.column import Column
from lakeproof.model.position import Position
from lakeproof.model.reading import Mark, Mode
from lakeproof.model.standing import Standing
from lakeproof.model.suite import QualityCheck
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.tables import PinnedTable
from lakeproof.state.store import RuleProgress

NOW = datetime(2025, 1, 1, tzinfo=UTC)
HERE = Mark("id", Position("delta", 7))
SUITE = [
    QualityCheck("a_known", "not_null", "t", "a"),
    QualityCheck("a_unique", "uniqueness", "t", "a"),
    QualityCheck("rows", "row_count_range", "t", params={"min_count": 1}),
    QualityCheck("by_query", "custom_sql", "t", params={"sql": "SELECT * FROM t WHERE a > 5"}),
]


class Tables:
    """One table of one column, at whatever position is asked for."""

    def pin(self, table, key, position=None, sensitive=(), declared=None):
        return PinnedTable(
            table=table,
            table_id="id",
            format="delta",
            position=position or Position("delta", 9),
            columns=(Column("a", "bigint"),),
            relation=table.sql,
            key_columns=tuple(key),
            key_sql="KEY()",
        )

    def key_sql(self, pinned, columns):
        return "KEY()"

    def query_key_sql(self, sql, pinned, hidden=()):
        return "KEY()"

    def element_key_sql(self, key_sql, position_sql):
        return "KEY()"

    def ensure_query(self, sql):
        """Everything is fine here."""

    def ensure_predicate(self, pinned, sql):
        """Everything is fine here."""


def plan_at(positions=None):
    config = Config()
    defaults = Defaults(
        resolve=lambda name: name.resolve(config.default_catalog, config.default_namespace),
        key_of=lambda _: ("a",),
    )
    return build_plan(rules_of(SUITE, config), Tables(), defaults, NOW, positions)


IDS = {rule.key: rule.rule_id for rule in plan_at().rules}


def stands(key, mark=HERE, mode=Mode.CDF, rows=10, batch=4):
    return RuleProgress(
        IDS[key],
        mode,
        mark,
        Standing(rows=rows, scope=rows),
        1,
        None,
        key,
        "suite",
        "",
        "t",
        batch,
        1,
        "run",
        NOW,
    )
