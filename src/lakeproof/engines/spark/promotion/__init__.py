"""Where trusted rows are read, and how that place is moved: a module for each kind of place."""
