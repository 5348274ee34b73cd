"""Books read again on any machine: verified and asked by pyarrow and its like, never by Spark."""
