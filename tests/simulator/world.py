"""Tables, state and drivers of one history, and what happens to the tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from random import Random

from meaning import CODES, ORDERS, Code, Order, codes_table, meaning_of, orders_table
from memory_engine import MemoryEngine
from memory_prune import MemoryPruner
from memory_state import Broken, Place, State
from memory_store import MemoryStore
from memory_table import Change, Kind, MemoryTable, Row
from scheduler import START, Driver, Scheduler

from lakeproof import faults
from lakeproof.model.names import TableName
from lakeproof.model.position import Position
from lakeproof.model.rule import Rule
from lakeproof.planning.build import Defaults, build_plan
from lakeproof.planning.plan import Plan
from lakeproof.planning.read_mode import AUTO
from lakeproof.running.reads import Wanted
from lakeproof.running.result_draft import RunLabels
from lakeproof.running.runner import Ran, Runner

SUITE = "shop"
COMMITS_MAX = 40
_PLACE = re.compile(r"`(orders|codes)_life\d+_commit\d+`")

KEYS = {TableName.parse(ORDERS): ("id",), TableName.parse(CODES): ()}


@dataclass(frozen=True, slots=True)
class Job:
    """What a run is asked to do. Rules in `failing` break while it reads."""

    run_id: str
    rule_keys: tuple[str, ...]
    mode: str = AUTO
    failing: frozenset[str] = frozenset()
    rebuild: frozenset[str] = frozenset()


class World:
    """Everything that one history has, made from its seed."""

    def __init__(self, seed: int, broken: Broken = Broken.NOTHING) -> None:
        self.random = Random(seed)  # noqa: S311 (no secret)
        self.orders = orders_table()
        self.codes = codes_table()
        self.tables: Mapping[TableName, MemoryTable] = {
            self.orders.name: self.orders,
            self.codes.name: self.codes,
        }
        self.state = State(broken, attempts_max=self.random.randrange(2, 7))
        self.scheduler = Scheduler(self.random, self.commit)
        self.commits = 0
        self.operations = _OPERATIONS
        self.plans: dict[Place, Plan] = {}
        """The plan by which each result came about that is recorded, by (run_id, rule_key)."""

    # --------------------------------------------------------------------- what others commit

    def commit(self) -> str:
        """Something happens to a table; says what."""
        if self.commits >= COMMITS_MAX:
            return "nobody commits"
        self.commits += 1
        table = self.orders if self.random.random() < 0.7 else self.codes
        names = list(self.operations)
        name = self.random.choices(names, [self.operations[one] for one in names])[0]
        _ACTS[name](self, table)
        return f"{table.name.short}: {name}, now {table.now.table_id} at {table.now.head}"

    def new_row(self, table: MemoryTable) -> Row:
        pick = self.random.choice
        if table is self.codes:
            return Code(pick((None, 1, 2, 3)), pick((0, 1)))
        return Order(
            id=self.random.randrange(1, 7),
            a=pick((None, 1, 2)),
            b=pick((None, "x", "y")),
            ref=pick((None, 1, 2, 3)),
            value=pick((None, 3, 9)),
            flag=pick((True, False)),
        )

    def some_rows(self, table: MemoryTable) -> list[Row]:
        """A few rows of the table, each as often as it is there at most."""
        rows = list(Counter(table.rows).elements())
        return self.random.sample(rows, min(len(rows), self.random.randrange(1, 4)))

    # ------------------------------------------------------------------------- drivers

    def start(self, name: str, job: Job) -> Driver:
        """A process that will run the suite."""
        return self.scheduler.start(name, lambda: self._run(name, job))

    def start_pruning(self, name: str) -> Driver:
        """A process that clears the state tables up."""
        pruner = MemoryPruner(self.state, self.scheduler, name, self.orders.name)
        drops_resolved = self.random.random() < 0.3
        return self.scheduler.start(
            name, lambda: pruner.prune(name, self.scheduler.now, drops_resolved=drops_resolved)
        )

    def _run(self, name: str, job: Job) -> Ran:
        engine = MemoryEngine(
            self.tables, self.state, self.scheduler, fails=job.failing.__contains__
        )
        made: list[Plan] = []

        def remember(places: Iterable[Place]) -> None:
            self.plans.update(dict.fromkeys(places, made[-1]))

        store = MemoryStore(self.state, self.scheduler, name, remember)

        def planned(positions: Mapping[TableName, Position]) -> Plan:
            self.scheduler.step("plan")
            pins = [engine.pin(table, key, positions.get(table)) for table, key in KEYS.items()]
            plan = replace(plan_at(job.rule_keys, tuple(pins)), now=self.scheduler.now)
            engine.learn(plan)
            made.append(plan)
            return plan

        wanted = Wanted(mode=job.mode, rebuild=job.rebuild)
        runner = Runner(
            engine, store, clock=self.scheduler.clock, is_whole_suite=True, wanted=wanted
        )
        return runner.run(planned({}), RunLabels(job.run_id, suite=SUITE), planned)


@cache
def plan_at(rule_keys: tuple[str, ...], pins: tuple) -> Plan:
    """The plan of these rules with the tables pinned so; made once and moved from then on."""
    return _moved(_first_plan(rule_keys), {pin.table.short: pin for pin in pins})


@cache
def _first_plan(rule_keys: tuple[str, ...]) -> Plan:
    orders, codes = orders_table(), codes_table()
    tables = {orders.name: orders, codes.name: codes}
    engine = MemoryEngine(tables, State(), Scheduler(Random(0), str))  # noqa: S311 (no secret)
    defaults = Defaults(resolve=lambda name: name, key_of=lambda table: KEYS[table])
    plan = build_plan([meaning_of(key).rule for key in rule_keys], engine, defaults, START)
    assert not plan.rejected, plan.rejected
    return plan


def _moved(value, pins):
    """A plan with other pins: every place where a table's relation stands is written anew."""
    if isinstance(value, str):
        return _PLACE.sub(lambda found: pins[found[1]].relation, value)
    if isinstance(value, tuple):
        return tuple(_moved(one, pins) for one in value)
    if isinstance(value, Rule) or not is_dataclass(value):
        return value
    if hasattr(value, "table_id"):
        return pins[value.table.short]
    return replace(
        value, **{part.name: _moved(getattr(value, part.name), pins) for part in fields(value)}
    )


@contextmanager
def fault_points(scheduler: Scheduler) -> Iterator[None]:
    """Let every fault point of a run be a step of this scheduler's history."""
    with ExitStack() as armed:
        for point in (*faults.POINTS, "during_prune"):
            armed.enter_context(faults.armed(point, partial(scheduler.step, point)))
        yield


# ------------------------------------------------------------------------------ operations


def _insert(world: World, table: MemoryTable) -> None:
    rows = [world.new_row(table) for _ in range(world.random.randrange(1, 4))]
    table.change("insert", [Change(Kind.INSERT, row) for row in rows])


def _delete(world: World, table: MemoryTable) -> None:
    table.change("delete", [Change(Kind.DELETE, row) for row in world.some_rows(table)])


def _update(world: World, table: MemoryTable) -> None:
    table.change("update", list(_updates(world, table)))


def _updates(world: World, table: MemoryTable) -> Iterator[Change]:
    for row in world.some_rows(table):
        new = world.new_row(table)
        place = world.random.randrange(1, len(row))
        yield Change(Kind.BEFORE, row)
        yield Change(Kind.AFTER, (*row[:place], new[place], *row[place + 1 :]))


def _merge(world: World, table: MemoryTable) -> None:
    changes = [*_updates(world, table), Change(Kind.INSERT, world.new_row(table))]
    table.change("merge", changes)


def _overwrite(world: World, table: MemoryTable) -> None:
    old = list(Counter(table.rows).elements())
    new = [*world.some_rows(table), world.new_row(table)]
    feed = [Change(Kind.DELETE, row) for row in old] + [Change(Kind.INSERT, row) for row in new]
    table.change("overwrite", feed)


def _compact(world: World, table: MemoryTable) -> None:
    """Rewrite files: some formats show the rows that were carried over, going and coming."""
    if world.random.random() < 0.5:
        table.touch("compact")
        return
    rows = world.some_rows(table)
    feed = [Change(kind, row) for row in rows for kind in (Kind.DELETE, Kind.INSERT)]
    table.change("compact", feed)


def _restore(world: World, table: MemoryTable) -> None:
    table.restore(world.random.randrange(len(table.now.commits)))


def _roll_back(world: World, table: MemoryTable) -> None:
    table.roll_back(world.random.randrange(len(table.now.commits)))


def _replace(world: World, table: MemoryTable) -> None:
    table.replace(world.some_rows(table))


def _switch_feed(world: World, table: MemoryTable) -> None:
    table.now.feed_is_on = not table.now.feed_is_on
    table.touch("set property")


def _expire(world: World, table: MemoryTable) -> None:
    table.now.readable_from = world.random.randrange(len(table.now.commits)) + 1


_ACTS: dict[str, Callable[[World, MemoryTable], None]] = {
    "insert": _insert,
    "update": _update,
    "delete": _delete,
    "merge": _merge,
    "overwrite": _overwrite,
    "compact": _compact,
    "set property": lambda _world, table: table.touch("set property"),
    "restore": _restore,
    "roll back": _roll_back,
    "replace": _replace,
    "switch feed": _switch_feed,
    "expire": _expire,
}
_OPERATIONS = dict(zip(_ACTS, (35, 22, 16, 6, 3, 5, 3, 3, 2, 1.5, 2, 1.5), strict=True))
