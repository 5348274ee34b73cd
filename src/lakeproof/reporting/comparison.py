"""Two tables held against each other, as text: the verdict, the counts, then where they differ."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from lakeproof.model.printable import counted, printable
from lakeproof.reporting.console import WIDTH, coloured
from lakeproof.reporting.log_commands import inert

if TYPE_CHECKING:
    from rich.text import Text

_INDENT = " " * 8
_VALUE_CHARACTERS_MAX = 28
_KINDS = {
    "changed": "Changed",
    "missing_in_target": "Missing in target",
    "missing_in_source": "Missing in source",
    "surplus": "Surplus copies",
    "null_key": "NULL in the key",
}


_SIDE_BY_SIDE = re.compile(rf"^{_INDENT}  .*?  +(\S.*?) -> (.*)$", re.MULTILINE)


class Compared(Protocol):
    """What is shown of a comparison; `reconciliation.QualityCheckResult` is one."""

    @property
    def status(self) -> str: ...

    @property
    def metric_value(self) -> Mapping[str, Any]: ...

    @property
    def metadata(self) -> Mapping[str, Any]: ...

    @property
    def summary(self) -> str: ...


def comparison_text(result: Compared, source: str, target: str) -> str:
    """The whole report of a comparison by key; plain, colour is laid over it."""
    key = ", ".join(result.metadata.get("key_columns", ()))
    lines = [
        *_wrapped(f"Reconciled {printable(source)} (source{_position(result, 'source')})"),
        *_wrapped(
            f"      with {printable(target)} (target{_position(result, 'target')})"
            + (f" by {printable(key)}" if key else "")
        ),
        *_wrapped(f"{result.status.upper():8}{printable(result.summary)}"),
    ]
    if result.metric_value:
        lines += [*_count_lines(result), *_how(result)]
        lines += [*_schema_lines(result), *_column_lines(result), *_sample_lines(result)]
    return inert("\n".join(lines))


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent=_INDENT, break_on_hyphens=False)


def coloured_comparison(text: str) -> Text:
    """The same text with its verdict in colour, and the values of both sides."""
    dressed = coloured(text)
    for found in _SIDE_BY_SIDE.finditer(text):
        dressed.stylize("red", *found.span(1))
        dressed.stylize("green", *found.span(2))
    return dressed


def _position(result: Compared, side: str) -> str:
    position = result.metadata.get("positions", {}).get(side)
    return f", {printable(position)}" if position else ""


def _count_lines(result: Compared) -> Iterator[str]:
    found = result.metric_value
    yield (
        f"{_INDENT}{found['missing_in_target']:,} missing in target, "
        f"{found['missing_in_source']:,} missing in source, "
        f"{found['hash_mismatches']:,} changed, {counted(found['surplus_rows'], 'surplus row')}"
    )
    yield (
        f"{_INDENT}{counted(found['source_rows'], 'row')} in source, "
        f"{found['target_rows']:,} in target; {counted(found['shared_keys'], 'key')} on both sides"
    )


def _how(result: Compared) -> Iterator[str]:
    told = result.metadata
    reason = f": {printable(told['method_reason'])}" if told.get("method_reason") else ""
    yield from _wrapped(f"{_INDENT}method {str(told.get('method', '')).replace('_', ' ')}{reason}")
    if told.get("output_table"):
        yield f"{_INDENT}every difference is in {printable(told['output_table'])}"


def _schema_lines(result: Compared) -> Iterator[str]:
    differences: Sequence[Mapping[str, Any]] = result.metadata.get("schema_differences", ())
    if differences:
        yield "Schema"
    for difference in differences:
        sides = " -> ".join(
            str(difference.get(side) or "absent").upper() for side in ("source", "target")
        )
        told = f"{difference['column']}: {sides}; {difference['detail']}"
        yield from _wrapped(f"{_INDENT}{printable(told)}")


def _column_lines(result: Compared) -> Iterator[str]:
    """How far each differing column agrees; those that agree everywhere are only counted."""
    differing: Mapping[str, int] = result.metadata.get("column_mismatches", {})
    compared = int(result.metadata["compared_rows"])
    named = {name: number for name, number in differing.items() if number}
    if not named:
        return
    yield "Columns"
    width = max(len(printable(name)) for name in named)
    for name, number in sorted(named.items(), key=lambda item: (-item[1], item[0])):
        share = _share_equal(number, compared)
        yield f"{_INDENT}{printable(name):{width}}  {share} equal, {number:,} differ"
    rest = len(differing) - len(named)
    if rest:
        yield f"{_INDENT}{counted(rest, 'other column')}: 100 % equal"


def _share_equal(differing: int, compared: int) -> str:
    """Rounded down: nothing that differs is called 100 %."""
    parts = (compared - differing) * 10_000 // compared if compared else 0
    return f"{parts // 100}.{parts % 100:02} %"


def _sample_lines(result: Compared) -> Iterator[str]:
    samples: Sequence[Mapping[str, Any]] = result.metadata.get("samples", ())
    for kind, heading in _KINDS.items():
        of_kind = [sample for sample in samples if sample["kind"] == kind]
        if of_kind:
            yield heading
        rows = [_side_by_side(sample) for sample in of_kind]
        names = max((len(name) for row in rows for name, _, _ in row), default=0)
        befores = max((len(before) for row in rows for _, before, _ in row), default=0)
        for sample, row in zip(of_kind, rows, strict=True):
            yield f"{_INDENT}{_key_text(sample['key'])}"
            for name, before, after in row:
                yield f"{_INDENT}  {name:{names}}  {before:>{befores}} -> {after}"
        more = _of_kind(result, kind) - len(of_kind)
        if more > 0:
            yield f"{_INDENT}and {more:,} more; --output-table TABLE has them all"


def _of_kind(result: Compared, kind: str) -> int:
    """How many there are; of some kinds only their rows are counted."""
    name = "hash_mismatches" if kind == "changed" else kind
    return int(result.metric_value.get(name) or 0)


def _side_by_side(sample: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each differing column with the values of both sides."""
    before, after = sample["source"], sample["target"]
    return [
        (printable(name), _value(before.get(name)), _value(after.get(name)))
        for name in sample["differing_columns"]
    ]


def _key_text(key: Mapping[str, str | None]) -> str:
    return ", ".join(f"{printable(name)}={_value(value)}" for name, value in key.items())


def _value(value: str | None) -> str:
    text = "NULL" if value is None else printable(value)
    if value is not None and (not text.strip() or text != text.strip()):
        text = f"'{text}'"  # blanks at the ends would not show
    if len(text) <= _VALUE_CHARACTERS_MAX:
        return text
    return f"{text[: _VALUE_CHARACTERS_MAX - 1]}…"
