"""How plugins are found, loaded, contained and called."""
