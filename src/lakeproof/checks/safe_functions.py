"""Which SQL functions user SQL may call: an allow-list, as data.

Made from `SHOW FUNCTIONS` of Spark 4.1 without everything that runs code, reads files or the
environment, tells about the session, fails on purpose, or gives another answer each time.
A function that is not here, a user-defined one for instance, is refused by name.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AGGREGATE_FUNCTIONS",
    "GENERATOR_FUNCTIONS",
    "QUERY_FUNCTIONS",
    "ROW_FUNCTIONS",
    "WINDOW_FUNCTIONS",
    "aggregate_function_problem",
    "query_function_problem",
    "row_function_problem",
    "table_function_problem",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROW_FUNCTIONS = _words(
    """
    abs acos acosh add_months aes_decrypt aggregate and approx_top_k_estimate array array_append
    array_compact array_contains array_distinct array_except array_insert array_intersect
    array_join array_max array_min array_position array_prepend array_remove array_repeat
    array_size array_sort array_union arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh
    base64 between bigint bin binary bit_count bit_get bit_length bitmap_bit_position
    bitmap_bucket_number bitmap_count boolean bround btrim cardinality case cast cbrt ceil ceiling
    char char_length character_length chr coalesce collate collation concat concat_ws contains
    conv convert_timezone cos cosh cot crc32 csc curdate current_date current_time
    current_timestamp date date_add date_diff date_format date_from_unix_date date_part date_sub
    date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode
    degrees div double e element_at elt encode endswith equal_null exists exp expm1 extract
    factorial filter find_in_set flatten float floor forall format_number format_string from_csv
    from_json from_unixtime from_utc_timestamp get get_json_object getbit greatest hash hex
    hll_sketch_estimate hll_union hour hypot if ifnull ilike in initcap instr int integer
    is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys
    kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
    kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
    kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float
    kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float last_day
    lcase least left len length levenshtein like ln localtimestamp locate log log10 log1p log2
    lower lpad ltrim luhn_check make_date make_dt_interval make_interval make_time make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat
    map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values
    map_zip_with mask md5 minute mod month monthname months_between named_struct nanvl negative
    next_day not now nullif nullifzero nvl nvl2 octet_length or overlay parse_json parse_url pi
    pmod position positive pow power printf quarter quote radians reduce regexp regexp_count
    regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr repeat
    replace reverse right rint rlike round rpad rtrim schema_of_csv schema_of_json
    schema_of_variant sec second sentences sequence session_window sha sha1 sha2 shiftleft
    shiftright shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex
    space split split_part sqrt st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid
    startswith str_to_map string struct substr substring substring_index tan tanh theta_difference
    theta_intersection theta_sketch_estimate theta_union time time_diff time_trunc timediff
    timestamp timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff
    tinyint to_binary to_char to_csv to_date to_json to_number to_time to_timestamp
    to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar
    to_variant_object to_xml transform transform_keys transform_values translate trim trunc
    try_add try_aes_decrypt try_cast try_divide try_element_at try_make_interval
    try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply
    try_parse_json try_parse_url try_subtract try_to_binary try_to_date try_to_number try_to_time
    try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof ucase unbase64 unhex
    unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode url_encode
    validate_utf8 variant_get weekday weekofyear when width_bucket window window_time xpath
    xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
    xpath_string xxhash64 year zeroifnull zip_with
    """
)

AGGREGATE_FUNCTIONS = _words(
    """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if count_min_sketch
    covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
    hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value
    listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp
    string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum var_pop
    var_samp variance
    """
)

WINDOW_FUNCTIONS = _words(
    """
    cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
    """
)

# The only functions that may stand in FROM: they unfold a value of the row. `range` is not one.
GENERATOR_FUNCTIONS = _words(
    """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer
    """
)

QUERY_FUNCTIONS = ROW_FUNCTIONS | AGGREGATE_FUNCTIONS | WINDOW_FUNCTIONS | GENERATOR_FUNCTIONS

_RUNS_CODE = "it runs code of the server"
_READS_FILES = "it reads files or other places outside the tables"
_TELLS_SESSION = "it tells about the session instead of the data"
_NOT_REPEATABLE = "its result differs from run to run, so a result could not be repeated"
_FAILS = "it fails on purpose; return the bad rows instead"
_MAKES_ROWS = "it makes rows that are in no table"

_REASONS = {
    _RUNS_CODE: "java_method reflect try_reflect",
    _READS_FILES: """
        from_avro from_protobuf from_xml input_file_block_length input_file_block_start
        input_file_name schema_of_avro schema_of_xml table_changes table_changes_by_path to_avro
        to_protobuf
    """,
    _TELLS_SESSION: """
        current_catalog current_database current_schema current_timezone current_user session_user
        user version
    """,
    _NOT_REPEATABLE: """
        aes_encrypt monotonically_increasing_id rand randn random randstr shuffle
        spark_partition_id uniform uuid
    """,
    _FAILS: "assert_true raise_error",
    _MAKES_ROWS: "collations python_worker_logs range sql_keywords",
}
_REFUSED = {name: reason for reason, names in _REASONS.items() for name in names.split()}


def query_function_problem(name: Sequence[str]) -> str | None:
    """Why a query may not call this function; None if it may."""
    return _problem(name, QUERY_FUNCTIONS)


def row_function_problem(name: Sequence[str]) -> str | None:
    """Why a row predicate may not call this function; None if it may."""
    folded = name[-1].lower()
    if len(name) == 1 and folded in QUERY_FUNCTIONS - ROW_FUNCTIONS:
        return f"{folded}() needs more than one row, or makes several. Use custom_sql for that."
    return _problem(name, ROW_FUNCTIONS)


def aggregate_function_problem(name: Sequence[str]) -> str | None:
    """Why an aggregate of a table's rows may not call this function; None if it may."""
    return _problem(name, ROW_FUNCTIONS | AGGREGATE_FUNCTIONS)


def table_function_problem(name: Sequence[str]) -> str | None:
    """Why this function may not stand in FROM; None if it may."""
    return _problem(name, GENERATOR_FUNCTIONS)


def _problem(name: Sequence[str], allowed: frozenset[str]) -> str | None:
    # A name with a prefix can only be a user's function, or a built-in one in disguise.
    shown, folded = ".".join(name), name[-1].lower()
    if folded in _REFUSED:
        return f"function {shown}() is refused: {_REFUSED[folded]}."
    if len(name) == 1 and folded in allowed:
        return None
    if folded in QUERY_FUNCTIONS:
        remedy = f"Call {folded}() without prefix." if len(name) > 1 else "Use it in SELECT."
        return f"function {shown}() is refused here. {remedy}"
    near = get_close_matches(folded, allowed, n=1)
    hint = f"Did you mean {near[0]}()?" if near else "Built-in Spark functions are allowed."
    return f"function {shown}() is not one of Spark's that may run in user SQL. {hint}"
