"""The tables and figures of the papers on the corpora at hand, beside the published numbers."""
