"""A catalogue of mistakes in plugins, which ``textreg_testing`` is held against.

Each module has the mistakes of one kind of plugin, in parts as strangers write them:

- ``ORIGINALS``, the parts without a mistake: every check must pass;
- ``BUGS``, the same with one mistake each: a check must fail, unless ``missed`` says why it cannot;
- ``check``, which holds a part to the contract of the kind.

A kind without its module has none yet.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from broken_plugins.bug import Bug
from textreg_testing.checks import limited

__all__ = ["KINDS", "Bug", "catalogue", "fault"]

KINDS = ("tokenizers", "groups", "graphs", "regularizers", "penalties", "losses", "exporters")


def catalogue(kind: str) -> Any:
    """The module of a kind, None where there is none."""
    name = f"{__name__}.{kind}"
    return import_module(name) if find_spec(name) else None


def fault(kind: str, part: Any) -> str:
    """What the first check that fails says of a part; empty if all pass."""
    # Exporters are read by a fresh interpreter that imports scikit-learn, on a busy machine.
    seconds = 60.0 if kind == "exporters" else 20.0
    try:
        with limited(seconds):
            catalogue(kind).check(part)
    except Exception as error:  # noqa: BLE001  # of the part, and a check that raises it fails
        return f"{type(error).__name__}: {error}"
    return ""
