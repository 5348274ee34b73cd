"""What a run may be called."""

from __future__ import annotations

import re

from lakeproof.errors import ConfigError

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def ensure_run_id(run_id: str) -> None:
    """Refuse a run id that is not a slug: it stands in commands, file names and addresses."""
    if not _RUN_ID.fullmatch(run_id):
        raise ConfigError(
            f"run id {run_id!r} is not a slug: 1 to 64 of a-z, 0-9, '-' and '_', "
            "beginning with a letter or digit"
        )
