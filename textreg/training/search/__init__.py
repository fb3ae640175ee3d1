"""How prices, and whatever else is open, are chosen."""
