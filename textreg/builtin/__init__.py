"""Plugins that ship with textreg; found by entry points like any other."""
