"""`--format json`: one document, strict JSON whatever the values are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime


def document_text(document: object) -> str:
    """Indented JSON in plain ASCII, so that no encoding and no terminal can spoil it."""
    return json.dumps(_plain(document), indent=2, allow_nan=False)


def _plain(value: object) -> object:
    """JSON has no infinity and no NaN; as text they survive and still cannot be mistaken."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="microseconds")
    return value
