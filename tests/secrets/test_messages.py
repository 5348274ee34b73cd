"""What is hidden in a message from outside, and what stays readable in it."""

from __future__ import annotations

import pickle

import pytest
from canaries import CANARIES, found_in

from lakeproof.config import SessionSettings
from lakeproof.errors import ConfigError, LakeproofError, message_without_values, short_message
from lakeproof.hiding import hide_secrets

HIDDEN = {
    "sc://host:15002/;token=X1SECRET;user_id=me": "sc://host:15002/;token=***;user_id=me",
    "postgresql://me:X1SECRET@db:5432/x": "postgresql://***@db:5432/x",
    "postgresql://me:p@ss@db/x": "postgresql://***@db/x",
    "https://X1SECRET@git.example/x": "https://***@git.example/x",
    "jdbc:postgresql://db/x?user=me&password=X1SECRET&ssl=true": (
        "jdbc:postgresql://db/x?user=me&password=***&ssl=true"
    ),
    "jdbc:sqlserver://db;user=me;password={X1;SECRET};encrypt=true": (
        "jdbc:sqlserver://db;user=me;password=***;encrypt=true"
    ),
    "jdbc:oracle:thin:scott/X1SECRET@//db:1521/x": "jdbc:oracle:thin:***@//db:1521/x",
    "Server=db;User Id=me;Pwd=X1SECRET;": "Server=db;User Id=me;Pwd=***;",
    "AccountName=a;AccountKey=X1SECRET==;x": "AccountName=a;AccountKey=***;x",
    "SharedAccessKeyName=root;SharedAccessKey=X1SECRET=": (
        "SharedAccessKeyName=root;SharedAccessKey=***"
    ),
    "fs.azure.account.key.a.dfs.core.windows.net=X1SECRET": (
        "fs.azure.account.key.a.dfs.core.windows.net=***"
    ),
    "(spark.hadoop.fs.s3a.secret.key,X1SECRET)": "(spark.hadoop.fs.s3a.secret.key,***)",
    "Map(user -> me, password -> X1SECRET)": "Map(user -> me, password -> ***",
    "password = 'X1 SECRET', more": "password = ***, more",
    "{'api_key': 'X1SECRET', 'n': 1}": "{'api_key': ***, 'n': 1}",
    '{"token": "X1SECRET"}': '{"token": ***}',
    "client_secret: X1SECRET": "client_secret: ***",
    "access_token: X1SECRET": "access_token: ***",
    "Authorization: Bearer X1SECRET": "Authorization: ***",
    "'Authorization': 'Basic X1SECRET='": "'Authorization': '***'",
    "sent Bearer X1SECRETX1SECRET to it": "sent Bearer *** to it",
    "key AKIAIOSFODNN7EXAMPLE is not known": "key *** is not known",
    "https://b.example/x?X-Amz-Signature=X1SECRET&y=1": (
        "https://b.example/x?X-Amz-Signature=***&y=1"
    ),
    "https://b.example/x?sv=1&sig=X1SECRET%3D": "https://b.example/x?sv=1&sig=***",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.X1SECRET expired": "*** expired",
    "-----BEGIN RSA PRIVATE KEY-----\nX1SECRET\n-----END RSA PRIVATE KEY----- x": "*** x",
}

READABLE = (
    "token_count = 5",
    "max_tokens=5",
    "password IS NULL",
    "password <> upper(password)",
    "length(token) > 3",
    "account_key = 5 AND client_key = 3",
    "primary_key = id",
    "column `password` cannot be resolved. Did you mean [`passwords`, `token`]?",
    "STRUCT<token: STRING, password: STRING>",
    "struct<password:string,secret:int>",
    "Unexpected token: FROM",
    "Syntax error at or near 'token'",
    "no column 'secret' in iceberg.lakehouse.sales. Nearest: secrets.",
    "abfss://container@account.dfs.core.windows.net/path",
    "https://host:8080/path?mail=a@b.example",
    "mail to a@b.example",
    "Basic authentication failed",
    "the bearer token has expired",
    "Unable to load credentials from any provider",
    "sales.yaml:7:5: unknown key 'mim' in check 'range'. Known keys: column, max, min.",
    "function signature: f(INT)",
)


@pytest.mark.parametrize(("given", "shown"), HIDDEN.items())
def test_a_secret_is_hidden_and_what_surrounds_it_stays(given, shown):
    assert hide_secrets(given) == shown
    assert hide_secrets(shown) == shown, "hiding twice changes nothing"


@pytest.mark.parametrize("text", READABLE)
def test_a_name_or_a_type_that_sounds_like_a_secret_stays_readable(text):
    assert hide_secrets(text) == text


def test_an_error_of_ours_hides_secrets_wherever_it_is_shown():
    error = ConfigError("remote must be a string, got ['sc://h/;token=X1SECRET']")
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    for text in (str(error), repr(error), short_message(error), str(sent)):
        assert "X1SECRET" not in text
        assert "sc://h/;token=***" in text


def test_settings_do_not_print_the_address_that_may_hold_a_token():
    assert "X1SECRET" not in repr(SessionSettings(remote="sc://h/;token=X1SECRET"))


def test_a_secret_at_the_cut_is_hidden_before_the_text_is_cut():
    told = short_message(RuntimeError("x" * 480 + " postgresql://me:X1SECRET" + "Y" * 99 + "@db/x"))
    assert "X1SEC" not in told
    assert len(told) == 500


class SparkRuntimeException(Exception):  # noqa: N818 (Spark's name for it)
    """As pyspark raises it; known by the name alone, so that pyspark need not be loaded."""


class AnalysisException(Exception):  # noqa: N818 (Spark's name for it)
    """As pyspark raises it."""


ROW_AT_FAULT = {
    '[CAST_INVALID_INPUT] The value \'O\\\'Alice\' of the type "STRING" cannot be cast to "INT" '
    "because it is malformed. Use `try_cast` to tolerate it. SQLSTATE: 22018": (
        '[CAST_INVALID_INPUT] a value of the type "STRING" cannot be cast to "INT"; `try_cast` '
        "gives NULL instead"
    ),
    "[INVALID_URL] The url is invalid: http://Alice^. Use `try_parse_url`. SQLSTATE: 22P02": (
        "[INVALID_URL] message withheld, for it may quote a row; `try_parse_url` gives NULL instead"
    ),
    "[DUPLICATED_MAP_KEY] Duplicate map key Alice was found. SQLSTATE: 23505": (
        "[DUPLICATED_MAP_KEY] message withheld, for it may quote a row"
    ),
    "[USER_RAISED_EXCEPTION] [ALICE] SQLSTATE: 08000 SQLSTATE: P0001": (
        "[USER_RAISED_EXCEPTION] message withheld, for it may quote a row"
    ),
    "Job aborted: Lost task 0.0 (TID 1): org.apache.spark.SparkException: [INVALID_TIMEZONE] The "
    "timezone: Alice is invalid. SQLSTATE: 22009": (
        "[INVALID_TIMEZONE] message withheld, for it may quote a row"
    ),
}


@pytest.mark.parametrize(("raised", "told"), ROW_AT_FAULT.items())
def test_where_a_row_is_at_fault_the_error_class_stands_for_the_message(raised, told):
    problem = SparkRuntimeException(f"{raised}\n== SQL (line 1, position 1) ==\nAlice")
    assert short_message(problem) == told
    assert message_without_values(problem) == told


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("Illegal sequence boundaries: 1 to 77 by -1", "SparkRuntimeException: message withheld"),
        (
            "Lost task (TID 36): java.util.regex.PatternSyntaxException: Unclosed group Alice(",
            "java.util.regex.PatternSyntaxException: message withheld",
        ),
        (
            "[INVALID_FORMAT.X] The input Alice does not match. SQLSTATE: 42601",
            "[INVALID_FORMAT.X]",
        ),
        ("[INTERNAL_ERROR] Alice. SQLSTATE: XX000", "[INTERNAL_ERROR] message withheld"),
    ],
)
def test_over_rows_a_message_that_nobody_knows_is_withheld(raised, told):
    shown = message_without_values(SparkRuntimeException(raised))
    assert shown.startswith(told)
    assert "Alice" not in shown
    assert "77" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "[CANNOT_READ_FILE] Cannot read s3://b/x.parquet. SQLSTATE: KD001",
        "[SPARK_JOB_CANCELLED] Job 3 cancelled by the user. SQLSTATE: XXKDA",
        "Lost task (TID 1): java.io.FileNotFoundException: File /x/y.parquet does not exist",
        "java.net.ConnectException: Connection refused: db:5432",
        "org.apache.iceberg.exceptions.NotFoundException: no metadata at s3://b/x",
    ],
)
def test_what_a_platform_says_of_files_and_connections_is_kept(text):
    assert message_without_values(SparkRuntimeException(text)) == text


def test_names_in_a_refused_statement_stay_readable_and_its_plan_is_left_out():
    text = "[UNRESOLVED_COLUMN] `nope` cannot be resolved. Did you mean [`id`]? SQLSTATE: 42703"
    refused = AnalysisException(f"{text}; line 1 pos 7;\n'Project ['nope]\n+- SubqueryAlias t")
    assert message_without_values(refused) == f"{text}; line 1 pos 7"
    assert short_message(refused) == f"{text}; line 1 pos 7"


def test_what_python_could_not_convert_is_not_repeated():
    for convert in (int, float):
        with pytest.raises(ValueError, match="Alice") as failed:
            convert("Alice")
        assert "Alice" not in short_message(failed.value)
        assert message_without_values(failed.value).startswith("ValueError: message withheld")


def test_words_of_ours_are_kept_as_they_are():
    own = LakeproofError("parameter 'mode' must be text, got the value 'x' of row 5")
    assert short_message(own) == message_without_values(own) == str(own)


def test_the_search_finds_what_it_looks_for():
    hidden = [canary.encode().hex().upper() for canary in CANARIES]
    assert found_in(" ".join(CANARIES)) == CANARIES
    assert found_in(" ".join(hidden)) == CANARIES
    assert found_in("token=*** and nothing else") == []
