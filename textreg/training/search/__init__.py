"""How hyperparameters are chosen: splits, grids, searches, and the selection."""
