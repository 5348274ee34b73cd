"""From the name of an engine to the module that reads its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from lakeproof.checks.engine_names import engine_named
from lakeproof.checks.plug_ins import find_plug_in
from lakeproof.contracts.draft import Draft, Placed, skipped
from lakeproof.contracts.engines.implementation import inline_keys
from lakeproof.contracts.odcs.forms import Entry, has
from lakeproof.contracts.odcs.operators import read_comparison
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.comparison import Unit
from lakeproof.model.nearest import nearest

# Imported on demand: most contracts name one engine, or none.
_MODULES = {
    "dbt": "dbt",
    "greatExpectations": "great_expectations",
    "lakeproof": "own_checks",
    "soda": "soda",
}


def custom_drafts(placed: Placed, engine: str, entry: Entry) -> list[Draft]:
    """The rule as its engine means it: as checks of ours, through a plug-in, or skipped."""
    known = engine_named(engine)
    if known in _MODULES:
        if not has(entry, "implementation") and not inline_keys(entry) and not has(entry, "code"):
            raise CheckDefinitionError(
                f"a custom rule needs `implementation`: what engine {engine} is to run"
            )
        module = import_module(f"lakeproof.contracts.engines.{_MODULES[known]}")
        drafts: Callable[[Placed, Mapping[str, object]], list[Draft]] = module.drafts
        return drafts(placed, entry)
    if find_plug_in(known) is not None:
        return [plug_in_draft(placed, known, entry)]
    return [
        skipped(
            f"Lakeproof does not run engine {engine!r}{_hint(engine)}. Next: register a function "
            f"for it with lakeproof.register_engine({engine!r}, function), or write the rule as a "
            "metric, as SQL, or for engine lakeproof"
        )
    ]


def plug_in_draft(placed: Placed, name: str, entry: Entry) -> Draft:
    """A rule that a plug-in runs; the rule's operators, if any, judge what it returns."""
    setting = placed.setting
    return Draft(
        columns=(setting.column,) if setting.column else (),
        comparison=read_comparison(entry, setting.settings, unit=Unit.NONE),
        plug_in=name,
    )


def _hint(engine: str) -> str:
    near = nearest(engine, list(_MODULES), 1)
    return f" (did you mean {near[0]}?)" if near else ""
