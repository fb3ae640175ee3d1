"""Parts by name, for programs and notebooks: ``textreg.regularizer("slope", l1=0.1)``.

What is found is what the command line finds: see :mod:`textreg.registry`. Each raises PluginError
where there is no such part, two distributions provide it, or it is blocked or broken, and
UsageError for a wrong parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textreg import registry

if TYPE_CHECKING:
    from textreg.kinds import GraphBuilder, GroupBuilder, Regularizer, Tokenizer


def regularizer(name: str, **params: Any) -> Regularizer:
    """The regularizer called ``name`` or ``distribution:name``, with these parameters."""
    part: Regularizer = registry.create("regularizer", name, **params)
    return part


def tokenizer(name: str, **params: Any) -> Tokenizer:
    """The tokenizer called ``name`` or ``distribution:name``, with these parameters."""
    part: Tokenizer = registry.create("tokenizer", name, **params)
    return part


def group_builder(name: str, **params: Any) -> GroupBuilder:
    """The group builder called ``name``, or several of them: ``"sentences,lda"``."""
    part: GroupBuilder = registry.create("groups", name, **params)
    return part


def graph_builder(name: str, **params: Any) -> GraphBuilder:
    """The graph builder called ``name`` or ``distribution:name``, with these parameters."""
    part: GraphBuilder = registry.create("graph", name, **params)
    return part
