"""How many examples hypothesis draws for a test."""

from __future__ import annotations

from hypothesis import settings

# Of the profile that conftest.py has loaded: 100, or 25 where a run is not thorough.
SHARE = settings().max_examples / 100


def draws(most: int) -> settings:
    """So many examples in a thorough run, and a part of them in others, but four at least."""
    return settings(max_examples=max(min(most, 4), round(SHARE * most)))
