"""What a table's metadata say of each of its data files."""
