"""Lakeproof in Airflow 3: operators, a hook, and DAGs made of them.

Parsing a DAG imports no pyspark: whatever needs it is imported when a task runs.
"""
