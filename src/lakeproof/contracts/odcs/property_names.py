"""Properties as rules name them, and their places in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.contracts.draft import Setting
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.nearest import nearest


def path_named(setting: Setting, name: object) -> str:
    """The path of the property that a rule names; an unknown name is refused with the nearest.

    Where the contract lists no properties, the name is the table's own.
    """
    if not isinstance(name, str) or not name.strip():
        raise CheckDefinitionError(f"a property is named by a text, got {name!r}")
    owner = setting.owner
    if owner is None or not owner.properties:
        return name.strip()
    found = owner.property_named(name.strip())
    if found is None:
        labels = [one.label for one in owner.walk()]
        near = nearest(name, labels) or labels
        raise CheckDefinitionError(
            f"object {owner.name!r} has no property {name!r}. Nearest known: {', '.join(near)}."
        )
    return found.path


def path_or_name(setting: Setting, name: object) -> str:
    """The same for the tests of other engines, which may name columns that no property is.

    Whether the table has such a column shows when the rule runs.
    """
    is_text = isinstance(name, str) and bool(name.strip())
    owner = setting.owner
    if is_text and owner is not None and owner.property_named(str(name).strip()) is None:
        return str(name).strip()
    return path_named(setting, name)


def names_in(value: object) -> tuple[str, ...]:
    """Names as they are given: a list, or a text with commas between them."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, Sequence):
        return tuple(str(name) for name in value if name not in (None, ""))
    if value is None:
        return ()
    raise CheckDefinitionError(f"properties are named by a list of texts, got {value!r}")


def columns_given(setting: Setting, entry: Mapping[str, object]) -> tuple[str, ...]:
    """The paths that `columns` or `column` name, else that of the rule's own property."""
    named = names_in(entry.get("columns")) or names_in(entry.get("column"))
    if named:
        return tuple(path_named(setting, name) for name in named)
    return (setting.column,) if setting.column else ()


def own_column(setting: Setting, what: str) -> str:
    """The path of the property that the rule stands on; at table level there is none."""
    if not setting.column:
        raise CheckDefinitionError(
            f"{what} looks at one property: move the rule into the `quality` of that property"
        )
    return setting.column
