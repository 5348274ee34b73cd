from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from sqlglot import exp

from lakeproof.checks.bounds import is_above
from lakeproof.checks.kinds import Arguments, Facts, MeasureCheck, Verdict
from lakeproof.checks.literals import as_date, as_datetime
from lakeproof.checks.parameters import Parameter
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.column import Column
from lakeproof.model.printable import counted

_DAY = timedelta(days=1)
_MOMENT = (str, date, datetime)


class ServicePeriod(MeasureCheck):
    """The run's clock stands between `starts_at` and `ends_at`: the data is in service.

    Before `starts_at` it is skipped, for nothing is promised yet. After `ends_at` it fails, for
    nothing is promised any more; before, it tells how many days are left. A date alone is a whole
    day in UTC, the last one included; a moment without zone is in UTC. `failing_rows` is 0 or 1.
    Nothing of the table is looked at: a filter has no meaning here. A tolerance is a number of
    days.
    """

    name = "service_period"
    dimension = "timeliness"
    columns_min = 0
    columns_max = 0
    parameters = (
        Parameter("starts_at", _MOMENT, "the first moment, as ISO text or a date"),
        Parameter("ends_at", _MOMENT, "the last moment, as ISO text or a date"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if all(arguments[name] is None for name in arguments):
            raise CheckDefinitionError("check 'service_period' needs starts_at, ends_at or both")
        for name, given in arguments.items():
            if given is not None and as_datetime(given) is None:
                raise CheckDefinitionError(
                    f"parameter {name!r} of check 'service_period' is {given!r}; write an ISO "
                    "date or moment such as 2032-05-12 or 2032-05-12T09:30:10-08:00"
                )
        if is_above(arguments["starts_at"], arguments["ends_at"]):
            raise CheckDefinitionError(
                f"check 'service_period' starts at {arguments['starts_at']}, after it ends at "
                f"{arguments['ends_at']}"
            )
        return arguments

    def identity(self, arguments: Arguments) -> Arguments:
        return {
            "starts_at": _hashed(_start(arguments["starts_at"])),
            "ends_at": _hashed(_end(arguments["ends_at"])),
        }

    def measures(self, columns: Sequence[Column], arguments: Arguments) -> dict[str, exp.Expr]:
        return {}  # the clock is all that it asks

    def judge(self, values: Mapping[str, object], arguments: Arguments, facts: Facts) -> Verdict:
        start, end = _start(arguments["starts_at"]), _end(arguments["ends_at"])
        if start is not None and facts.now < start:
            left = counted(_days(start - facts.now), "day")
            details = f"not in service before {arguments['starts_at']}, in {left}"
            return Verdict(0, facts.total, 0, 0.0, None, details, skipped=True)
        if end is None:
            bound = f"from {arguments['starts_at']}"
            return Verdict(0, facts.total, 0, 0.0, None, f"in service {bound}", bound=bound)
        return _judge_end(facts, end, f"until {arguments['ends_at']}")


def _judge_end(facts: Facts, end: datetime, bound: str) -> Verdict:
    if facts.now <= end:
        left = _days(end - facts.now)
        details = f"in service {bound}, {counted(left, 'day')} left"
        measures = {"days_left": left}
        return Verdict(0, facts.total, 0, 0.0, None, details, measures=measures, bound=bound)
    gone = facts.now - end
    return Verdict(
        failing=1,
        total=facts.total,
        excess=math.ceil(gone / _DAY),
        share=math.inf,
        measure=None,
        details=f"in service {bound}, which is {counted(_days(gone), 'day')} ago",
        measures={"days_left": -_days(gone)},
        bound=bound,
    )


def _start(given: object) -> datetime | None:
    return None if given is None else _moment(given)


def _end(given: object) -> datetime | None:
    """The last moment of a day where only the day is given."""
    if given is None:
        return None
    moment = _moment(given)
    return moment if as_date(given) is None else moment + _DAY - timedelta(microseconds=1)


def _moment(given: object) -> datetime:
    found: datetime = as_datetime(given)  # type: ignore[assignment]  # read() refuses all others
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _hashed(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _days(length: timedelta) -> int:
    """Full days."""
    return length // _DAY
