"""YAML with its comments, read and written by ruamel; entries keep theirs wherever they go."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.nodes import ScalarNode

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_WIDTH_MAX = 4096
_AT_END_OF_LINE = 2
CUSTOM = "customProperties"


class _TextConstructor(RoundTripConstructor):
    """Keeps what looks like a time as the text that it is."""

    def construct_time_text(self, node: ScalarNode) -> str:
        return str(node.value)


_TextConstructor.add_constructor(_TIMESTAMP, _TextConstructor.construct_time_text)


def read(text: str) -> Any:  # noqa: ANN401 (whatever the file holds)
    """The document with comments; it has been read strictly before."""
    return _yaml().load(text)


def write(document: CommentedMap) -> str:
    """The document as YAML, its comments where they were."""
    out = io.StringIO()
    _yaml().dump(document, out)
    return out.getvalue()


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.Constructor = _TextConstructor
    yaml.preserve_quotes = True
    yaml.width = _WIDTH_MAX
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


class Rewriting:
    """A mapping on its way to another one: entries are kept, renamed, or moved aside.

    What is moved aside becomes custom properties, before those that are there: what follows the
    last one in the file, a comment about the next part, must stay last.
    """

    def __init__(self, old: Mapping[str, Any]) -> None:
        self._old = old
        self._comments: dict[str, Any] = old.ca.items if isinstance(old, CommentedMap) else {}
        self._new = CommentedMap()
        self._aside: list[CommentedMap] = []
        self._aside_at = 0

    def keep(self, key: str, value: object, old_key: str = "") -> None:
        """The entry, by another name or with another value if given."""
        self._new[key] = value
        comment = self._comments.get(old_key or key)
        if comment is not None:
            is_renamed = bool(old_key) and old_key != key
            self._new.ca.items[key] = _close_by(comment) if is_renamed else comment

    def has(self, key: str) -> bool:
        return key in self._new

    def move_aside(self, name: str, value: object, old_key: str = "") -> None:
        """The entry becomes a custom property of that name."""
        self.take_aside([custom_property(name, value, self._comments.get(old_key))])

    def take_aside(self, properties: Iterable[CommentedMap]) -> None:
        """Custom properties made elsewhere, which have no better place."""
        found = list(properties)
        if found:
            self._aside += found
            self._aside_at = len(self._new)

    def without_aside(self) -> list[CommentedMap]:
        """Takes back what was moved aside, for a mapping that has no custom properties."""
        found, self._aside = self._aside, []
        return found

    def result(self) -> CommentedMap:
        """The new mapping; what was moved aside is in its custom properties."""
        if self._aside:
            known = self._new.get(CUSTOM)
            if known is None:
                self._new.insert(self._aside_at, CUSTOM, CommentedSeq(self._aside))
            else:
                for number, one in enumerate(self._aside):
                    known.insert(number, one)
        if isinstance(self._old, CommentedMap):
            self._new.ca.comment = self._old.ca.comment
            self._new.ca.end = self._old.ca.end
        return self._new


def custom_property(name: str, value: object, comment: list[Any] | None = None) -> CommentedMap:
    """`{property, value}` as the standard has them."""
    made = CommentedMap(property=name, value=value)
    if comment is not None:
        made.ca.items["value"] = _close_by(comment)
    return made


def _close_by(comment: list[Any]) -> list[Any]:
    """The comment one blank after its entry: the column it stood at is another entry's."""
    at_end = comment[_AT_END_OF_LINE]
    if at_end is not None:
        at_end.start_mark.column = 0
    return comment


def like(old: list[Any], items: list[Any]) -> CommentedSeq:
    """A list with the style and comments of the one it replaces, as far as they still fit."""
    made = CommentedSeq(items)
    if isinstance(old, CommentedSeq):
        if old.fa.flow_style():
            made.fa.set_flow_style()
        made.ca.comment, made.ca.end = old.ca.comment, old.ca.end
        if len(items) == len(old):
            made.ca.items.update(old.ca.items)
    return made
