"""The code of exported models: it imports nothing of textreg."""
