"""Time and memory on corpora that are larger than memory; see __main__.py."""
