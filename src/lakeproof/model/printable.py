"""Text from outside made safe to print: one line, nothing that moves a cursor or turns text."""

from __future__ import annotations


def printable(text: object) -> str:
    """The text with every character that does not print written as its escape.

    Newlines too: a name must not be able to start a line that looks like one of ours. Characters
    that reverse the reading direction are not printable in Python's sense either.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in str(text)
    )
