"""The file a model is stored in."""
