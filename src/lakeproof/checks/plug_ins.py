"""Engines that users bring: a function per name, registered here or by an entry point.

The function is called as `function(frame, rule, context)` and returns a number, a truth value, or
a DataFrame of the failing rows. The one named `text` is given the rules that are mere text. The
names of engines whose rules run as checks of ours cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from lakeproof.checks.engine_names import NATIVE, engine_named
from lakeproof.errors import CheckDefinitionError, ConfigError, short_message

PlugIn = Callable[..., object]

_GROUP = "lakeproof.engines"
_registered: dict[str, PlugIn] = {}


def register_engine(name: str, function: PlugIn) -> None:
    """Have the function run every rule of that engine; a later one takes its place."""
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"an engine is named by a text that is not empty, got {name!r}")
    if not callable(function):
        raise ConfigError(f"engine {name!r} needs a function(frame, rule, context)")
    known = engine_named(name)
    if known in NATIVE:
        raise ConfigError(
            f"rules of engine {known!r} run as checks of Lakeproof; register another name"
        )
    _registered[known] = function


def unregister_engine(name: str) -> None:
    """Forget the function; a name that is not registered is fine."""
    _registered.pop(engine_named(name), None)


def find_plug_in(name: str) -> PlugIn | None:
    """The function of that engine: a registered one, else that of an installed package."""
    known = engine_named(name)
    if known in _registered:
        return _registered[known]
    point = _installed().get(known)
    if point is None or known in NATIVE:
        return None
    try:
        found: PlugIn = point.load()
    except Exception as problem:
        raise CheckDefinitionError(
            f"engine {name!r} of plug-in {point.value!r} cannot be loaded: {short_message(problem)}"
        ) from problem
    return found


@cache
def _installed() -> dict[str, EntryPoint]:
    """The engines of installed packages; looked up once, for that reads many files."""
    return {engine_named(point.name): point for point in entry_points(group=_GROUP)}
