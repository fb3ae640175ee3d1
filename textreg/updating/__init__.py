"""Updating a model: new documents, and labels, on top of those that it was trained on."""
