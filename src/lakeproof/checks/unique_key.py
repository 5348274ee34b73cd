from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import Arguments, KeyCounts, NullPolicy, Verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.uniqueness import Uniqueness
from lakeproof.errors import CheckDefinitionError

_POLICIES = tuple(policy.value for policy in NullPolicy)


class UniqueKey(Uniqueness):
    """The columns together are a key: no combination occurs twice, and NULL means what you say.

    With `nulls` = `distinct` a NULL equals nothing, as in SQL, and its row is left out; with
    `equal` NULLs are one value; with `forbid` every row with a NULL in the key is bad as well.
    `failing_rows` counts bad keys. The share held against a tolerance is that of surplus rows:
    those that would have to go for the rest to be a key.
    """

    name = "unique_key"
    parameters = (
        Parameter("nulls", (str,), "distinct, equal or forbid", default=NullPolicy.DISTINCT.value),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if arguments["nulls"] not in _POLICIES:
            raise CheckDefinitionError(
                f"parameter 'nulls' of check 'unique_key' must be one of {', '.join(_POLICIES)}, "
                f"got {arguments['nulls']!r}"
            )
        return arguments

    def nulls(self, arguments: Arguments) -> NullPolicy:
        return NullPolicy(str(arguments["nulls"]))

    def judge(
        self, counts: KeyCounts, total: int, columns: Sequence[str], arguments: Arguments
    ) -> Verdict:
        what = "NULL or duplicated" if self.nulls(arguments) is NullPolicy.FORBID else "duplicated"
        return self.verdict(counts, total, columns, what)
