"""References in docstrings to names of textreg: linked where a page describes them.

With ``nitpicky`` Sphinx warns of every reference that leads nowhere. Docstrings may name what the
site does not describe, such as an internal module, or say ``textreg.train`` for the function of
:mod:`textreg.training.train`. What exists is linked or shown as code; only what does not exist is
left to the warning.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Iterator
from typing import Any


def existing(name: str) -> Any:
    """What a dotted name stands for; None if there is no such thing."""
    first, *rest = name.split(".")
    if hasattr(builtins, first):
        found = getattr(builtins, first)
    elif first == "textreg":
        found = importlib.import_module(first)
    else:
        return None
    path = first
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            try:
                importlib.import_module(path)
            except ImportError:
                # A field of a record, or an attribute that __init__ makes.
                annotated = getattr(found, "__annotations__", {})
                return found if part in annotated else None
        found = getattr(found, part)
    return found


def names(node: Any) -> Iterator[str]:
    """What a reference may mean: as it is written, or inside of its module or class."""
    target, module, cls = node["reftarget"], node.get("py:module"), node.get("py:class")
    yield target
    if module:
        yield f"{module}.{target}"
        if cls:
            yield f"{module}.{cls}.{target}"


def resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A link, or the name as code; None for what does not exist."""
    if node.get("refdomain") != "py":
        return None
    for name in names(node):
        found = existing(name)
        if found is None:
            continue
        module, qualified = getattr(found, "__module__", None), getattr(found, "__qualname__", "")
        described = env.get_domain("py").objects.get(f"{module}.{qualified}")
        if described is None:
            return contnode
        place = node["refdoc"], app.builder, node["reftype"], f"{module}.{qualified}"
        return env.get_domain("py").resolve_xref(env, *place, node, contnode)
    return None


def setup(app: Any) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
