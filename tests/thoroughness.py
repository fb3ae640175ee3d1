"""What thorough runs do more: further examples of hypothesis, and further cases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

# Of the profile that conftest.py has loaded: 100, or 25 where a run is not thorough.
SHARE = settings().max_examples / 100


def draws(most: int) -> settings:
    """So many examples in a thorough run, and a part of them in others, but four at least."""
    return settings(max_examples=max(min(most, 4), round(SHARE * most)))


def without_fresh(kind: str) -> dict[str, str]:
    """Leaves out the checks that begin an interpreter: other tests have them for the kind.

    Thorough runs have them for all.
    """
    names = (f"{kind}-imports", f"{kind}-processes") if SHARE < 1.0 else ()
    return dict.fromkeys(names, "begins an interpreter, as for others of the kind")


def skipping_fresh(kind: str) -> list[str]:
    """The same as options of ``textreg plugins check``."""
    left_out = without_fresh(kind).items()
    return [word for name, why in left_out for word in ("--skip", f"{name}={why}")]


def thorough(*values: Any) -> Any:
    """A case of a test with parameters that costs more than it tells in every run."""
    return pytest.param(*values, marks=pytest.mark.thorough)
