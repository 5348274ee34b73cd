"""The books of a pipeline on Spark: keys, commitments, captures, diagnosis."""
