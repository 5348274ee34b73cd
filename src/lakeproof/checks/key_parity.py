from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import Arguments, Verdict
from lakeproof.checks.pair_judging import keys_verdict
from lakeproof.checks.pair_parameters import (
    KEY_CAST,
    KEY_COLUMNS,
    NULL_KEYS,
    ON_EMPTY,
    OUTPUT_TABLE,
    SCOPE,
    TwoTableCheck,
    read_key,
    read_scope,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.model.pairing import PairFound
from lakeproof.model.threshold import Threshold


class KeyParity(TwoTableCheck):
    """Both tables have the same keys, however often each occurs.

    Keys are compared as sets; NULL equals NULL. The share that is held against the tolerance is
    that of keys which are missing on either side among all keys of both, `absolute_tolerance`
    their number. One side without any rows fails whatever is tolerated. A violation is known by
    its key, with the side that lacks it.
    """

    name = "key_parity"
    parameters = (
        *SCOPE,
        KEY_COLUMNS,
        KEY_CAST,
        Parameter(
            "assume_timezone",
            (str,),
            "the zone of a TIMESTAMP_NTZ or DATE that is compared with a TIMESTAMP",
        ),
        NULL_KEYS,
        ON_EMPTY,
        OUTPUT_TABLE,
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if arguments["assume_timezone"] is not None:
            read_zone(self.name, arguments["assume_timezone"], "assume_timezone")
        return {
            **arguments,
            **read_scope(self.name, arguments),
            **read_key(self.name, arguments),
        }

    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        return keys_verdict(found, threshold, arguments)
