"""Text for people: what comes from outside made safe to print, and numbers with their noun."""

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


def counted(number: int, noun: str) -> str:
    """`1 rule`, `12,000 rules`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
