"""A property's place in a row, written as SQL."""

from __future__ import annotations

from lakeproof.errors import CheckDefinitionError
from lakeproof.model.names import quote
from lakeproof.model.value_path import has_elements, read_path


def column_sql(path: str) -> str:
    """The value at a path, every name quoted; what stands in an array or map has no such SQL."""
    if has_elements(path):
        raise CheckDefinitionError(
            f"{path!r} stands inside an array or map, where no SQL over a row reaches. "
            "Use a check of its elements, such as range or accepted_values"
        )
    return ".".join(quote(name) for name, _ in read_path(path)) or quote(path)
