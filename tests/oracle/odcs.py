"""What a library rule of ODCS must answer, in plain Python, read from the standard's text.

Nothing is taken from the contracts' own code. A rule comes as the file has it; the five readings
that the standard leaves open come by the names and words of the configuration.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from operator import ge, gt, le, lt

from oracle.spark_values import FLOATS, NUMBERS, as_column_value, base_type, identity, order

Raw = Mapping[str, object]
Row = Mapping[str, object]

OPERATORS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)
ORDERED: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "mustBeGreaterThan": gt,
    "mustBeGreaterOrEqualTo": ge,
    "mustBeLessThan": lt,
    "mustBeLessOrEqualTo": le,
}
RANGES = ("mustBeBetween", "mustNotBeBetween")
OF_PROPERTIES = ("nullValues", "missingValues", "invalidValues")
LINE_ENDS = set("\n\r\u2028\u2029")

# A pattern of ECMA-262: what it means anywhere in a text, and what from end to end.
PATTERNS: Mapping[str, tuple[Callable[[str], bool], Callable[[str], bool]]] = {
    "[0-9]": (
        lambda text: any(char in "0123456789" for char in text),
        lambda text: len(text) == 1 and text in "0123456789",
    ),
    "^a": (lambda text: text.startswith("a"), lambda text: text == "a"),
    "a$": (lambda text: text.endswith("a"), lambda text: text == "a"),
    "a|ab": (lambda text: "a" in text, lambda text: text in {"a", "ab"}),
    r"N\/A": (lambda text: "N/A" in text, lambda text: text == "N/A"),
    "[aA]": (lambda text: "a" in text or "A" in text, lambda text: text in {"a", "A"}),
    " $": (lambda text: text.endswith(" "), lambda text: text == " "),
    ".": (
        lambda text: any(char not in LINE_ENDS for char in text),
        lambda text: len(text) == 1 and text not in LINE_ENDS,
    ),
    r"^[\s\S]{2}$": (lambda text: len(text) == 2, lambda text: len(text) == 2),
    "x*": (lambda _text: True, lambda text: not text.strip("x")),
}


@dataclass(frozen=True)
class Table:
    """An object's data: rows by property names, and the type of each property."""

    types: Mapping[str, str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Switches:
    """The readings that the standard leaves open."""

    duplicates: str = "values"
    between: str = "closed"
    null_is_missing: str = "always"
    regex: str = "find"
    empty_percent: str = "skip"


@dataclass(frozen=True)
class Expected:
    """The answer to one rule. `about` is a word that the reason of an error must hold.

    `failing_rows` are the rows that the metric counts, where the fewer the better; `listed` are
    the values or rows that are shown for them, `occurrences` the rows behind those.
    """

    status: str
    number: Fraction | None = None
    failing_rows: int = 0
    numbers: Mapping[str, int] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    listed: int = 0
    occurrences: int = 0
    about: str = ""


def expect(rule: Raw, column: str, table: Table, switches: Switches) -> Expected:
    """The answer to a rule that stands on a property, or on the object where `column` is ''."""
    about = _fault(rule, column, switches)
    if about:
        return Expected("error", about=about)
    counted = _counted(rule, column, table, switches)
    choices = {**counted.choices, **_choices(rule, switches)}
    number: Fraction = Fraction(counted.number or 0)
    if rule.get("unit") == "percent":
        if not table.rows:
            status = {"skip": "skipped", "pass": "passed"}[switches.empty_percent]
            return Expected(status, numbers=counted.numbers, choices=choices)
        number = 100 * number / len(table.rows)
    holds = all(_holds(name, rule[name], number, switches) for name in OPERATORS if name in rule)
    lists = _fewer_is_better(rule) and metric_of(rule) != "rowCount"
    failing = counted.failing_rows if lists else 0
    if metric_of(rule) == "rowCount":  # no row of it is a bad one: the table is, or is not
        failing = 0 if holds else 1
    return Expected(
        status="passed" if holds else "failed",
        number=number,
        failing_rows=failing,
        numbers=counted.numbers,
        choices=choices,
        listed=counted.listed if lists else 0,
        occurrences=counted.occurrences if lists else 0,
    )


def metric_of(rule: Raw) -> str:
    """`rule` is the old name of `metric`."""
    return str(rule.get("metric", rule.get("rule")))


def _fault(rule: Raw, column: str, switches: Switches) -> str:  # noqa: PLR0911 (one per fault)
    """A word for what is wrong with the rule; '' if nothing is."""
    metric, given = metric_of(rule), [name for name in OPERATORS if name in rule]
    arguments = _arguments(rule)
    if not given:
        return "operator"
    if rule.get("unit", "rows") not in {"rows", "percent"}:
        return "unit"
    for name in given:
        numbers = rule[name] if name in RANGES else [rule[name]]
        assert isinstance(numbers, list)
        low, high = Fraction(str(numbers[0])), Fraction(str(numbers[-1]))
        if rule.get("unit") == "percent" and not 0 <= low <= 100 >= high >= 0:
            return name
        if name in RANGES and not low < high:
            return name
    if metric in OF_PROPERTIES and not column:
        return metric
    if metric == "rowCount" and rule.get("unit") == "percent":
        return "percent"
    if metric == "duplicateValues" and not column and not arguments.get("properties"):
        return "properties"
    if metric == "invalidValues" and not arguments.keys() & {"validValues", "pattern"}:
        return "validValues"
    listed = switches.null_is_missing == "listed" and not arguments.get("missingValues")
    return "missingValues" if metric == "missingValues" and listed else ""


def _choices(rule: Raw, switches: Switches) -> dict[str, str]:
    found = {"between": switches.between} if any(name in rule for name in RANGES) else {}
    if rule.get("unit") == "percent":
        found["empty_percent"] = switches.empty_percent
    return found


def _holds(name: str, bound: object, number: Fraction, switches: Switches) -> bool:
    if name in RANGES:
        assert isinstance(bound, list)
        low, high = (Fraction(str(end)) for end in bound)
        is_closed = switches.between == "closed"
        inside = low <= number <= high if is_closed else low < number < high
        return inside if name == "mustBeBetween" else not inside
    wanted = Fraction(str(bound))
    if name in ORDERED:
        return ORDERED[name](number, wanted)
    return (number == wanted) is (name == "mustBe")


def _fewer_is_better(rule: Raw) -> bool:
    return all(
        name.startswith("mustBeLess") or (name == "mustBe" and Fraction(str(rule[name])) == 0)
        for name in OPERATORS
        if name in rule
    )


# -------------------------------------------------------------------------------- the five metrics


def _counted(rule: Raw, column: str, table: Table, switches: Switches) -> Expected:
    """What the metric counts in rows, and which rows these are."""
    arguments, metric = _arguments(rule), metric_of(rule)
    if metric == "rowCount":
        return Expected("", number=Fraction(len(table.rows)))
    if metric == "duplicateValues":
        named = arguments.get("properties") or [column]
        assert isinstance(named, list)
        return _duplicates([str(name) for name in named], table, switches)
    is_bad, choices = _badness(metric, arguments, table.types[column], switches)
    bad = sum(is_bad(row[column]) for row in table.rows)
    return Expected(
        "", number=Fraction(bad), failing_rows=bad, choices=choices, occurrences=bad, listed=bad
    )


def _badness(
    metric: str, arguments: Raw, kind: str, switches: Switches
) -> tuple[Callable[[object], bool], dict[str, str]]:
    """When a value counts, and the readings that decide it."""
    if metric == "nullValues":
        return (lambda value: value is None), {}
    if metric == "missingValues":
        listed = arguments.get("missingValues") or []
        assert isinstance(listed, list)
        null_counts = switches.null_is_missing == "always" or None in listed
        wanted = _keys(listed, kind)

        def is_missing(value: object) -> bool:
            return null_counts if value is None else identity(value) in wanted

        return is_missing, {"null_is_missing": switches.null_is_missing}
    valid, pattern = arguments.get("validValues"), arguments.get("pattern")
    accepted = _keys(valid, kind) if isinstance(valid, list) else None
    find, full = PATTERNS[str(pattern)] if pattern is not None else (bool, bool)
    matches = full if switches.regex == "full" else find

    def is_invalid(value: object) -> bool:
        if value is None:  # NULL is never invalid, in any tool
            return False
        outside = accepted is not None and identity(value) not in accepted
        return outside or (pattern is not None and not matches(str(value)))

    return is_invalid, {} if pattern is None else {"regex": switches.regex}


def _duplicates(named: Sequence[str], table: Table, switches: Switches) -> Expected:
    """Values, or combinations of them, that occur again; a NULL is no value."""
    keys = Counter(
        tuple(identity(row[name]) for name in named)
        for row in table.rows
        if all(row[name] is not None for name in named)
    )
    again = [times for times in keys.values() if times > 1]
    numbers = {
        "duplicated_values": len(again),
        "rows_involved": sum(again),
        "surplus_rows": sum(again) - len(again),
    }
    chosen = {"values": "duplicated_values", "rows": "rows_involved", "surplus": "surplus_rows"}
    return Expected(
        "",
        number=Fraction(numbers[chosen[switches.duplicates]]),
        failing_rows=len(again),  # of a key the values are listed, each once
        numbers=numbers,
        choices={"duplicates": switches.duplicates},
        listed=len(again),
        occurrences=sum(again),
    )


def _arguments(rule: Raw) -> dict[str, object]:
    given = rule.get("arguments") or {}
    assert isinstance(given, Mapping)
    return dict(given)


def _keys(listed: Sequence[object], kind: str) -> set[object]:
    """The listed values as the column holds them; what it cannot hold equals nothing."""
    return {
        order(as_column_value(spelling, kind))
        for value in listed
        if value is not None and _fits(value, base_type(kind))
        for spelling in _spellings(value)
    }


def _fits(value: object, kind: str) -> bool:
    if kind in NUMBERS | FLOATS:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    reads = date.fromisoformat if kind == "date" else datetime.fromisoformat
    try:
        reads(str(value))
    except ValueError:
        return False
    return isinstance(value, str)


def _spellings(value: object) -> tuple[object, ...]:
    """A text composed and decomposed: data may hold either, and a rule means both."""
    if not isinstance(value, str):
        return (value,)
    return tuple(unicodedata.normalize(form, value) for form in ("NFC", "NFD"))
