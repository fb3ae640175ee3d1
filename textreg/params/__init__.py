"""Declared parameters: one declaration gives constructor, check, command line option and docs.

>>> class Shrink(Parametrized):
...     name = "shrink"
...     l2: float = param(default=1.0, min=0, help="l2 penalty strength")
>>> Shrink(l2=0.5)
Shrink(l2=0.5)
>>> Shrink(l2=-1)
Traceback (most recent call last):
textreg.errors.UsageError: shrink: l2 must be at least 0, not -1.
"""

from textreg.params.declaration import Param, param
from textreg.params.parametrized import Parametrized, Plugin, check_decided
from textreg.params.values import AUTO, Choices, LogGrid

__all__ = [
    "AUTO",
    "Choices",
    "LogGrid",
    "Param",
    "Parametrized",
    "Plugin",
    "check_decided",
    "param",
]
