"""What the state tables say about one run: its results, and which table it has read where."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.model.names import TableName
from lakeproof.model.outcome import PARTITION, CheckResult, CheckStatus
from lakeproof.model.position import Position
from lakeproof.model.promotion import PromotionRecord
from lakeproof.model.reading import Mark
from lakeproof.state.leases import IntentStatus
from lakeproof.state.reading import PROMOTIONS, RESULTS, Among, Question, StateReader
from lakeproof.state.statements import result_of_row

KNOWN_MAX = 100_000
"""Newest results that are looked at for names and trends; older ones are not worth the wait."""

LATEST = "latest"
"""What stands for the newest run where its id is asked for."""

NEWEST = ("-executed_at", "-run_id")

_NOT_PASSED = (CheckStatus.FAILED, CheckStatus.ERROR)


def latest_run(reader: StateReader, where: Sequence[Among] = ()) -> str:
    """The run with the newest such result; '' before the first."""
    newest = reader.ask(Question(RESULTS, tuple(where), NEWEST, limit=1, columns=("run_id",))).rows
    return str(newest[0]["run_id"]) if newest else ""


def known_runs(reader: StateReader) -> set[str]:
    """Every run whose results are among the newest."""
    rows = reader.ask(Question(RESULTS, (), NEWEST, KNOWN_MAX, ("run_id",))).rows
    return {str(row["run_id"]) for row in rows}


def results_of_run(reader: StateReader, run_id: str) -> list[CheckResult]:
    rows = reader.ask(Question(RESULTS, (Among(("run_id",), (run_id,)),))).rows
    return [result_of_row(row) for row in rows]


def intended_rules(reader: StateReader, run_id: str) -> frozenset[str]:
    """The rules that this run has set out to evaluate, by rule_id.

    Empty too for a run that found nothing new: such a run takes no lease.
    """
    columns = ("rule_ids", "status")
    rows = reader.ask(Question("intents", (Among(("run_id",), (run_id,)),), columns=columns)).rows
    return frozenset(
        str(rule_id)
        for row in rows
        if row["status"] != IntentStatus.WITHDRAWN
        for rule_id in _listed(row["rule_ids"])
    )


def table_ids_read(
    reader: StateReader, run_id: str, table: TableName, position: Position, rule_ids: Sequence[str]
) -> frozenset[str]:
    """The identities that the table had when the run read it there.

    The lease names it; a run that found nothing new said what rules had said there before.
    """
    of_table = Among(("table_fqn",), (str(table),))
    intents = reader.ask(
        Question(
            "intents",
            (of_table, Among(("run_id",), (run_id,))),
            columns=("table_id", "to_position"),
        )
    ).rows
    leased = {str(row["table_id"]) for row in intents if row["to_position"] == position.to_json()}
    if leased:
        return frozenset(leased)
    progress = reader.ask(
        Question(
            "progress", (of_table, Among(("rule_id",), tuple(rule_ids))), columns=("position",)
        )
    ).rows
    marks = [_mark(row["position"]) for row in progress]
    return frozenset(mark.table_id for mark in marks if mark and mark.position == position)


def failed_beside(
    reader: StateReader, table: TableName, position: Position, results: Sequence[CheckResult]
) -> list[CheckResult]:
    """What other runs of the suites of these results said last there, of rules not among these.

    Only what did not pass, and of rules that their suite still has. One that was never evaluated,
    only ever an error, was never in a position to be retired: it is gone if these results have a
    rule of its key. Checks without a suite are told by rule_key alone: nothing says that one of
    them was changed or removed.
    """
    there = (
        Among(("table_fqn",), (str(table),)),
        Among(("position",), (position.to_json(),)),
        Among(("suite",), tuple(sorted({one.suite for one in results}))),
    )
    bad = Among(("status",), _NOT_PASSED)
    rows = reader.ask(Question(RESULTS, (*there, bad), columns=("rule_id",))).rows
    others = {str(row["rule_id"]) for row in rows} - {one.rule_id for one in results}
    if not others:
        return []
    of_rules = Among(("rule_id",), tuple(sorted(others)))
    suites = _suites(reader, of_rules)
    keys = {one.rule_key for one in results}
    newest: dict[str, CheckResult] = {}
    for row in reader.ask(Question(RESULTS, (*there, of_rules), NEWEST)).rows:
        newest.setdefault(str(row["rule_id"]), result_of_row(row))
    return [
        one
        for one in newest.values()
        if one.status in _NOT_PASSED
        and (
            suites[one.rule_id] if one.suite and one.rule_id in suites else one.rule_key not in keys
        )
    ]


def said_of_other_partitions(
    reader: StateReader, table: TableName, results: Sequence[CheckResult]
) -> list[CheckResult]:
    """What the rules of these results that were narrowed to a partition said last of the others.

    As of these results: what came later was said of a later table. A run over the whole table has
    seen every partition, so nothing older than it counts, and it counts as one of them.
    """
    narrowed = [one for one in results if PARTITION in one.declared]
    if not narrowed:
        return []
    where = (
        Among(("table_fqn",), (str(table),)),
        Among(("suite",), tuple(sorted({one.suite for one in narrowed}))),
        Among(("rule_key",), tuple(sorted({one.rule_key for one in narrowed}))),
    )
    own = {_said_of(one) for one in narrowed}
    last_moment = max(one.executed_at for one in narrowed)
    newest: dict[tuple[str, str, str], CheckResult] = {}
    for row in reader.ask(Question(RESULTS, where, NEWEST, KNOWN_MAX)).rows:
        one = result_of_row(row)
        whole = (one.suite, one.rule_key, "")
        # A rule that could not be planned has read nothing, and names neither place nor partition.
        if one.position and one.executed_at <= last_moment and whole not in newest:
            newest.setdefault(_said_of(one), one)
    return [one for said, one in newest.items() if said not in own]


def _said_of(result: CheckResult) -> tuple[str, str, str]:
    return result.suite, result.rule_key, result.declared.get(PARTITION, "")


def _suites(reader: StateReader, of_rules: Among) -> dict[str, object]:
    """The suite of each rule that was ever evaluated; '' if it was taken out and not put back."""
    columns = ("rule_id", "suite", "batch_seq")
    rows = reader.ask(Question("progress", (of_rules,), ("batch_seq",), columns=columns)).rows
    return {str(row["rule_id"]): row["suite"] for row in rows}


def promotions_to(reader: StateReader, target: str) -> list[PromotionRecord]:
    """Every move of the target that was recorded, and every one that was intended."""
    among = Among(("rule_id",), (PromotionRecord.rule_id_of(target),))
    rows = reader.ask(Question(PROMOTIONS, (among,))).rows
    return [PromotionRecord.from_result(result_of_row(row)) for row in rows]


def promotions_of(reader: StateReader, run_id: str) -> list[PromotionRecord]:
    """Every move that was recorded or intended under this run."""
    rows = reader.ask(Question(PROMOTIONS, (Among(("run_id",), (run_id,)),))).rows
    return [PromotionRecord.from_result(result_of_row(row)) for row in rows]


def _mark(text: object) -> Mark | None:
    """State of an older version holds a position without its table: that is no mark."""
    try:
        return Mark.from_json(str(text))
    except (ValueError, KeyError, TypeError):
        return None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
