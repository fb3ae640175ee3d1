"""Penalties: what is added to the loss so that weights stay small, sparse, or near each other.

Each class knows its value, and what solvers and certificates ask of it. Formulas are numbered as in
docs/maths.md.
"""

from textreg.penalties.base import STRONGEST, Penalty, check_strengths, soft
from textreg.penalties.group_norms import GroupNorms
from textreg.penalties.quadratic import Links, Quadratic
from textreg.penalties.separable import Separable

__all__ = [
    "STRONGEST",
    "GroupNorms",
    "Links",
    "Penalty",
    "Quadratic",
    "Separable",
    "check_strengths",
    "soft",
]
