"""Text for a job's log, where a line may be taken for a command by the service that runs the job.

GitHub obeys a line that begins with `::name ...::` (blanks before it do not matter) and
`##[name]` anywhere in a line, Azure `##vso[...]`, TeamCity `##teamcity[...]`.
"""

from __future__ import annotations

import re

COMMAND_MARK = re.compile(r"##(?=\w*\[)")
_AT_START = re.compile(r"^([^\S\n]*)(?=::)", re.MULTILINE)


def inert(text: str) -> str:
    """The same lines with a backslash where one of them would be a command."""
    return _AT_START.sub(r"\1\\", COMMAND_MARK.sub(r"#\\#", text))
