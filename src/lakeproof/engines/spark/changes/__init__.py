"""Changes of a table as rows with weights, one module per way to read them."""
