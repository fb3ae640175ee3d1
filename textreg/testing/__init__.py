"""The contract of a plugin, as checks that anybody can run: we run them on our own parts.

>>> from textreg.testing import check_regularizer
>>> check_regularizer("ridge")

A check that fails raises :class:`ContractError`, which says what was expected, what came, and
where to read about it. None of this needs a test runner; with pytest, each check can be a test:

.. code-block:: python

    @pytest.mark.parametrize("check", regularizer_checks(), ids=str)
    def test_contract(check):
        check(MyRegularizer)
"""

from textreg.testing.builders import (
    check_graph_builder,
    check_group_builder,
    check_tokenizer,
    graph_builder_checks,
    group_builder_checks,
    tokenizer_checks,
)
from textreg.testing.checks import Check, ContractError
from textreg.testing.loss import check_loss, loss_checks
from textreg.testing.penalty import check_penalty, penalty_checks
from textreg.testing.regularizer import check_regularizer, regularizer_checks
from textreg.testing.texts import with_pairs

__all__ = [
    "CHECKS",
    "Check",
    "ContractError",
    "check_graph_builder",
    "check_group_builder",
    "check_loss",
    "check_penalty",
    "check_regularizer",
    "check_tokenizer",
    "graph_builder_checks",
    "group_builder_checks",
    "loss_checks",
    "penalty_checks",
    "regularizer_checks",
    "tokenizer_checks",
    "with_pairs",
]

CHECKS = {
    "regularizer": regularizer_checks,
    "tokenizer": tokenizer_checks,
    "groups": group_builder_checks,
    "graph": graph_builder_checks,
    "loss": loss_checks,
}
"""The checks of each kind of plugin."""
