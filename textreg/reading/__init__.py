"""From files to labeled text."""
