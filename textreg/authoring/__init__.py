"""Writing plugins: a scaffold to start from, and a doctor for those that do not load."""
