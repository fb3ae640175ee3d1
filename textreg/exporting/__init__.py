"""Models for programs without textreg: their description as plain data, and the exporters."""
