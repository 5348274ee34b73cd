"""Columns whose values do not belong into a file that is committed and mailed around."""

from __future__ import annotations

import re
from collections.abc import Collection

_PRIVATE = re.compile(
    r"""
    account | address | beneficiary | birth | birthday | birthdate | born | card | city
    | credential | cvv | dob | driver | email | employee | ethnicity | fax | firstname | gender
    | health | iban | income | ip | lastname | lat | latitude | license | lng | lon | longitude
    | mail | maiden | mobile | msisdn | name | nationality | nickname | owner | passport | passwd
    | password | patient | person | phone | pin | plate | postal | postcode | pwd | religion
    | salary | secret | sex | sin | ssn | street | surname | tax | tel | telephone | token
    | user | username | vat | wage | zip | zipcode
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def is_private(name: str, sensitive: Collection[str] = ()) -> bool:
    """Declared sensitive, or named like personal data or a secret (`email`, `customerName`).

    Too many rather than too few: the price is a rule that is not drafted.
    """
    declared = {column.casefold() for column in sensitive}
    words = (word.lower() for word in _WORD.findall(name))
    return name.casefold() in declared or any(_PRIVATE.fullmatch(word) for word in words)
