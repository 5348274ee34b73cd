"""Fifty planted canaries: texts that must be found nowhere, and the suite that tries to leak them.

38 stand in sensitive columns, of every kind of type; 12 in configuration and exceptions.
"""

from __future__ import annotations

import base64

from lakeproof import QualityCheck
from lakeproof.config import Config, TableSettings

NAMES = [f"CANARY-NAME-0{n}" for n in range(1, 5)]
CARD_TEXTS = [f"411111111111770{n}" for n in range(1, 5)]
CARDS = [f"550000000000880{n}" for n in range(1, 5)]
BIRTHDAYS = [f"193{n}-07-1{n}" for n in range(1, 5)]
SALARIES = [f"918270{n}.61" for n in range(1, 5)]
EMAILS = [f"canary.0{n}@secret.example" for n in range(1, 5)]
NOTES = [f"CANARY-NOTE-0{n}" for n in range(1, 5)]
MAP_KEYS = [f"CANARY-KEY-0{n}" for n in range(1, 3)]
MAP_VALUES = [f"CANARY-VALUE-0{n}" for n in range(1, 3)]
TOKENS = [f"tok_CANARY_0{n}" for n in range(1, 3)]
DSN_PASSWORDS = [f"CANARY-DSN-0{n}" for n in range(1, 3)]
MOMENTS = [f"1941-02-03 04:05:0{n}" for n in range(1, 3)]

IN_COLUMNS = [
    *NAMES, *CARD_TEXTS, *CARDS, *BIRTHDAYS, *SALARIES, *EMAILS, *NOTES,
    *MAP_KEYS, *MAP_VALUES, *TOKENS, *DSN_PASSWORDS, *MOMENTS,
]  # fmt: skip

REMOTE_TOKEN = "CANARY-CONNECT-TOKEN-01"  # noqa: S105 (planted)
REMOTE_TOKEN_WITHOUT_SLASH = "CANARY-CONNECT-TOKEN-02"  # noqa: S105 (planted)
REMOTE_PASSWORD = "CANARY-CONNECT-PASSWORD-03"  # noqa: S105 (planted)
REMOTE_IN_A_LIST = "CANARY-CONNECT-TOKEN-04"
UNKNOWN_SETTING = "CANARY-SETTING-05"
BROKEN_FILE = "CANARY-SETTING-06"
CATALOG_PASSWORD = "CANARY-CATALOG-PASSWORD-07"  # noqa: S105 (planted)
CATALOG_USER_PASSWORD = "CANARY-CATALOG-PASSWORD-08"  # noqa: S105 (planted)
SUITE_DSN = "CANARY-SUITE-DSN-09"
SUITE_AWS_KEY = "AKIACANARY1234567890"
SUITE_BEARER = "CANARY-BEARER-11"
PARAMETER_DSN = "CANARY-PARAMETER-12"

IN_CONFIGURATION = [
    REMOTE_TOKEN, REMOTE_TOKEN_WITHOUT_SLASH, REMOTE_PASSWORD, REMOTE_IN_A_LIST, UNKNOWN_SETTING,
    BROKEN_FILE, CATALOG_PASSWORD, CATALOG_USER_PASSWORD, SUITE_DSN, SUITE_AWS_KEY, SUITE_BEARER,
    PARAMETER_DSN,
]  # fmt: skip

CANARIES = [*IN_COLUMNS, *IN_CONFIGURATION]

# The moments as a canonical key would have them: microseconds since 1970.
_MOMENT_NUMBERS = {MOMENTS[0]: "-911764499000000", MOMENTS[1]: "-911764498000000"}

NAMESPACE = "canaries"
SENSITIVE = (
    "name", "card_text", "card", "born", "salary", "contact", "notes", "attributes", "api_token",
    "connection", "seen_at",
)  # fmt: skip
TABLES = {
    "people": TableSettings(key=("id",), sensitive=SENSITIVE),
    "members": TableSettings(key=("name", "born"), sensitive=SENSITIVE),
}
CONFIG = Config(default_namespace=NAMESPACE, tables=TABLES)


def found_in(text: str, canaries: list[str] = CANARIES) -> list[str]:
    """The canaries that the text holds: as they are, in hexadecimal or in base64."""
    plain, folded = text.replace("T", " "), text.lower()
    return [
        canary
        for canary in canaries
        if canary in text
        or canary in plain
        or canary.encode().hex() in folded
        or base64.b64encode(canary.encode()).decode().rstrip("=")[:-1] in text
        or _MOMENT_NUMBERS.get(canary, canary) in text
    ]


def build_tables(spark) -> None:
    """`people` and `members` hold each row twice, under other ids; `teams` holds none of them.

    `damaged` is a copy of `people` whose rows stand under the next id. Nothing is said of its
    columns: those that are sensitive in the other table are so here.
    """
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS iceberg.{NAMESPACE}")
    rows = ",\n".join(_row(n) for n in range(4))
    columns = f"id, {', '.join(SENSITIVE)}"
    for table in TABLES:
        spark.sql(
            f"CREATE OR REPLACE TABLE iceberg.{NAMESPACE}.{table} USING iceberg AS "
            f"WITH once AS (SELECT * FROM VALUES {rows} AS t({columns})) "
            "SELECT * FROM once UNION ALL SELECT id + 4, * EXCEPT (id) FROM once"
        )
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{NAMESPACE}.teams USING iceberg AS "
        "SELECT * FROM VALUES ('nobody') AS t(name)"
    )
    people = f"iceberg.{NAMESPACE}.people"
    spark.sql(
        f"CREATE OR REPLACE TABLE iceberg.{NAMESPACE}.damaged USING iceberg AS "
        f"SELECT id + 1 AS id, * EXCEPT (id) FROM {people}"
    )


def _row(n: int) -> str:
    few = n < 2
    pairs = f"'{MAP_KEYS[n]}', '{MAP_VALUES[n]}'" if few else "'k', 'v'"
    token = f"'{TOKENS[n]}'" if few else "NULL"
    address = f"'jdbc:postgresql://db/x?password={DSN_PASSWORDS[n]}'" if few else "NULL"
    moment = f"TIMESTAMP'{MOMENTS[n]}Z'" if few else "NULL"
    return (
        f"({n + 1}, '{NAMES[n]}', '{CARD_TEXTS[n]}', {CARDS[n]}L, DATE'{BIRTHDAYS[n]}', "
        f"-{SALARIES[n]}BD, named_struct('email', '{EMAILS[n]}', 'age', 90), "
        f"array('{NOTES[n]}', ''), map({pairs}), {token}, {address}, {moment})"
    )


def _check(name, check_type, column=None, params=None, **options):
    return QualityCheck(name, check_type, "people", column, params or {}, **options)


_ROW_CHECKS = [
    _check("accepted", "accepted_values", "name", {"accepted": ["nobody"]}),
    _check(
        "accepted_long", "accepted_values", "name", {"accepted": [f"n{n}" for n in range(1100)]}
    ),
    _check("accepted_card", "accepted_values", "card", {"accepted": [1]}),
    _check("accepted_values_in_map", "accepted_values", "attributes{}", {"accepted": ["w"]}),
    _check("accepted_there", "accepted_values", "name", {"accepted_table": "teams"}),
    _check("pair", "column_pair", ["name", "card_text"], {"operator": "="}),
    _check("uuid", "format", "name", {"kind": "uuid"}),
    _check("uri_field", "format", "contact.email", {"kind": "uri"}),
    _check("uuid_element", "format", "notes[]", {"kind": "uuid"}),
    _check("short", "length_range", "name", {"max_length": 3}),
    _check("short_dsn", "length_range", "connection", {"max_length": 3}),
    _check("short_field", "length_range", "contact.email", {"max_length": 3}),
    _check("invalid", "invalid_values", "contact.email", {"valid_format": "uuid"}),
    _check("invalid_card", "invalid_values", "card", {"valid_max": 5}),
    _check("missing", "missing_values", "notes[]", {"missing_pattern": "NOTE"}),
    _check("day", "date_format", "card_text", {"pattern": "yyyy-MM-dd"}),
    _check("tens", "multiple_of", "card", {"factor": 10}),
    _check("different", "unique_items", "notes"),
    _check("fields", "field_count", "contact", {"min_fields": 5}),
    _check("pattern", "matches_pattern", "api_token", {"pattern": "^x$"}),
    _check("no_pattern", "not_matches_pattern", "notes[]", {"pattern": "NOTE"}),
    _check("no_future", "no_future_dates", "born"),
    _check("filled", "not_empty", "notes[]"),
    _check("present", "not_null", for_each_column=["api_token", "seen_at", "connection"]),
    _check("positive", "positive", "salary"),
    _check("range_card", "range", "card", {"max_value": 5}),
    _check("range_born", "range", "born", {"max_value": "1900-01-01"}),
    _check("range_seen", "range", "seen_at", {"max_value": "1900-01-01 00:00:00"}),
    _check("row", "row_expression", params={"expression": "name = 'x' OR card < 0"}),
    _check("row_field", "row_expression", params={"expression": "contact.email = 'x'"}),
    _check("row_element", "row_expression", params={"expression": "notes[0] = 'x'"}),
    _check("row_map", "row_expression", params={"expression": "attributes['k'] IS NULL"}),
]

_OTHER_CHECKS = [
    _check("oldest", "aggregate", "born", {"function": "min", "min_value": "2000-01-01"}),
    _check("card_max", "aggregate", "card", {"function": "max", "max_value": 5}),
    _check("salary_min", "aggregate", "salary", {"function": "min", "min_value": 0}),
    _check("median", "aggregate", "card", {"function": "median", "max_value": 5}),
    _check(
        "card_expression",
        "aggregate",
        params={"function": "max", "expression": "CAST(card_text AS BIGINT)", "max_value": 5},
    ),
    _check("query_keyed", "custom_sql", params={"sql": "SELECT id, name, card FROM people"}),
    _check("query_hashed", "custom_sql", params={"sql": "SELECT name, card FROM people"}),
    _check("query_renamed", "custom_sql", params={"sql": "SELECT name AS id FROM people"}),
    _check(
        "query_renamed_inside",
        "custom_sql",
        params={"sql": "SELECT id FROM (SELECT card AS id FROM people)"},
    ),
    _check("value", "sql_value", params={"sql": "SELECT max(name) FROM people"}),
    _check("value_card", "sql_value", params={"sql": "SELECT max(card) FROM people"}),
    _check(
        "value_rows",
        "sql_value",
        params={"sql": "SELECT count(*) FROM people WHERE card > 0", "max_value": 0},
    ),
    _check("reference", "foreign_key", "name", {"references": "teams"}),
    _check("fresh", "freshness", "seen_at", {"max_age": "1d"}),
    _check("fresh_day", "freshness", "born", {"max_age": "1d"}),
    _check("by_nine", "available_by", "seen_at", {"time": "09:00Z"}),
    _check("late", "delay", ["born", "seen_at"], {"max_delay": "1d"}),
    _check("gaps", "max_gap", "born", {"max_gap": "1d"}),
    _check("kept", "retention", "born", {"max_age": "1d"}),
    _check("over", "service_period", params={"ends_at": "2001-01-01"}),
    _check("rising", "is_increasing", "card", {"order_by": "id", "strict": True}),
    _check("ratio", "ratio", params={"condition": "name = 'x'", "min_share": 1}),
    _check("change", "row_count_change", params={"max_decrease": 0.1}),
    _check("count", "row_count_range", params={"max_count": 1}),
    _check("column_count", "column_count_range", params={"max_count": 1}),
    _check("schema", "schema", params={"columns": ["id", "nope"]}),
    _check("type", "column_type", params={"column": "card", "types": ["int"]}),
    _check("breaks_unit", "is_normalized", "notes"),
    _check("key", "unique_key", ["name", "born"]),
    _check("unique", "uniqueness", "name"),
    _check("unique_card", "uniqueness", "card"),
    _check("unique_moment", "uniqueness", "seen_at"),
    _check("set", "value_set", "name", {"values": ["nobody"], "mode": "within"}),
    _check("set_card", "value_set", "card", {"values": [1], "mode": "within"}),
    _check("set_born", "value_set", "born", {"values": ["2000-01-01"], "mode": "within"}),
    *(
        QualityCheck(f"members_{kind}", kind, "members", column, params or {})
        for kind, column, params in (
            ("not_null", "api_token", None),
            ("not_empty", "notes[]", None),
            ("uniqueness", "card", None),
            ("custom_sql", None, {"sql": "SELECT name, born FROM members"}),
            ("foreign_key", "name", {"references": "teams"}),
            ("is_increasing", "card", {"order_by": "id", "strict": True}),
        )
    ),
]

_DAMAGED = {"source_table": "damaged"}
_PAIR_CHECKS = [
    _check("copied", "checksum_reconciliation", params={**_DAMAGED, "key_columns": "id"}),
    _check(
        "cards_by_name",
        "aggregate_consistency",
        params={
            **_DAMAGED,
            "aggregate_column": "card",
            "source_expression": "min(card) - 1",
            "group_by": ["name", "born"],
        },
    ),
    _check(
        "copied_by_name",
        "checksum_reconciliation",
        params={**_DAMAGED, "key_columns": ["name", "born"], "hash_algorithm": "sha256"},
    ),
    QualityCheck(
        "copied_back",
        "checksum_reconciliation",
        "damaged",
        ["card", "notes"],
        {"source_table": "people", "key_columns": "id", "duplicate_policy": "multiset"},
    ),
    _check("names_there", "key_parity", params={"source_table": "teams", "key_columns": "name"}),
    _check("as_many", "reconciliation", params={"source_table": "teams"}),
    _check(
        "greatest",
        "multi_aggregate_consistency",
        params={
            **_DAMAGED,
            "aggregates": [
                {
                    "name": column,
                    "expression": f"max({column})",
                    "target_column": column,
                    "target_expression": f"min({column})",
                }
                for column in ("name", "card", "born", "salary", "seen_at")
            ],
        },
    ),
]

# What Spark puts into its message when it breaks on a row, in each of its manners.
BREAKING = {
    "cast": "CAST(name AS INT) > 0",
    "cast_date": "CAST(name AS DATE) > current_date()",
    "cast_overflow": "CAST(card AS INT) > 0",
    "cast_decimal": "CAST(salary AS DECIMAL(4, 2)) > 0",
    "interval": "CAST(name AS INTERVAL DAY) IS NULL",
    "day": "to_date(name, 'yyyy-MM-dd') IS NULL",
    "number": "to_number(name, '999') > 0",
    "array_index": "notes[CAST(card % 100000 AS INT)] = ''",
    "json": "parse_json(name) IS NULL",
    "variant": "variant_get(parse_json(concat('\"', name, '\"')), '$', 'int') > 0",
    "url": "parse_url(concat('http://', name, '^%'), 'HOST') = ''",
    "timezone": "from_utc_timestamp(seen_at, name) IS NULL",
    "map_key": "str_to_map(concat(name, ':1,', name, ':2'), ',', ':') IS NULL",
    "regex": "name RLIKE concat(name, '(')",
    "sequence": "sequence(card, card - 1, 1L) IS NULL",
    "charset": "encode(name, name) IS NULL",
    "weekday": "next_day(born, name) IS NULL",
    "zero": "1 / (card - card) > 0",
}

_BREAKING_CHECKS = [
    *(_check(f"breaks_{name}", "row_expression", params={"expression": sql})
      for name, sql in BREAKING.items()),
    *(_check(f"breaks_filter_{name}", "not_null", "api_token", filter=BREAKING[name])
      for name in ("cast", "cast_overflow", "day")),
    _check("breaks_query", "custom_sql",
           params={"sql": "SELECT CAST(card_text AS INT) AS n FROM people"}),
    _check("breaks_ratio", "ratio", params={"condition": BREAKING["cast"], "min_share": 1}),
    _check("breaks_aggregate", "aggregate",
           params={"function": "max", "expression": "CAST(name AS INT)", "max_value": 1}),
    _check("breaks_pair", "checksum_reconciliation",
           params={**_DAMAGED, "key_columns": "id", "where_clause": BREAKING["cast"]}),
    _check("breaks_sum", "aggregate_consistency",
           params={**_DAMAGED, "aggregate_column": "id",
                   "source_expression": "sum(CAST(name AS INT))"}),
]  # fmt: skip

SUITE = [*_ROW_CHECKS, *_OTHER_CHECKS, *_PAIR_CHECKS, *_BREAKING_CHECKS]
# Every check again, with one that breaks: each that does costs some more statements. So do
# comparisons with another table, of which two show all that the others might.
QUICK_SUITE = [check for check in SUITE if check not in (*_PAIR_CHECKS[2:], *_BREAKING_CHECKS[1:])]
BREAKING_SUITE = _BREAKING_CHECKS
