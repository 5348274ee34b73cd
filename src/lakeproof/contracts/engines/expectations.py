"""Each expectation of Great Expectations as a check of ours, with the meaning that it has there.

Where GE differs by engine, it is read as on Spark: regular expressions are Java's and match
anywhere in the text, and the standard deviation is that of a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lakeproof.contracts.draft import Draft
from lakeproof.contracts.engines import expected_measures as whole
from lakeproof.contracts.engines import expected_rows as rows
from lakeproof.contracts.engines.given import Given, all_of
from lakeproof.errors import CheckDefinitionError

Build = Callable[[Given], list[Draft]]


def expectation_drafts(given: Given, name: str) -> list[Draft]:
    """The drafts of a known expectation, within its `row_condition`."""
    drafts = EXPECTATIONS[name](given)
    condition, notes = _row_condition(given)
    if condition is None:
        return drafts
    return [
        replace(draft, filter=all_of(condition, draft.filter), notes=(*draft.notes, *notes))
        for draft in drafts
    ]


def _row_condition(given: Given) -> tuple[str | None, tuple[str, ...]]:
    parser = given.text("condition_parser")
    if given.take("row_condition") is None:
        return None, ()
    condition = given.text("row_condition")
    if parser not in {"", "spark"}:
        raise CheckDefinitionError(
            f"the row_condition of {given.test} is written for {parser!r}. Write it in Spark's "
            "SQL, with condition_parser: spark"
        )
    return condition, () if parser else ("row_condition is read as Spark SQL",)


EXPECTATIONS: Mapping[str, Build] = {
    "expect_column_values_to_not_be_null": rows.not_null,
    "expect_column_values_to_be_null": rows.null,
    "expect_column_values_to_be_unique": rows.unique,
    "expect_column_values_to_be_in_set": rows.in_set,
    "expect_column_values_to_not_be_in_set": rows.not_in_set,
    "expect_column_values_to_be_between": rows.between,
    "expect_column_values_to_match_regex": rows.pattern("matches_pattern"),
    "expect_column_values_to_not_match_regex": rows.pattern("not_matches_pattern"),
    "expect_column_values_to_match_regex_list": rows.patterns("RLIKE", "regex_list", wanted=True),
    "expect_column_values_to_not_match_regex_list": rows.patterns(
        "RLIKE", "regex_list", wanted=False
    ),
    "expect_column_values_to_match_like_pattern": rows.patterns(
        "LIKE", "like_pattern", wanted=True
    ),
    "expect_column_values_to_not_match_like_pattern": rows.patterns(
        "LIKE", "like_pattern", wanted=False
    ),
    "expect_column_values_to_match_like_pattern_list": rows.patterns(
        "LIKE", "like_pattern_list", wanted=True
    ),
    "expect_column_values_to_not_match_like_pattern_list": rows.patterns(
        "LIKE", "like_pattern_list", wanted=False
    ),
    "expect_column_values_to_be_of_type": rows.of_type("type_", "type", "column_type"),
    "expect_column_values_to_be_in_type_list": rows.of_type("type_list", "column_type_list"),
    "expect_column_value_lengths_to_be_between": rows.lengths,
    "expect_column_value_lengths_to_equal": rows.length,
    "expect_column_pair_values_a_to_be_greater_than_b": rows.pair(">"),
    "expect_column_pair_values_to_be_equal": rows.pair("="),
    "expect_compound_columns_to_be_unique": rows.compound_key,
    "expect_column_min_to_be_between": whole.aggregate("min"),
    "expect_column_max_to_be_between": whole.aggregate("max"),
    "expect_column_mean_to_be_between": whole.aggregate("avg"),
    "expect_column_sum_to_be_between": whole.aggregate("sum"),
    "expect_column_stdev_to_be_between": whole.aggregate("stddev"),
    "expect_column_median_to_be_between": whole.aggregate("median"),
    "expect_column_quantile_values_to_be_between": whole.quantiles,
    "expect_column_unique_value_count_to_be_between": whole.aggregate("distinct_count"),
    "expect_column_proportion_of_unique_values_to_be_between": whole.aggregate("distinct_share"),
    "expect_column_distinct_values_to_be_in_set": whole.value_set("within"),
    "expect_column_distinct_values_to_contain_set": whole.value_set("contains"),
    "expect_column_distinct_values_to_equal_set": whole.value_set("equals"),
    "expect_table_row_count_to_be_between": whole.row_count,
    "expect_table_row_count_to_equal": whole.exact_count("row_count_range"),
    "expect_table_column_count_to_be_between": whole.column_count,
    "expect_table_column_count_to_equal": whole.exact_count("column_count_range"),
    "expect_column_to_exist": whole.column_exists,
    "expect_table_columns_to_match_set": whole.columns_match_set,
    "expect_table_columns_to_contain_set": whole.columns_contain_set,
    "expect_table_columns_to_match_ordered_list": whole.columns_match_list,
}
"""Every expectation that runs, by its name in Great Expectations or dbt-expectations."""
