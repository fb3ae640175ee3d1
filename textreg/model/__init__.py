"""The model: what prediction needs, and the file it is stored in."""
