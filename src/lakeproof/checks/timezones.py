"""The zone that a check reads local dates and times in."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeproof.errors import CheckDefinitionError


def read_zone(check: str, name: object, parameter: str = "timezone") -> ZoneInfo:
    """The zone of that IANA name; an unknown one is refused."""
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise CheckDefinitionError(
            f"parameter {parameter!r} of check {check!r} is not an IANA zone: {name!r}"
        ) from problem
