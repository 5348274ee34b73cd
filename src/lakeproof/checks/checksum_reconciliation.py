from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from lakeproof.checks.bounds import NUMBER
from lakeproof.checks.kinds import Arguments, Verdict
from lakeproof.checks.literals import exact_decimal
from lakeproof.checks.pair_judging import keys_verdict
from lakeproof.checks.pair_parameters import (
    KEY_CAST,
    KEY_COLUMNS,
    NAMES,
    NULL_KEYS,
    ON_EMPTY,
    OUTPUT_TABLE,
    SCOPE,
    TwoTableCheck,
    read_amount,
    read_by_column,
    read_key,
    read_names,
    read_scope,
    read_word,
)
from lakeproof.checks.parameters import Parameter
from lakeproof.checks.timezones import read_zone
from lakeproof.errors import CheckDefinitionError
from lakeproof.model.pairing import DuplicatePolicy, HashAlgorithm, Method, PairFound
from lakeproof.model.threshold import Threshold

METADATA_PATTERNS = ("_phlo_*", "_dlt_*", "_fivetran_*", "_airbyte_*", "_sdc_*", "__*")
"""Columns that loading tools add; they differ from run to run."""
SAMPLE_PARTS = 1 << 20
"""A sample is so many parts of this: the finest that there is."""

_FLOAT_PRECISION_MAX = 15
_TIMESTAMP_PRECISIONS = ("s", "ms", "us")
_SCHEMAS = ("strict", "common")
_METHODS = ("auto", Method.CELLS.value, Method.HASH_JOIN.value)
_NORMALIZATIONS = {
    "trim": "trim",
    "strip": "trim",
    "ltrim": "ltrim",
    "lstrip": "ltrim",
    "rtrim": "rtrim",
    "rstrip": "rtrim",
    "lower": "lower",
    "upper": "upper",
    "nfc": "nfc",
}
_TOLERANCE_KEYS = ("absolute", "relative")
_OPEN_BRACKET = re.compile(r"\[(?!!?\]?[^\]]*\])")


class ChecksumReconciliation(TwoTableCheck):
    """Both tables have the same rows: every key on both sides, with equal values.

    Rows are known by `key_columns` and compared by a hash of their values; `column_name` says
    which columns, by default all of the checked table but those that loading tools add. NULL
    equals NULL, NaN equals NaN, -0.0 is 0.0; types that hold the same values are one (INT and
    BIGINT, decimals of any scale), and nothing else is converted. Doubles are equal if they are
    at `float_precision` digits. Text is compared byte by byte unless `normalize` says otherwise.

    `failing_rows` counts keys that are missing on either side, keys whose rows differ, and surplus
    rows: with `duplicate_policy` = `fail` each row beyond the first of its key, on either side;
    with `multiset` each copy without a partner; with `error` a repeated key leaves no verdict.
    `total_rows` are the different keys of both sides and the surplus rows. A column that the
    source lacks, types that have nothing in common, and one side without any rows fail whatever
    is tolerated. A violation is known by its key, with both sides' values.
    """

    name = "checksum_reconciliation"
    columns_max = 10_000
    parameters = (
        *SCOPE,
        KEY_COLUMNS,
        Parameter(
            "hash_algorithm",
            (str,),
            f"{', '.join(HashAlgorithm)}; only sha256 withstands somebody who wants a collision",
            default=HashAlgorithm.XXHASH64.value,
        ),
        Parameter(
            "float_precision",
            (int,),
            "decimal digits at which floats and doubles are compared; `None` is exactly",
            default=6,
        ),
        Parameter("timestamp_precision", (str,), "`s`, `ms` or `us`; by default every digit"),
        Parameter(
            "column_tolerances",
            (Mapping,),
            "how far values may lie apart: {column: number}, or {column: {absolute, relative}}, "
            "relative to the source; for timestamps in seconds",
        ),
        Parameter(
            "normalize",
            (Mapping,),
            "what does not count in texts: {column: [trim, ltrim, rtrim, lower, upper, nfc]}",
        ),
        Parameter(
            "unordered_arrays", NAMES, "arrays in which the order does not count", default=()
        ),
        Parameter(
            "exclude_columns", NAMES, "columns not to compare, or patterns: `tmp_*`", default=()
        ),
        Parameter(
            "metadata_patterns",
            NAMES,
            "patterns of columns that loading tools add; they are compared only if named",
            default=METADATA_PATTERNS,
        ),
        KEY_CAST,
        Parameter(
            "assume_timezone",
            (str,),
            "the zone of a TIMESTAMP_NTZ that is compared with a TIMESTAMP",
        ),
        Parameter(
            "schema",
            (str,),
            "`strict`, or `common`: compare the columns that both tables have",
            default="strict",
        ),
        Parameter("sample", NUMBER, "the share of keys to compare, the same on both sides"),
        Parameter("limit", (int,), "how many rows to compare at most, of the same keys"),
        Parameter(
            "duplicate_policy",
            (str,),
            f"what a repeated key means: {', '.join(DuplicatePolicy)}",
            default=DuplicatePolicy.FAIL.value,
        ),
        NULL_KEYS,
        ON_EMPTY,
        OUTPUT_TABLE,
        Parameter(
            "method",
            (str,),
            f"{', '.join(_METHODS)}; all give the same answer",
            default="auto",
        ),
    )

    def read(self, columns: Sequence[str], params: Mapping[str, object]) -> dict[str, object]:
        arguments = super().read(columns, params)
        if "float_precision" in params and params["float_precision"] is None:
            arguments["float_precision"] = None  # said, so it is not the default
        read_names(self.name, "column_name", tuple(columns))
        found = {
            **arguments,
            **read_scope(self.name, arguments),
            **read_key(self.name, arguments),
            **self._words(arguments),
            **self._by_column(arguments),
            **{
                name: self._patterns(name, arguments)
                for name in ("exclude_columns", "metadata_patterns")
            },
        }
        self._refuse_key_settings(found)
        _require_precision(self.name, arguments["float_precision"])
        _require_part(self.name, arguments)
        if arguments["assume_timezone"] is not None:
            read_zone(self.name, arguments["assume_timezone"], "assume_timezone")
        return found

    def identity_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Sorted: they are compared in the order of their names."""
        return tuple(sorted(column.lower() for column in columns))

    def judge(self, found: PairFound, threshold: Threshold, arguments: Arguments) -> Verdict:
        return keys_verdict(found, threshold, arguments)

    def _words(self, arguments: Arguments) -> dict[str, object]:
        allowed: dict[str, Iterable[str]] = {
            "hash_algorithm": HashAlgorithm,
            "duplicate_policy": DuplicatePolicy,
            "schema": _SCHEMAS,
            "method": _METHODS,
        }
        if arguments["timestamp_precision"] is not None:
            allowed["timestamp_precision"] = _TIMESTAMP_PRECISIONS
        return {
            name: read_word(self.name, name, arguments[name], words)
            for name, words in allowed.items()
        }

    def _by_column(self, arguments: Arguments) -> dict[str, object]:
        return {
            "column_tolerances": read_by_column(
                self.name, "column_tolerances", arguments["column_tolerances"], self._tolerance
            ),
            "normalize": read_by_column(
                self.name, "normalize", arguments["normalize"], self._normalizations
            ),
            "unordered_arrays": read_names(
                self.name, "unordered_arrays", arguments["unordered_arrays"]
            ),
        }

    def _tolerance(self, given: object) -> dict[str, object]:
        """A number is an absolute tolerance."""
        pair = given if isinstance(given, Mapping) else {"absolute": given}
        for key in pair:
            read_word(self.name, "column_tolerances", key, _TOLERANCE_KEYS)
        if not pair:
            raise CheckDefinitionError(
                "a column's tolerance is a number or has `absolute`, `relative` or both, got none"
            )
        return {key: read_amount(self.name, "column_tolerances", pair[key]) for key in pair}

    def _normalizations(self, given: object) -> tuple[str, ...]:
        listed = given if isinstance(given, (list, tuple)) else (given,)
        words = [read_word(self.name, "normalize", word, _NORMALIZATIONS) for word in listed]
        found = tuple(dict.fromkeys(_NORMALIZATIONS[word] for word in words))
        if not found:
            raise CheckDefinitionError(
                f"parameter 'normalize' of check {self.name!r} has a column with nothing to do"
            )
        if {"lower", "upper"} <= set(found):
            raise CheckDefinitionError("normalize a column to lower or to upper case, not both")
        return found

    def _patterns(self, name: str, arguments: Arguments) -> tuple[str, ...]:
        patterns = read_names(self.name, name, arguments[name])
        for pattern in patterns:
            if _OPEN_BRACKET.search(pattern):
                raise CheckDefinitionError(
                    f"pattern {pattern!r} in {name} of check {self.name!r} has a [ that no ] "
                    "closes; write [[] for the character itself"
                )
        return patterns

    def _refuse_key_settings(self, arguments: Arguments) -> None:
        """A key decides which rows are compared: it is neither left out nor nearly equal."""
        keys = {name.lower(): name for name in _names(arguments["key_columns"])}
        for parameter in ("exclude_columns", "column_tolerances", "unordered_arrays"):
            for name in _names(arguments[parameter]):
                if name.lower() in keys:
                    raise CheckDefinitionError(
                        f"parameter {parameter!r} of check {self.name!r} names the key column "
                        f"{name!r}"
                    )


def _names(given: object) -> Sequence[str]:
    return tuple(given)  # type: ignore[arg-type]


def _require_precision(check: str, digits: object) -> None:
    if isinstance(digits, int) and not 0 <= digits <= _FLOAT_PRECISION_MAX:
        raise CheckDefinitionError(
            f"float_precision of check {check!r} is {digits}; it must be 0 to "
            f"{_FLOAT_PRECISION_MAX} digits, or None to compare exactly"
        )


def _require_part(check: str, arguments: Arguments) -> None:
    """Refuse a sample or a limit that leaves nothing to compare."""
    sample, limit = arguments["sample"], arguments["limit"]
    if sample is not None:
        share = exact_decimal(sample)
        if not share.is_finite() or not 0 < share <= 1:
            raise CheckDefinitionError(
                f"sample of check {check!r} must be a share above 0 and up to 1, got {sample!r}"
            )
        if not round(share * SAMPLE_PARTS):
            raise CheckDefinitionError(
                f"sample {sample!r} of check {check!r} is too small to select anything; the "
                f"smallest is {1 / SAMPLE_PARTS:.7f}"
            )
    if isinstance(limit, int) and limit < 1:
        raise CheckDefinitionError(f"limit of check {check!r} must be 1 row or more, got {limit}")
