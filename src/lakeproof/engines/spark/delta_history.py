"""What the history of a Delta table says of its rows."""

from __future__ import annotations

QUIET = frozenset(
    {
        "ADD CONSTRAINT",
        "CLUSTER BY",
        "DROP CONSTRAINT",
        "OPTIMIZE",
        "REORG",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "UPGRADE PROTOCOL",
        "VACUUM END",
        "VACUUM START",
    }
)
"""Operations whose commits change neither rows nor columns."""
