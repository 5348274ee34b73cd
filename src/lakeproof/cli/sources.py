"""Where each check of a suite was written, found in its module's source text."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from lakeproof.model.suite import Comparing, QualityCheck


def with_sources(
    checks: Sequence[QualityCheck | Comparing], module: ModuleType, attribute: str
) -> tuple[QualityCheck | Comparing, ...]:
    """The checks, each with `source` as `file:line` unless it brings its own.

    A check written out (`QualityCheck("a", ...)`) has the line of that call; one made in a loop or
    by a function has the line where the suite is assigned. Nothing is filled in where no source
    text is to be had.
    """
    home, line = _origin(module, attribute)
    lines = {} if home is None else _lines_of_calls(home)
    checks = [_as_check(entry) for entry in checks]
    return tuple(
        _with_source(entry, home, _line_of(entry, lines, line))
        if isinstance(entry, QualityCheck) and not entry.source
        else entry
        for entry in checks
    )


def _as_check(entry: QualityCheck | Comparing) -> QualityCheck | Comparing:
    """A comparison as the check that it stands for, unless it brings DataFrames."""
    has_frames = isinstance(entry, Comparing) and entry.frames()
    return entry if has_frames or not isinstance(entry, Comparing) else entry.quality_check()


def _line_of(check: QualityCheck, lines: dict[str, list[int]], default: int) -> int:
    """The call's line; of calls with one name the next each time, since suites keep their order."""
    found = lines.get(check.name) if isinstance(check.name, str) else None
    if not found:
        return default
    return found.pop(0) if len(found) > 1 else found[0]


def _with_source(check: QualityCheck, home: ModuleType | None, line: int) -> QualityCheck:
    if home is None or not line:
        return check
    try:
        return replace(check, source=f"{_path_of(home)}:{line}")
    except TypeError:  # a subclass that is made otherwise; a line is not worth losing it
        return check


def _path_of(module: ModuleType) -> str:
    """The file as seen from this folder; one elsewhere as its package has it."""
    file = Path(str(module.__file__))
    try:
        return file.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        depth = module.__name__.count(".") + (2 if file.name == "__init__.py" else 1)
        return Path(*file.parts[-depth:]).as_posix()


def _origin(module: ModuleType, attribute: str) -> tuple[ModuleType | None, int]:
    """The module that assigns the suite, and the line; imports are followed to it."""
    seen: set[str] = set()
    while module.__name__ not in seen:
        seen.add(module.__name__)
        tree = _tree(module)
        if tree is None:
            return None, 0
        for node in tree.body:
            if attribute in _assigned(node):
                return module, node.lineno
        source = _imported_from(tree, module, attribute)
        if source is None:
            return module, 0
        module, attribute = source
    return None, 0


def _tree(module: ModuleType) -> ast.Module | None:
    try:
        return ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError, ValueError):  # compiled, generated, or empty
        return None


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _imported_from(
    tree: ast.Module, module: ModuleType, attribute: str
) -> tuple[ModuleType, str] | None:
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            if (alias.asname or alias.name) == attribute:
                package = (module.__package__ or "").split(".")
                base = package[: len(package) - node.level + 1] if node.level else []
                name = ".".join([*base, *([node.module] if node.module else [])])
                found = sys.modules.get(name)
                return None if found is None else (found, alias.name)
    return None


def _lines_of_calls(module: ModuleType) -> dict[str, list[int]]:
    """Lines, by the check's name, of every call of QualityCheck that has a constant name."""
    tree = _tree(module)
    lines: dict[str, list[int]] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and _is_check(_named_by(node.func, module)):
            for name in _name_arguments(node):
                lines.setdefault(name, []).append(node.lineno)
    return {name: sorted(found) for name, found in lines.items()}


def _name_arguments(call: ast.Call) -> Iterator[str]:
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "name")]
    for value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def _named_by(node: ast.expr, module: ModuleType) -> object:
    """What a name stands for in the module, whatever alias it was imported by."""
    if isinstance(node, ast.Name):
        return vars(module).get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _named_by(node.value, module)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


def _is_check(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, QualityCheck)
