"""Training: from a corpus and settings to a model."""
