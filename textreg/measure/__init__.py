"""How good a model is, and whether another is better."""
