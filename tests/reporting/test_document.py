from __future__ import annotations

import json
from datetime import datetime

from lakeproof.reporting.document import document_text


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_values_that_json_does_not_have_survive_as_text():
    given = {"a": float("inf"), "b": [float("nan")], "c": ("x", None), "d": {"e": 1.5}}
    assert strict(document_text(given)) == {
        "a": "inf",
        "b": ["nan"],
        "c": ["x", None],
        "d": {"e": 1.5},
    }


def test_moments_are_written_to_the_microsecond():
    moment = datetime(2025, 1, 2, 3, 4, 5)  # noqa: DTZ001 (state tables hold UTC without zone)
    assert strict(document_text({"at": moment})) == {"at": "2025-01-02 03:04:05.000000"}


def test_it_is_ascii_whatever_the_names_are():
    text = document_text({"name": "größe \udcff \x1b"})
    assert text.isascii()
    assert "\x1b" not in text
