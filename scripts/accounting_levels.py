"""The page on what each level of the books sees, from the tables that the tests run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "accounting"))

from tampering import CHANGES, FAULTS, LOST_ELEMENTS

_KINDS = {"COUNT": "counts", "COMMIT": "commitments", "DIGEST": "digests"}
_UNSEEN = "**not seen**"
_BEFORE = """\
# What each level sees

Every line of these tables is a test, and the page is made from the tests' own tables. How the
levels are chosen is in [the guide](../guides/accounting.md).

## Faults of a pipeline

What `verify()` says before there is a ledger. Both levels compare what is on storage with the
input: COUNT by numbers of records, COMMIT by sums of key hashes as well. Neither can know where a
record should have gone, only that it went somewhere once.
"""
_AFTER = """\
## Changes to a finished run

What `lakeproof ledger verify` has to say, and by what: the **counts** of each partition, their
**commitments** (at COMMIT only), or the **digests** of files and of the ledger itself. Digests show
that something was touched; counts and commitments show which partition no longer holds its records.
"""
_LIMITS = """\
Digests stand in the ledger, and whoever can write the files can write the ledger: the last lines
show what remains then. No ledger of keys shows that values are right. Keep the ledgers, or their
SHA-256, where the writer of the data cannot reach them.
"""


def levels_page() -> str:
    from write_reference import table

    found = (*FAULTS[1:], *LOST_ELEMENTS)
    faults = [(one.what, _said(one.at_count), _said(one.at_commit)) for one in found]
    changes = [(one.what, _seen(one.at_count), _seen(one.at_commit)) for one in CHANGES[1:]]
    parts = [
        _BEFORE,
        *table("| what the pipeline does | COUNT | COMMIT |", faults),
        "",
        _AFTER,
        *table("| what is changed | a COUNT ledger | a COMMIT ledger |", changes),
        "",
        _LIMITS,
    ]
    return "\n".join(parts)


def _said(text: str) -> str:
    return text or _UNSEEN


def _seen(kinds: tuple[str, ...]) -> str:
    return ", ".join(_KINDS[kind] for kind in kinds) or _UNSEEN
