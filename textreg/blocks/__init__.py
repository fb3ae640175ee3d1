"""Corpora that do not fit into memory, block by block."""
