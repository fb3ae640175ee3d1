"""The contract of a regularizer: how it treats what it is given, how it solves, its penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from textreg.kinds import Regularizer
from textreg.plugins import registry
from textreg.testing import (
    penalty,
    regularizer_classes,
    regularizer_data,
    regularizer_edges,
    regularizer_features,
    regularizer_optimum,
)
from textreg.testing.checks import Check, run_checks
from textreg.testing.limits import SECONDS
from textreg.testing.points import Sized
from textreg.testing.problems import P, prepared, small
from textreg.testing.regularizer_optimum import adds_penalty

QUICK = ("parameters", "state", "manifest", "imports", "builder")
"""The checks that solve nothing."""


def regularizer_checks() -> list[Check]:
    """All of them, in order; those of a penalty apply where there is a ``penalty(problem)``.

    They come first, as they are quick, and show where a mistake is.
    """
    parts = (
        regularizer_data,
        regularizer_optimum,
        regularizer_features,
        regularizer_classes,
        regularizer_edges,
    )
    own = [check for part in parts for check in part.checks.all]
    quick = [check for check in own if check.name in QUICK]
    others = [check for check in own if check.name not in QUICK]
    return [*quick, *map(_of_its_penalty, penalty.penalty_checks()), *others]


def check_regularizer(
    part: str | type[Regularizer] | Regularizer,
    *,
    skip: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> None:
    """Check a regularizer.

    Parameters
    ----------
    part : str, type or Regularizer
        Its name, its class or an instance; parameters that are AUTO get a value of its grid.
    skip : dict of str to str, optional
        Names of checks to leave out, each with the reason.
    seconds : float, default 20.0
        What one check may take.

    Raises
    ------
    ContractError
        If a check fails.
    UsageError
        If a check to leave out does not exist.
    """
    run_checks(regularizer_checks(), part, skip, seconds)


def _of_its_penalty(check: Check) -> Check:
    """A check of penalties as one of the regularizer that makes them."""

    def penalty_of(part: Any) -> Sized | None:
        problem = small()
        ready: Any = prepared(registry.create("regularizer", part), problem)
        made = ready.penalty(problem) if adds_penalty(ready) else None
        return Sized(made, P) if hasattr(made, "prox") else None

    def applies(part: Any) -> bool:
        sized = penalty_of(part)
        return sized is not None and check.applies(sized)

    return replace(check, run=lambda part: check.run(penalty_of(part)), applies=applies)
