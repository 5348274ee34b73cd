"""DAGs to copy or to load as they are: a lakehouse that ingests CSV files and checks them daily."""
