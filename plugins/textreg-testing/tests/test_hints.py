"""A check of prox names the simple mistake that explains it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from textreg.records import Floats
from textreg_testing import ContractError, check_penalty
from textreg_testing.penalty import ratio

Prox = Callable[[Floats, float], Floats]


def soft(w: Floats, step: float) -> Floats:
    """The prox of 0.7 ||w||_1."""
    return np.sign(w) * np.maximum(np.abs(w) - 0.7 * step, 0.0)


CASES: list[tuple[Prox, str]] = [
    (lambda w, step: soft(w, 1.0), "as if it left the step out"),
    (lambda w, step: soft(w, 1.0 / step), "scaled by 1/step"),
    (lambda w, step: soft(w, step * step), "scaled by the step squared"),
    (lambda w, step: soft(w, 0.5 * step), "scaled by 1/2"),
    (lambda w, step: w.copy(), "returns its argument"),
    (lambda w, step: 0.0 * w, "is always zero"),
    (lambda w, step: -soft(w, step), "has the wrong sign"),
    (lambda w, step: np.abs(soft(w, step)), "loses the signs of w"),
    (lambda w, step: w - soft(w, step), "gives w - prox"),
]


@pytest.mark.parametrize(("prox", "message"), CASES, ids=[message for _, message in CASES])
def test_the_cause_is_named(prox: Prox, message: str) -> None:
    class Wrong:
        def value(self, w: Floats) -> float:
            return 0.7 * float(np.abs(w).sum())

        def prox(self, w: Floats, step: float) -> Floats:
            return prox(w, step)

    with pytest.raises(ContractError, match=f"The prox .*{message}"):
        check_penalty(Wrong(), 6)


def test_multiples() -> None:
    right = np.array([1.0, -2.0, 1e-9])
    assert ratio(right, -right) == "it has the wrong sign"
    assert ratio(right, 0.5 * right) == "it looks 0.5 times as large"
    assert ratio(right, right) == ratio(right, right + 1.0) == ratio(0.0 * right, right) == ""
