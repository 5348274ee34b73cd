from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeproof.checks.kinds import Arguments, Check, Verdict, rows_verdict
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.plug_ins import PlugIn, find_plug_in
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import canonical_payload
from lakeproof.model.comparison import Value


class PlugInCheck(Check):
    """What a function of yours says of the table: `lakeproof.register_engine(name, function)`.

    It is called as `function(frame, rule, context)`: the table at the run's position as a
    DataFrame, the rule, and a context with the session, the table, the column and the moment. It
    returns the failing rows as a DataFrame, or a truth value, or a number, which is held against
    the operators of a contract, and must be true (not zero) without any. The rows are known by the
    table's key if they have its columns, else by a hash. A `filter` is applied before the call.
    """

    name = "plug_in"
    dimension = "conformity"
    columns_min = 0
    columns_max = 32
    shows_values = True
    parameters = (
        Parameter("engine", (str,), "the name that the function is registered by", required=True),
        Parameter("entry", (Mapping,), "what the function is to read, as a contract has it"),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        self.function(arguments)
        return {**arguments, "entry": arguments["entry"] or {}}

    def identity(self, arguments: Arguments) -> Arguments:
        return {"engine": arguments["engine"], "entry": canonical_payload(_entry(arguments))}

    def function(self, arguments: Arguments) -> PlugIn:
        name = str(arguments["engine"])
        found = find_plug_in(name)
        if found is None:
            raise CheckDefinitionError(
                f"no function is registered for engine {name!r}. Next: "
                f"lakeproof.register_engine({name!r}, function) before the run"
            )
        return found

    def judge_value(self, value: Value, total: int) -> Verdict:
        """The verdict over a number or truth value."""
        is_fine = bool(value)
        return Verdict(
            failing=0 if is_fine else 1,
            total=total,
            excess=0 if is_fine else 1,
            share=0.0 if is_fine else 1.0,
            measure=float(value) if not isinstance(value, str) else None,
            details=f"the function returned {value}",
            number=value,
        )

    def judge_rows(self, failing: int, total: int, arguments: Arguments) -> Verdict:
        """The verdict over the rows that the function returned."""
        return rows_verdict(failing, total, f"fail by engine {arguments['engine']}")


def _entry(arguments: Arguments) -> Mapping[str, object]:
    return arguments["entry"]  # type: ignore[return-value]
