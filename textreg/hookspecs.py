"""The nine hooks by which every plugin, built in or not, offers its classes and commands.

A plugin is a module with implementations of these hooks and an entry point that names it:

.. code-block:: toml

    [project.entry-points.textreg]
    "regularizer.shrink" = "acme_shrink"

Entry points are named ``kind.name``, kinds being tokenizer, groups, graph, regularizer, loss,
exporter, backend, vectors and command, so that names can be listed without importing anything. Each
hook returns a list of classes, that of commands a list of commands. See the page "What plugins can
rely on" for what may change, and when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

from textreg.kinds import (
    API,
    Backend,
    Exporter,
    GraphBuilder,
    GroupBuilder,
    Loss,
    Regularizer,
    Tokenizer,
    WordVectors,
)

if TYPE_CHECKING:
    import click

hookspec = pluggy.HookspecMarker("textreg")
hookimpl = pluggy.HookimplMarker("textreg")


@hookspec
def textreg_tokenizers(api: int) -> list[type[Tokenizer]]:  # type: ignore[empty-body]
    """Tokenizer classes of this plugin.

    Parameters
    ----------
    api : int
        Version of the plugin interface that this textreg has. An implementation may leave out any
        argument of a hook.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.Tokenizer`.

    Examples
    --------
    .. code-block:: python

        @hookimpl
        def textreg_tokenizers():
            return [Whitespace]
    """


@hookspec
def textreg_group_builders(api: int) -> list[type[GroupBuilder]]:  # type: ignore[empty-body]
    """Group builder classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.GroupBuilder`.
    """


@hookspec
def textreg_graph_builders(api: int) -> list[type[GraphBuilder]]:  # type: ignore[empty-body]
    """Graph builder classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.GraphBuilder`.
    """


@hookspec
def textreg_regularizers(api: int) -> list[type[Regularizer]]:  # type: ignore[empty-body]
    """Regularizer classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.Regularizer`.
    """


@hookspec
def textreg_losses(api: int) -> list[type[Loss]]:  # type: ignore[empty-body]
    """Loss classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.Loss`.
    """


@hookspec
def textreg_exporters(api: int) -> list[type[Exporter]]:  # type: ignore[empty-body]
    """Exporter classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.Exporter`.
    """


@hookspec
def textreg_backends(api: int) -> list[type[Backend]]:  # type: ignore[empty-body]
    """Backend classes of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.Backend`.
    """


@hookspec
def textreg_word_vectors(api: int) -> list[type[WordVectors]]:  # type: ignore[empty-body]
    """Tables of word vectors of this plugin.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of type
        Subclasses of :class:`~textreg.kinds.WordVectors`.
    """


@hookspec
def textreg_commands(api: int) -> list[click.Command]:  # type: ignore[empty-body]
    """Commands of this plugin, for the program ``textreg``.

    Parameters
    ----------
    api : int
        As for :func:`textreg_tokenizers`.

    Returns
    -------
    list of click.Command
        Each is called as its entry point is, without ``command.``: that of ``command.count`` is
        ``textreg count``. A dot makes a command of a command: ``plugins.check`` is
        ``textreg plugins check``.

    Examples
    --------
    .. code-block:: python

        @click.command(name="count")
        @click.argument("files", nargs=-1)
        def count(files):
            "Count the documents of FILES."

        @hookimpl
        def textreg_commands():
            return [count]
    """


HOOK_OF_KIND = {
    "tokenizer": "textreg_tokenizers",
    "groups": "textreg_group_builders",
    "graph": "textreg_graph_builders",
    "regularizer": "textreg_regularizers",
    "loss": "textreg_losses",
    "exporter": "textreg_exporters",
    "backend": "textreg_backends",
    "vectors": "textreg_word_vectors",
    "command": "textreg_commands",
}

#: What every hook is called with; a hook takes the arguments that it names.
ARGUMENTS: dict[str, Any] = {"api": API}
