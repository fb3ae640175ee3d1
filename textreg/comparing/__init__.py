"""Comparing methods over several corpora."""
