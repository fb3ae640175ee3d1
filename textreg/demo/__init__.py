"""The corpus that `textreg demo` writes."""
