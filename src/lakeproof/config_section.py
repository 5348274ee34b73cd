"""One table of a configuration file, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeproof.durations import duration_of
from lakeproof.errors import ConfigError


class Section:
    """A table taken apart key by key; what is left over is unknown."""

    def __init__(self, value: object, where: str, known: tuple[str, ...]) -> None:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: expected a table, got {type(value).__name__}")
        for key in value:
            if key not in known:
                near = get_close_matches(str(key), known, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ConfigError(
                    f"{where}: unknown key {key!r}.{hint} Known keys: {', '.join(known)}."
                )
        self.value = value
        self.where = where

    def text(self, key: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        found = self.value.get(key, default)
        if not isinstance(found, str):
            raise ConfigError(f"{self.where}: {key} must be a string, got {found!r}")
        if allowed and found not in allowed:
            raise ConfigError(f"{self.where}: {key} = {found!r} is not one of {', '.join(allowed)}")
        if default and not found.strip():
            raise ConfigError(f"{self.where}: {key} must not be empty")
        return found

    def seconds(self, key: str) -> float | None:
        found = self.value.get(key)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, (int, float)) or found <= 0:
            raise ConfigError(f"{self.where}: {key} must be a number above 0, got {found!r}")
        return float(found)

    def count(self, key: str) -> int | None:
        found = self.value.get(key)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise ConfigError(f"{self.where}: {key} must be a whole number above 0, got {found!r}")
        return found

    def flag(self, key: str, *, default: bool) -> bool:
        found = self.value.get(key, default)
        if not isinstance(found, bool):
            raise ConfigError(f"{self.where}: {key} must be true or false, got {found!r}")
        return found

    def duration_seconds(self, key: str) -> float:
        """A length of time as `2h`, `P1D` or a number of seconds; 0 if it is not given."""
        given = self.value.get(key, 0)
        number = _whole(given) if isinstance(given, str) else given
        found = duration_of(given if number is None else number)
        if found is None or found.months:
            raise ConfigError(
                f'{self.where}: {key} = {given!r} is no length of time; write "36h", "2d" or a '
                "number of seconds, without months"
            )
        return float(found.seconds)

    def zone(self, key: str) -> str:
        """The name of a time zone; '' if it is not given."""
        name = self.text(key, "")
        try:
            return ZoneInfo(name).key if name else ""
        except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
            raise ConfigError(f"{self.where}: {key} is not an IANA zone: {name!r}") from problem

    def names(self, key: str) -> tuple[str, ...]:
        found = self.value.get(key, [])
        if isinstance(found, str):
            found = [found]
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise ConfigError(f"{self.where}: {key} must be a list of column names, got {found!r}")
        return tuple(found)


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None
