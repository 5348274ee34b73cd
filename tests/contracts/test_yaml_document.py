"""Strict YAML and JSON: what is read, how it is read, and what is refused where."""

from __future__ import annotations

import json
import math
import re
import time
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lakeproof.contracts import yaml_text
from lakeproof.contracts.finding import Level
from lakeproof.contracts.yaml_document import document_of, load_document, pointer_to
from lakeproof.errors import ContractError, SuiteError

MANY_LEVELS = 5_000

# Unquoted texts, and what YAML 1.2 makes of them.
SCALARS = {
    "": None,
    "~": None,
    "null": None,
    "NULL": None,
    "nULL": "nULL",
    "true": True,
    "False": False,
    "TRUE": True,
    "tRUE": "tRUE",
    "yes": "yes",
    "no": "no",
    "on": "on",
    "Off": "Off",
    "y": "y",
    "0": 0,
    "-7": -7,
    "+7": 7,
    "007": 7,
    "0o17": 15,
    "017": 17,
    "0x1F": 31,
    "0b11": "0b11",
    "1_000": "1_000",
    "1.5": 1.5,
    ".5": 0.5,
    "5.": 5.0,
    "-1e3": -1000.0,
    "1E-2": 0.01,
    ".inf": math.inf,
    "-.INF": -math.inf,
    "inf": "inf",
    "nan": "nan",
    ".": ".",
    "1.2.3": "1.2.3",
    "2022-05-12": "2022-05-12",
    "2022-05-12T09:30:10-08:00": "2022-05-12T09:30:10-08:00",
    "2022-11-15 02:59:43": "2022-11-15 02:59:43",
    "09:00-08:00": "09:00-08:00",
    "1:30": "1:30",
    "190:20:30": "190:20:30",
    "=": "=",
    "${VAR:-x}": "${VAR:-x}",
    "2%": "2%",
    '"1"': "1",
    "'true'": "true",
    '""': "",
    '"\\u00e9\\/"': "é/",
}

# Each is refused, in that line and column, with that word in the message.
REFUSED = {
    "alias": ("a: 1\nb: *a", 2, 4, "alias"),
    "anchor": ("a: &x 1", 1, 4, "anchor"),
    "anchor of a mapping": ("a: &x\n  b: 1", 1, 4, "anchor"),
    "tag": ("a: !!str 1", 1, 4, "tag"),
    "local tag": ("a: !thing {}", 1, 4, "tag"),
    "empty tag": ("a: ! b", 1, 4, "tag"),
    "tag of a key": ("!!str a: b", 1, 1, "tag"),
    "python object": ("a: !!python/object/apply:os.getcwd []", 1, 4, "tag"),
    "key twice": ("a: 1\nb: 2\na: 3", 3, 1, "twice"),
    "key twice in flow": ("x: {a: 1, a: 2}", 1, 11, "twice"),
    "number and text as one key": ("1: a\n'1': b", 2, 1, "twice"),
    "merge key": ("a: 1\n<<: {b: 2}", 2, 1, "merge"),
    "two documents": ("a: 1\n---\nb: 2", 2, 1, "second document"),
    "list as key": ("? [a]\n: 1", 1, 3, "key"),
    "no key": ("a: 1\n?\n: 1", 2, 2, "key"),
    "tab indents": ("a:\n\tb: 1", 2, 1, "tab"),
    "tab indents further": ("a: b\n\tc: d", 2, 1, "tab"),
    "not closed": ("a: [1, 2", 1, 9, "YAML"),
    "wrong indentation": ("a: b\n c: d", 2, 3, "YAML"),
    "reserved sign": ("a: @b", 1, 4, "quotes"),
    "empty": ("", 1, 1, "empty"),
    "only a comment": ("# nothing\n", 1, 1, "empty"),
    "NUL": ("a: b\nc: \x00", 2, 4, "U+0000"),
    "escape character": ("a: \x1b[31m", 1, 4, "U+001B"),
    "line separator": ("a: b\u2028c", 1, 5, "U+2028"),
    "half a pair": ('{"a": "\\ud800"}', 1, 7, "surrogate"),
    "not UTF-8": ("a: b\nc: \xff".encode("latin-1"), 2, 4, "UTF-8"),
    "UTF-16": ("a: b".encode("utf-16"), 1, 1, "UTF-8"),
    "too large a number": ("a: 1e999", 1, 4, "too large"),
    "too long a number": ("a: " + "9" * 5_000, 1, 4, "5000 characters"),
    "long keys": ("? " + "k" * 3_000 + "\n: 1", 1, 3, "too long"),
    "key twice in JSON": ('{"a": 1,\n "a": 2}', 2, 2, "twice"),
    "ten megabytes": ("a: " + "x" * 10_000_000, 1, 1, "more than 2,000,000 bytes"),
    "list of lists": ("[" * MANY_LEVELS, 1, 65, "64 deep"),
    "lists in block": ("- " * MANY_LEVELS, 1, 129, "64 deep"),
    "mappings": ("{a: " * MANY_LEVELS, 1, 257, "64 deep"),
    "mappings in JSON": ('{"a":' * MANY_LEVELS, 1, 321, "64 deep"),
    "mappings in block": ("\n".join(" " * n + "a:" for n in range(1_000)), 65, 65, "64 deep"),
    "very many values": ("- a\n" * 400_000, 100_000, 3, "100,000 values"),
    "alias bomb": (
        "a: &a [x, x]\n" + "\n".join(f"b{n}: [*a, *a, *a]" for n in range(9)),
        1,
        4,
        "anchor",
    ),
}

REFUSED_JSON = {
    "NaN": ('{"a": NaN}', 1, 7),
    "comma at the end": ('{\n\t"a": 1,\n}', 3, 1),
    "no quotes": ("{a: 1}", 1, 2),
    "something behind": ("{} {}", 1, 4),
    "not closed": ('{"a": [1', 1, 9),
    "quotes not closed": ('{"a', 1, 2),
    "leading zero": ('{"a": 01}', 1, 8),
    "no JSON": ("a: 1", 1, 1),
}


def load(text):
    return load_document(text, "sales.yaml")


@pytest.mark.parametrize("text", SCALARS)
def test_an_unquoted_text_means_what_the_core_schema_says(text):
    (value,) = load(f"key: {text}").value.values()
    assert value == SCALARS[text]
    assert type(value) is type(SCALARS[text])


def test_not_a_number_is_a_number():
    assert math.isnan(load("a: .nan").value["a"])


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_surprise_is_refused_at_its_place_at_once(name):
    text, line, column, word = REFUSED[name]
    started = time.process_time()
    with pytest.raises(ContractError, match=rf"^sales\.yaml:{line}:{column}: .*{re.escape(word)}"):
        load(text)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("name", REFUSED_JSON)
def test_a_json_file_must_be_json(name):
    text, line, column = REFUSED_JSON[name]
    with pytest.raises(ContractError, match=rf"^sales\.json:{line}:{column}: not valid JSON"):
        load_document(text, "sales.json")


def test_a_contract_error_is_a_suite_error():
    assert issubclass(ContractError, SuiteError)


def test_the_parser_without_its_c_library_refuses_the_same(monkeypatch):
    monkeypatch.setattr(yaml_text, "_PARSER", yaml.SafeLoader)
    for text, line, _, _ in (REFUSED[name] for name in ("alias", "tab indents", "list of lists")):
        with pytest.raises(ContractError, match=rf"^sales\.yaml:{line}:"):
            load(text)


def test_every_value_has_its_place():
    document = load("a:\n  - x\n  -   b: 1\n      c/d~e: [2,\n 3]\n")
    assert document.places == {
        "": (1, 1),
        "/a": (1, 1),
        "/a/0": (2, 5),
        "/a/1": (3, 7),
        "/a/1/b": (3, 7),
        "/a/1/c~1d~0e": (4, 7),
        "/a/1/c~1d~0e/0": (4, 15),
        "/a/1/c~1d~0e/1": (5, 2),
    }
    assert str(document.at("/a/1/b")) == "sales.yaml:3:7"
    assert str(document.at("/a/1/b/not/there")) == "sales.yaml:3:7"


def test_json_with_tabs_has_its_places_too():
    document = load('{\n\t"a": [1, 2.50, {"b": null}],\n\t"c": "\\ud83d\\ude00"\n}\n')
    assert document.value == {"a": [1, 2.5, {"b": None}], "c": "😀"}
    assert document.places["/a/2/b"] == (2, 18)
    assert document.places["/c"] == (3, 2)
    assert document.written == {"/a/1": "2.50"}


def test_a_flow_mapping_that_is_no_json_is_yaml():
    assert load("{a: b, c: [d,]}").value == {"a": "b", "c": ["d"]}


def test_a_byte_order_mark_is_noted():
    document = load_document("\ufeffa: 1\n".encode(), "sales.yaml")
    assert document.value == {"a": 1}
    assert document.places["/a"] == (1, 1)
    assert [(one.level, str(one.location)) for one in document.findings] == [
        (Level.NOTE, "sales.yaml:1:1")
    ]


def test_another_version_of_yaml_is_noted_and_read_as_ours():
    document = load("%YAML 1.1\n---\na: yes\n")
    assert document.value == {"a": "yes"}
    assert [one.level for one in document.findings] == [Level.NOTE]
    assert load("%YAML 1.2\n---\na: yes\n").findings == ()


def test_numbers_and_truth_values_as_keys_are_texts():
    assert load("1: a\ntrue: b\n2022-01-01: c\n").value == {
        "1": "a",
        "true": "b",
        "2022-01-01": "c",
    }


def test_a_document_remembers_how_a_number_was_written():
    document = load("version: 1.10\nname: 007\nflag: true\nnone: null\n")
    told = {key: document.spelled(f"/{key}", value) for key, value in document.value.items()}
    assert told == {"version": "1.10", "name": "007", "flag": "true", "none": ""}


def test_a_value_in_several_lines_is_one_text():
    document = load("a: |\n  SELECT 1\n  FROM t;\nb: >-\n  one\n  two\n")
    assert document.value == {"a": "SELECT 1\nFROM t;\n", "b": "one two"}


def test_values_in_memory_have_pointers_for_places():
    document = document_of({"a": ({"b": date(2022, 1, 2)},)})
    assert document.value == {"a": [{"b": "2022-01-02"}]}
    assert str(document.at("/a/0/b")) == "/a/0/b"
    assert str(document_of({}, "here").at("/a")) == "here#/a"


def test_values_in_memory_are_copied():
    given_values = {"a": [1]}
    document = document_of(given_values)
    given_values["a"].append(2)
    assert document.value == {"a": [1]}


def test_values_that_a_file_could_hold_are_kept():
    moment = datetime(2022, 1, 2, 3, 4, tzinfo=UTC)
    document = document_of({True: moment, 5: Decimal("2.5"), "n": None, "w": Decimal(3)})
    assert document.value == {"true": "2022-01-02T03:04:00+00:00", "5": 2.5, "n": None, "w": 3}


def endless():
    inner: list[object] = []
    inner.append(inner)
    return inner


def bomb():
    inner: object = 1
    for _ in range(40):
        inner = [inner] * 10
    return inner


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (endless(), "64 deep"),
        (bomb(), "100,000 values"),
        ({(1, 2): 3}, "tuple"),
        ({1: "a", "1": "b"}, "twice"),
        ("\ud800", "surrogate"),
        (Decimal("NaN"), "Decimal"),
        (object(), "object"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() else "",
)
def test_values_that_no_file_could_hold_are_refused_at_their_pointer(value, word):
    started = time.process_time()
    with pytest.raises(ContractError, match=rf"^here#/a.*: .*{re.escape(word)}"):
        document_of({"a": value}, "here")
    assert time.process_time() - started < 1


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.text(max_size=20)
        | st.floats(allow_nan=False),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_what_json_writes_is_read_back(value):

    text = json.dumps({"value": value}, allow_nan=True)
    if "Infinity" in text or "\x7f" in text or ("\\ud" in text and not _is_whole(value)):
        return
    assert load_document(text, "x.json").value == {"value": value}


def _is_whole(value):
    try:
        repr(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def test_a_pointer_escapes_what_it_is_made_of():
    assert pointer_to(pointer_to("", "a/b"), "c~d") == "/a~1b/c~0d"
    assert pointer_to("/a", 3) == "/a/3"
