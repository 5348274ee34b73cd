"""Which rules of a suite are meant: one grammar for the command line, the API and Airflow.

    select = "table:sales tag:nightly,severity:error"      exclude = "column:tmp_*"

A space (or a further text) means or, a comma means and; `*`, `?` and `[abc]` stand for characters;
case matters. A word without a method is a rule's name. What contains a space or a comma is
reached with a `?` in that place. dbt users know all of it, but `schedule-due:2026-01-15T20:00Z`:
the rules that are due in that minute.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Self

from lakeproof.errors import CheckDefinitionError, ConfigError, NothingSelectedError
from lakeproof.model.names import TableName
from lakeproof.model.nearest import nearest
from lakeproof.model.outcome import CheckStatus
from lakeproof.model.printable import counted
from lakeproof.model.rule import RejectedRule, Rule, Severity
from lakeproof.model.schedule import Due, is_due

AnyRule = Rule | RejectedRule
LastStatuses = Callable[[], Mapping[tuple[str, str], str]]
"""Gives each rule's status in the last run that had it; called only for a `status:` term."""

NEW = "new"
"""The status of a rule that no kept run has had."""

_CLOSED = {
    "severity": tuple(Severity),
    "status": (*CheckStatus, NEW),
}
_GLOB = frozenset("*?[")
_DUE = "schedule-due"
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Term:
    """One condition: `method:pattern`, as `text` it was written."""

    method: str
    pattern: str
    text: str

    def matches(self, values: Iterable[str]) -> bool:
        """The exact text always matches, so that brackets in a name (`a[].b`) need no escape."""
        return any(value == self.pattern or fnmatchcase(value, self.pattern) for value in values)


Group = tuple[Term, ...]
"""Terms that must hold together."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules that are meant, in their order.

    `unmatched` has a line for each term that met nothing, or that some rules leave undecided.
    """

    rules: tuple[AnyRule, ...]
    unmatched: tuple[str, ...]
    rules_before: int

    def raise_if_empty(self) -> None:
        """Raise NothingSelectedError, with the nearest names, if no rule is left."""
        if self.rules:
            return
        if not self.rules_before:
            raise NothingSelectedError("nothing selected: the suite holds no rules")
        reasons = "; ".join(self.unmatched) or "every selected rule is excluded again"
        raise NothingSelectedError(f"nothing selected of {self.rules_before} rules: {reasons}")


@dataclass(frozen=True, slots=True)
class Selection:
    """What to select and what to exclude, read and checked; empty means every rule."""

    select: tuple[Group, ...] = ()
    exclude: tuple[Group, ...] = ()

    @classmethod
    def parse(cls, select: str | Iterable[str] = (), exclude: str | Iterable[str] = ()) -> Self:
        """Raises ConfigError for an unknown method, an empty value or an impossible one."""
        return cls(_groups(select, "select"), _groups(exclude, "exclude"))

    def __bool__(self) -> bool:
        return bool(self.select or self.exclude)

    @property
    def needs_status(self) -> bool:
        """Whether earlier results must be read to decide."""
        return bool(self._status_terms)

    @property
    def _status_terms(self) -> list[Term]:
        groups = (*self.select, *self.exclude)
        return [term for group in groups for term in group if term.method == "status"]

    def choose(self, rules: Sequence[AnyRule], last_statuses: LastStatuses | None = None) -> Chosen:
        """The rules of any select group (all, if there is none) and of no exclude group."""
        values = _Values(rules, self._statuses(last_statuses))
        selected = [rule for rule in rules if not self.select or values.meet(rule, self.select)]
        kept = [rule for rule in selected if not values.meet(rule, self.exclude)]
        groups = (*self.select, *self.exclude)
        unmatched = dict.fromkeys(
            values.why_unmatched(group)
            for group in groups
            if not any(values.meet(rule, (group,)) for rule in rules)
        )
        undecided = [
            line
            for term in dict.fromkeys(term for group in groups for term in group)
            if term.method == _DUE and (line := _undecided(rules, term))
        ]
        return Chosen(tuple(kept), (*unmatched, *undecided), len(rules))

    def _statuses(self, last_statuses: LastStatuses | None) -> Mapping[tuple[str, str], str]:
        terms = self._status_terms
        if not terms:
            return {}
        if last_statuses is None:
            raise ConfigError(
                f"{terms[0].text!r} asks for the last run, but no store keeps results. "
                "Next: name a store, or select without status:"
            )
        statuses = last_statuses()
        past = [term for term in terms if not term.matches((NEW,))]
        if past and not statuses:
            raise ConfigError(
                f"{past[0].text!r} asks for the last run, but no earlier run of these rules is "
                "kept. Next: run them once, or select without status:"
            )
        return statuses


def chosen_rules(
    rules: Sequence[AnyRule],
    select: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    last_statuses: LastStatuses | None = None,
) -> list[AnyRule]:
    """The rules that are meant, all if nothing is said; NothingSelectedError if that is none."""
    selection = Selection.parse(select, exclude)
    if not selection:
        return list(rules)
    chosen = selection.choose(rules, last_statuses)
    chosen.raise_if_empty()
    return list(chosen.rules)


@dataclass(frozen=True, slots=True)
class _Values:
    """What each rule has under each method."""

    rules: Sequence[AnyRule]
    statuses: Mapping[tuple[str, str], str]

    def meet(self, rule: AnyRule, groups: Sequence[Group]) -> bool:
        return any(all(term.matches(self._of(rule, term)) for term in group) for group in groups)

    def why_unmatched(self, group: Group) -> str:
        """The first term that no rule meets, with what is near; else that none meets all."""
        for term in group:
            known = {value for rule in self.rules for value in self._of(rule, term)}
            if term.method == _DUE and not known:
                return f"no rule is due by {term.text}"
            if not term.matches(known):
                # A glob is near to what its letters are near to.
                word = "".join(letter for letter in term.pattern if letter not in "*?[]!")
                near = nearest(word, known)
                few = f"there is: {', '.join(sorted(known))}" if 0 < len(known) <= 3 else ""  # noqa: PLR2004
                told = f"nearest: {', '.join(near)}" if near else few
                return f"{term.text} matches no rule{f' ({told})' if told else ''}"
        return f"no rule matches all of {','.join(term.text for term in group)}"

    def _of(self, rule: AnyRule, term: Term) -> tuple[str, ...]:
        if term.method == "status":
            return (self.statuses.get(status_key(rule), NEW),)
        if term.method == _DUE:
            answer = is_due(rule.declared, datetime.fromisoformat(term.pattern))
            return (term.pattern,) if answer.due is Due.DUE else ()
        return _READ[term.method](rule)


def _undecided(rules: Sequence[AnyRule], term: Term) -> str:
    """The rules of which nobody here knows whether they are due; '' if there are none."""
    at = datetime.fromisoformat(term.pattern)
    found = [(rule.key, is_due(rule.declared, at)) for rule in rules]
    left = [(key, answer.reason) for key, answer in found if answer.due is Due.UNDECIDABLE]
    if not left:
        return ""
    named = "; ".join(f"{key}: {reason}" for key, reason in left[:_NAMED_MAX])
    more = ", ..." if len(left) > _NAMED_MAX else ""
    return f"{term.text} cannot be decided for {counted(len(left), 'rule')} ({named}{more})"


def status_key(rule: AnyRule) -> tuple[str, str]:
    """What a kept result is known by: suites may share a store, and names."""
    return rule.key, str(rule.table) if rule.table else ""


def _table_names(rule: AnyRule) -> tuple[str, ...]:
    """The full name and each of its endings: `lake.shop.sales`, `shop.sales`, `sales`.

    An object of a contract also goes by the name that the contract has for it.
    """
    table = rule.table
    if table is None:
        try:
            table = TableName.parse(rule.table_label)
        except CheckDefinitionError:  # the rule was rejected for this name; it is still its name
            return (rule.table_label,)
    endings = (".".join(table.parts[start:]) for start in range(len(table.parts)))
    return tuple(dict.fromkeys([*endings, *filter(None, [rule.declared.get("object")])]))


def _column_names(rule: AnyRule) -> tuple[str, ...]:
    if isinstance(rule, Rule) and rule.columns:
        return rule.columns
    return tuple(rule.column_label.split(",")) if rule.column_label else ()


_READ: dict[str, Callable[[AnyRule], tuple[str, ...]]] = {
    "name": lambda rule: (rule.key,),
    "table": _table_names,
    "column": _column_names,
    "tag": lambda rule: rule.tags,
    "dimension": lambda rule: (rule.dimension,) if rule.dimension else (),
    "severity": lambda rule: (rule.severity.value,),
    "check": lambda rule: (rule.check,),
    "id": lambda rule: (rule.declared["id"],) if rule.declared.get("id") else (),
}
METHODS = (*_READ, "status", _DUE)


def _groups(given: str | Iterable[str], option: str) -> tuple[Group, ...]:
    texts = [given] if isinstance(given, str) else list(given)
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(f"{option} takes text or a list of texts, got {text!r}")
        if not text.strip():
            raise ConfigError(f"{option}: an empty text selects nothing. Next: leave it out")
    # Rules are in NFC; what is typed may not be.
    words = [word for text in texts for word in unicodedata.normalize("NFC", text).split()]
    return tuple(tuple(_term(part, word, option) for part in word.split(",")) for word in words)


def _term(text: str, word: str, option: str) -> Term:
    method, sign, value = text.partition(":")
    if not sign:
        method, value = "name", text
    if method not in METHODS:
        near = nearest(method, METHODS, 1)
        hint = f"Did you mean {near[0]}:? " if near else ""
        raise ConfigError(
            f"{option} {word!r}: unknown method {method!r}. {hint}Methods: {', '.join(METHODS)}; "
            f"a rule's name that has a colon is written name:{text}"
        )
    if not value:
        raise ConfigError(
            f"{option} {word!r}: nothing stands {'after ' + text if sign else 'beside a comma'}"
        )
    pattern = value.replace("`", "") if method == "table" else value
    term = Term(method, pattern, text)
    _refuse_impossible(term, option)
    return term


def _refuse_impossible(term: Term, option: str) -> None:
    """Where all values are known beforehand, one that cannot be met is a typo."""
    if term.method == _DUE:
        _require_time(term, option)
    known = _CLOSED.get(term.method)
    if known is None or term.matches(known):
        return
    near = nearest(term.pattern, known, 1)
    hint = f"Did you mean {near[0]}? " if near and not _GLOB & set(term.pattern) else ""
    raise ConfigError(
        f"{option} {term.text!r}: no {term.method} is called {term.pattern!r}. {hint}"
        f"Known: {', '.join(known)}"
    )


def _require_time(term: Term, option: str) -> None:
    try:
        datetime.fromisoformat(term.pattern)
    except ValueError as problem:
        raise ConfigError(
            f"{option} {term.text!r}: {term.pattern!r} is no ISO time such as 2026-01-15T20:00Z; "
            "without a zone it is UTC"
        ) from problem
