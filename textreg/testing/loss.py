"""The contract of a loss: its derivatives, its conjugate and its bounds belong together."""

from __future__ import annotations

from collections.abc import Mapping

from textreg.kinds import Loss
from textreg.testing import loss_bounds, loss_values
from textreg.testing.checks import Check, run_checks
from textreg.testing.limits import SECONDS


def loss_checks() -> list[Check]:
    """The checks of losses, in order; each is called with a name, a class or an instance."""
    return [*loss_values.checks.all, *loss_bounds.checks.all]


def check_loss(
    part: str | type[Loss] | Loss,
    *,
    skip: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> None:
    """Check that a loss keeps its contract.

    Parameters
    ----------
    part : str, subclass of Loss, or Loss
        The loss; by name or as a class with its default parameters.
    skip : dict of str to str, optional
        Names of checks to leave out, each with the reason why.
    seconds : float, default 20
        What a check may take.

    Raises
    ------
    ContractError
        If a check fails.
    UsageError
        If ``skip`` names a check that does not exist.
    """
    run_checks(loss_checks(), part, skip, seconds)
