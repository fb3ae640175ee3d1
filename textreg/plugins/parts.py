"""Parts by name, as ``TextClassifier`` and ``train`` take them: ``reg=textreg.regularizer("omp")``.

Each function raises PluginError for a name that nothing has, and UsageError for a wrong parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textreg.plugins import registry

if TYPE_CHECKING:
    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer


def regularizer(name: str, /, **params: Any) -> Regularizer:
    """The regularizer called ``name``, with parameters; those left open are searched in training.

    >>> regularizer("elastic", l2=0.5)
    Elastic(l2=0.5, l1=AUTO)
    """
    return cast("Regularizer", registry.create("regularizer", name, **params))


def tokenizer(name: str, /, **params: Any) -> Tokenizer:
    """The tokenizer called ``name``, with parameters.

    >>> tokenizer("words", min_length=2)("A box.")
    [['box']]
    """
    return cast("Tokenizer", registry.create("tokenizer", name, **params))


def group_builder(name: str, /, **params: Any) -> GroupBuilder:
    """The group builder called ``name``, with parameters."""
    return cast("GroupBuilder", registry.create("groups", name, **params))


def graph_builder(name: str, /, **params: Any) -> GraphBuilder:
    """The graph builder called ``name``, with parameters."""
    return cast("GraphBuilder", registry.create("graph", name, **params))


def loss(name: str, /, **params: Any) -> Loss:
    """The loss called ``name``, with parameters.

    >>> loss("hinge", smoothing=0.5)
    SmoothedHinge(smoothing=0.5)
    """
    return cast("Loss", registry.create("loss", name, **params))
