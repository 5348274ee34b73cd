"""Passwords, tokens and keys in text from outside, known by what they are called or look like."""

from __future__ import annotations

import re

_HIDDEN = "***"

# `account_key = 5` is a column of some warehouse, `AccountKey=...` opens a storage account.
_CALLED = (
    r"(?:password|passwd|pwd|passphrase|secret|credentials?|(?:api|access|secret|private)[._-]?key"
    r"|(?:account|client|encryption|master|shared(?:access)?|storage)[.-]?key(?:\.[\w.-]+)?)"
)
# First what is hidden already: a text may pass here twice.
_GIVEN = r"""(?:\*{3}(?=[\s,;&)}\]'"]|\Z)|'[^']*'|"[^"]*"|\{[^}]*\}|[^\s&;'"]+)"""
_TYPE = (
    r"(?:array|bigint|binary|boolean|char|date|decimal|double|float|int|integer|long|map|short"
    r"|smallint|string|struct|timestamp\w*|tinyint|varchar|variant|void)\b"
)

# Each keeps its first group and hides the rest.
_SECRETS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)",
        r"(://)[^\s/?#'\":@]*:[^\s/?#'\"]*(?=@)",  # ://user:password@host
        r"((?<!abfs)(?<!abfss)(?<!wasb)(?<!wasbs)://)[^\s/?#'\":@]+(?=@)",  # ://token@host
        r"(\bjdbc:oracle:\w+:)[^\s@]+(?=@)",
        r"(\bauthorization['\"]?\s*[:=]\s*['\"]?)(?:\w+\s+)?[^\s'\",;]+",
        r"(\b(?:bearer|basic)\s+)(?=\S*\d)[\w.~+/=-]{8,}",
        rf"((?:{_CALLED}|token)\s*(?:=>|->|=(?!=))\s*){_GIVEN}",
        rf"((?:{_CALLED}|token)['\"]\s*:\s*){_GIVEN}",  # JSON, and what Python prints
        rf"((?:{_CALLED}|(?<=[\w.-])token):\s*)(?!{_TYPE}){_GIVEN}",
        rf"(\([\w.-]*(?:{_CALLED}|token),)[^)]*(?=\))",  # Spark's settings: (name,value)
        r"([?&](?:sig|[\w-]*signature)=)[^\s&'\"]+",
        r"()(?-i:\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)",
        r"()(?-i:\b(?:dapi[0-9a-f]{32}|gh[pousr]_\w{20,}|xox[abpr]-[\w-]{10,}|AIza[\w-]{30,}))",
    )
)


def hide_secrets(text: str) -> str:
    """The text with secrets as `***`: in addresses, settings, headers, JSON, or by their form.

    A name alone is no secret: `password IS NULL` and `token_count = 5` stay as they are.
    """
    for pattern in _SECRETS:
        text = pattern.sub(rf"\1{_HIDDEN}", text)
    return text
