"""What a check makes of given numbers, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeproof.checks.catalogue import find_check
from lakeproof.checks.kinds import Facts
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.canonical import canonical_payload
from lakeproof.model.column import Column

NOW = datetime(2024, 3, 10, 12, 0, tzinfo=UTC)
X = Column("x", "double")


def judged(check, values, params, *, columns=(X,), total=10, **facts):
    kind = find_check(check)
    named = [column.name for column in columns][: kind.columns_max]
    arguments = kind.read([] if params.get("expression") else named, params)
    known = Facts(total=total, now=NOW, columns=tuple(columns), **facts)
    return kind.judge(values, arguments, known)


def measures(check, column, **params):
    kind = find_check(check)
    found = kind.measures([column], kind.read([column.name], params))
    return {name: sql.sql("spark") for name, sql in found.items()}


def refusal(check, columns=(), **params):
    kind = find_check(check)
    with pytest.raises(CheckDefinitionError) as caught:  # noqa: PT012 (one of both refuses)
        arguments = kind.read(columns, params)
        kind.require_limits(arguments)
    return str(caught.value)


def same_logic(check, first, second, columns=()):
    kind = find_check(check)
    texts = {
        canonical_payload(kind.identity(kind.read(columns, params))) for params in (first, second)
    }
    return len(texts) == 1
