"""Functions of ``scipy.special``, imported on the first call: that takes as long as a small fit."""

from __future__ import annotations

from textreg.records import Floats


def logsumexp(a: Floats, axis: int) -> Floats:
    """log sum exp(a) along an axis."""
    from scipy import special

    sums: Floats = special.logsumexp(a, axis=axis)
    return sums


def softmax(a: Floats, axis: int) -> Floats:
    """exp(a), scaled to a sum of one along an axis."""
    from scipy import special

    shares: Floats = special.softmax(a, axis=axis)
    return shares


def xlogy(x: Floats, y: Floats) -> Floats:
    """x log(y), 0 where x is."""
    from scipy import special

    products: Floats = special.xlogy(x, y)
    return products
