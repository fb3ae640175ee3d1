"""The contract of a plugin, as checks that anybody can run: we run them on our own parts.

>>> from textreg_testing import check_regularizer
>>> check_regularizer("ridge")

A check that fails raises :class:`ContractError`, which says what was expected, what came, and
where to read about it. None of this needs a test runner; with pytest, each check can be a test:

.. code-block:: python

    @pytest.mark.parametrize("check", regularizer_checks(), ids=str)
    def test_contract(check):
        check(MyRegularizer)

Tokenizers and builders are tried on texts of our own, and on yours: ``check_group_builder(Mine,
texts=["..."])``, or ``group_builder_checks(["..."])``.
"""

from collections.abc import Callable

from textreg_testing.builders import (
    check_graph_builder,
    check_group_builder,
    graph_builder_checks,
    group_builder_checks,
)
from textreg_testing.checks import Check, ContractError
from textreg_testing.exporter import check_exporter, exporter_checks
from textreg_testing.objective import check_loss, check_penalty, loss_checks
from textreg_testing.regularizer import check_regularizer, regularizer_checks
from textreg_testing.repeated import backend_checks, command_checks, vectors_checks
from textreg_testing.tokenizer import check_tokenizer, tokenizer_checks

__all__ = [
    "Check",
    "ContractError",
    "check_exporter",
    "check_graph_builder",
    "check_group_builder",
    "check_loss",
    "check_penalty",
    "check_regularizer",
    "check_tokenizer",
    "command_checks",
    "exporter_checks",
    "graph_builder_checks",
    "group_builder_checks",
    "loss_checks",
    "regularizer_checks",
    "tokenizer_checks",
]

#: The checks of each kind of plugin; those of tokenizers and builders take `texts`.
CHECKS: dict[str, Callable[..., list[Check]]] = {
    "regularizer": regularizer_checks,
    "tokenizer": tokenizer_checks,
    "groups": group_builder_checks,
    "graph": graph_builder_checks,
    "loss": loss_checks,
    "exporter": exporter_checks,
    "backend": backend_checks,
    "vectors": vectors_checks,
    "command": command_checks,
}
