"""Listed values of a text column, as texts: YAML reads 1 where the text '1' is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from lakeproof.contracts.draft import Setting
from lakeproof.contracts.yaml_document import pointer_to

_UNQUOTED = (bool, int, float, Decimal)


def as_texts(setting: Setting, values: Sequence[object]) -> tuple[object, ...]:
    """The values with numbers and truth values as the file writes them: `1.10`, `007`."""
    if not any(isinstance(value, _UNQUOTED) for value in values):
        return tuple(values)
    holder = setting.part or setting.owner
    rules = holder.quality if holder is not None else setting.contract.stray_rules
    found = (place for rule in rules for place in _places(rule.raw, rule.pointer, values))
    pointer = next(found, None)
    document = setting.contract.document
    return tuple(
        # Without a place, such as in an implementation that is a text, Python's spelling is left.
        document.spelled("" if pointer is None else pointer_to(pointer, at), value)
        if isinstance(value, _UNQUOTED)
        else value
        for at, value in enumerate(values)
    )


def _places(node: object, pointer: str, wanted: object) -> Iterator[str]:
    """Where the very same list stands inside a rule: that one, and none that is equal to it."""
    if node is wanted:
        yield pointer
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from _places(value, pointer_to(pointer, str(key)), wanted)
    elif isinstance(node, (list, tuple)):
        for at, value in enumerate(node):
            yield from _places(value, pointer_to(pointer, at), wanted)
