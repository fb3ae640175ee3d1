"""From files to labelled text."""
