"""The examples of the RFC on data quality, as it writes them, in its order."""

EXAMPLES = {
    "required": """\
quality:
- code: required
""",
    "tolerance": """\
quality:
- code: required
  parameters:
  - parameter: tolerance
    value: 2%
""",
    "soda": """\
quality:
- code: invalid_count
  engine: soda # namespace, library
  parameters:
  - parameter: valid_values
    value: ['S', 'M', 'L']
  - parameter: must_be_greater_than_or_equal
    value: 10
""",
    "sql": """\
schema: # ex dataset
- object: StockTable
  physicalName: stock_v1
  attributes: # ex columns
  - field: Quantity
    physicalName: qty
    quality:
    - code: sql
      query: SELECT count(*) FROM ${table} WHERE ${column} >= 0;
""",
    "must fail": """\
schema: # ex dataset
- object: StockTable
  physicalName: stock_v1
  quality:
  - code: sql
    query: SELECT count(*) FROM ${table} WHERE ${column} >= 0;
""",
    "text": """\
quality:
  - type: text
    description: The email address was verified by the system
""",
    "column types": """\
quality:
- type: no_duplicate_values
- type: duplicate_count
  must_be_less_than: 10
  name: Fewer than 10 duplicate names
- type: duplicate_percent
  must_be_less_than: 1
- type: no_invalid_values
  valid_values: ['pounds']
  filter_sql: country = 'UK'
- type: invalid_percent
  must_be_less_than: 3
  valid_values_reference_data:
    dataset: countryID
    column: id
""",
    "table type": """\
quality:
  - type: row_count
    must_be_between: [100, 120]
    name: Verify row count range
""",
    "sql type": """\
quality:
  - type: sql
    query: SELECT COUNT(*) FROM ${table} WHERE ${column} IS NOT NULL
    must_be_less_than: 3600    
""",  # noqa: W291 (as it is written there)
    "custom": """\
quality:
- type: custom
  engine: great-expectations
  expectation_type: expect_table_row_count_to_be_between
  kwargs:
    min_value: 10000
    max_value: 50000
""",
    "v2 table": """\
dataset:
  - table: tab1
# ...
    quality:
      - code: countCheck                                       # Required, name of the rule
        templateName: CountCheck                               # NEW in v2.1.0 Required
        description: Ensure row count is within expected range # Optional
        toolName: Elevate                                      # Required
        toolRuleName: DQ.rw.tab1.CountCheck                    # NEW in v2.1.0 Optional
        dimension: completeness                                # Optional
        type: reconciliation                                   # Optional NEW in v2.1.0
        severity: error                                        # Optional NEW in v2.1.0
        businessImpact: operational                            # Optional NEW in v2.1.0
        scheduleCronExpression: 0 20 * * *                     # Optional NEW in v2.1.0
        customProperties:                                      # Optional
          - property: FIELD_NAME
            value: rcvr_id
          - property: FILTER_CONDITIONS
            value: 1>0
""",
    "v2 column": """\
dataset:
  - table: tab1
      - column: rcvr_id
        isPrimary: true # NEW in v2.1.0, Optional, default value is false
        businessName: receiver id
# ...
        quality:
          - code: nullCheck
            templateName: NullCheck
            description: column should not contain null values
            toolName: Elevate
            toolRuleName: DQ.rw.tab1_2_0_0.rcvr_cntry_code.NullCheck
            dimension: completeness # dropdown 7 values
            type: dataQuality
            severity: error
            businessImpact: operational
            scheduleCronExpression: 0 20 * * *
            customProperties:
              - property: FIELD_NAME
                value:
              - property: COMPARE_TO
                value:
              - property: COMPARISON_TYPE
                value: Greater than
""",
}
COLUMNS_LEFT_OUT = "  - table: tab1\n"
"""After it the last example leaves out `columns:`, so that it is no YAML as it stands."""
