"""The contract of a regularizer: how it treats what it is given, how it solves, its penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textreg.kinds import Regularizer
from textreg.testing import (
    penalty,
    regularizer_classes,
    regularizer_data,
    regularizer_optimum,
)
from textreg.testing.checks import Check, run_checks
from textreg.testing.points import Sized
from textreg.testing.problems import P, prepared, small


def regularizer_checks() -> list[Check]:
    """All of them, in order; those of a penalty apply where there is a ``penalty(problem)``."""
    parts = (regularizer_data, regularizer_classes, regularizer_optimum)
    own = [check for part in parts for check in part.checks.all]
    return own + [_of_its_penalty(check) for check in penalty.penalty_checks()]


def check_regularizer(
    part: str | type[Regularizer] | Regularizer, *, skip: Mapping[str, str] | None = None
) -> None:
    """Raise ContractError unless ``part`` keeps the contract of a regularizer.

    part: name, class or instance; parameters that are open are taken from its own grid. skip: names
    of checks to leave out, each with the reason why; UsageError for one that does not exist.
    """
    run_checks(regularizer_checks(), part, skip)


def _of_its_penalty(check: Check) -> Check:
    """A check of penalties as one of the regularizer that makes them."""

    def of(part: Any) -> Sized:
        problem = small()
        ready: Any = prepared(part, problem)
        return Sized(ready.penalty(problem), P)

    def applies(part: Any) -> bool:
        if not regularizer_optimum.adds_penalty(part):
            return False
        sized = of(part)
        return hasattr(sized.penalty, "prox") and check.applies(sized)

    return Check(check.name, check.promise, lambda part: check.run(of(part)), applies)
