"""The bounds of an expectation: `min_value` and `max_value`, each included unless it is strict."""

from __future__ import annotations

from collections.abc import Sequence

from lakeproof.contracts.engines.given import Given
from lakeproof.errors import CheckDefinitionError

BOUNDS = ("min_value", "max_value")


def limits(given: Given) -> tuple[object, object]:
    low, high = (given.bound(name) for name in BOUNDS)
    if low is None and high is None:
        raise CheckDefinitionError(f"{given.test} needs min_value, max_value or both")
    return low, high


def is_strict(given: Given, flag: str) -> bool:
    """Whether that end is excluded; `strictly` excludes both."""
    return given.flag(flag) or given.flag("strictly")


def whole_limits(given: Given) -> tuple[int | None, int | None]:
    """Bounds of what is counted; the next number takes the place of one that is excluded."""
    least, greatest = (given.whole(name) for name in BOUNDS)
    if least is None and greatest is None:
        raise CheckDefinitionError(f"{given.test} needs min_value, max_value or both")
    above, below = is_strict(given, "strict_min"), is_strict(given, "strict_max")
    return (
        None if least is None else least + above,
        None if greatest is None else greatest - below,
    )


def there(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
