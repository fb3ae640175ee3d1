"""Parts by name, as ``TextClassifier`` and ``train`` take them: ``reg=textreg.regularizer("omp")``.

Each function raises PluginError for a name that nothing has, and UsageError for a wrong parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textreg.plugins import registry

if TYPE_CHECKING:
    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer


def regularizer(name: str, /, **params: Any) -> Regularizer:
    """A regularizer by name.

    Parameters
    ----------
    name : str
        ``name`` or ``distribution:name``, as ``textreg plugins list`` shows them.
    **params
        Its parameters; training searches those that are left out and have a search grid.

    Returns
    -------
    Regularizer

    Raises
    ------
    PluginError
        If there is no such plugin, or if it is broken.
    UsageError
        For a wrong parameter.

    Examples
    --------
    >>> regularizer("elastic", l2=0.5)
    Elastic(l2=0.5, l1=AUTO)
    """
    return cast("Regularizer", registry.create("regularizer", name, **params))


def tokenizer(name: str, /, **params: Any) -> Tokenizer:
    """A tokenizer by name.

    Several names with commas between them give one tokenizer that joins them.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    Tokenizer

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> tokenizer("words", min_length=2)("A box.")
    [['box']]
    """
    return cast("Tokenizer", registry.create("tokenizer", name, **params))


def group_builder(name: str, /, **params: Any) -> GroupBuilder:
    """A group builder by name.

    Several names with commas between them give one builder that joins their groups.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    GroupBuilder

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> import textreg
    >>> tokens = textreg.tokenizer("words").encode(["A red box. It broke."])
    >>> group_builder("sentences").build(tokens)
    <Groups: 2 over 5 features, 5 entries>
    """
    return cast("GroupBuilder", registry.create("groups", name, **params))


def graph_builder(name: str, /, **params: Any) -> GraphBuilder:
    """A graph builder by name.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    GraphBuilder

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> graph_builder("cooccurrence")
    Cooccurrence()
    """
    return cast("GraphBuilder", registry.create("graph", name, **params))


def loss(name: str, /, **params: Any) -> Loss:
    """A loss by name.

    Parameters
    ----------
    name, **params
        As for :func:`regularizer`.

    Returns
    -------
    Loss

    Raises
    ------
    PluginError, UsageError
        As for :func:`regularizer`.

    Examples
    --------
    >>> loss("hinge", smoothing=0.5)
    SmoothedHinge(smoothing=0.5)
    """
    return cast("Loss", registry.create("loss", name, **params))
