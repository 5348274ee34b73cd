"""The YAML block that maps tables to their watermarks, as plain texts.

    watermarks:
      shop.sales.orders: ingested_at
      shop.sales.payments: {column: booked_at, allowed_lateness: 2h}

It is what `watermarks_file` of the configuration names. Every value is taken as the text that
stands there, so YAML's own ideas of types play no part.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeproof.errors import ConfigError

SIZE_BYTES_MAX = 1_000_000
BLOCK = "watermarks"


def read_watermarks(path: Path) -> dict[str, object]:
    """Table name to a column's name, or to a mapping of texts; ConfigError with file:line."""
    import yaml  # type: ignore[import-untyped]

    text = _text_of(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {problem.problem}") from problem
    except (yaml.YAMLError, RecursionError) as problem:
        raise ConfigError(f"{path}: not valid YAML: {type(problem).__name__}") from problem
    top = _entries(root, path, f"a mapping with the one key {BLOCK!r}")
    unknown = [key for key in top if key != BLOCK]
    if unknown or BLOCK not in top:
        named = f"unknown key {unknown[0]!r}" if unknown else f"no key {BLOCK!r}"
        raise ConfigError(f"{path}: {named}. The file has the one key {BLOCK!r}.")
    found: dict[str, object] = {}
    for name, node in _entries(top[BLOCK], path, "a mapping of tables to watermarks").items():
        what = f"a column's name or a mapping for {name!r}"
        is_text = isinstance(node, yaml.ScalarNode)
        found[name] = (
            node.value
            if is_text
            else {key: _scalar(one, path) for key, one in _entries(node, path, what).items()}
        )
    return found


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            # One byte more than may be: enough to refuse it, however long it is.
            content = file.read(SIZE_BYTES_MAX + 1)
        if len(content) > SIZE_BYTES_MAX:
            raise ConfigError(f"{path}: more than {SIZE_BYTES_MAX:,} bytes. Split it.")
        return content.decode("utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: not UTF-8: {problem.reason}") from problem


def _entries(node: Any, path: Path, wanted: str) -> dict[str, Any]:  # noqa: ANN401 - no types
    """Key to node, each key once."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        line = node.start_mark.line + 1 if node else 1
        raise ConfigError(f"{path}:{line}: expected {wanted}")
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = _scalar(key, path)
        if name in found:
            line = key.start_mark.line + 1
            raise ConfigError(f"{path}:{line}: {name!r} is given twice; keep one")
        found[name] = value
    return found


def _scalar(node: Any, path: Path) -> str:  # noqa: ANN401 - PyYAML has no types
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise ConfigError(f"{path}:{node.start_mark.line + 1}: expected a text or a number")
    return str(node.value)
