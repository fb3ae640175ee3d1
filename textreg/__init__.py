"""Text classification with regularizers that know the structure of text.

>>> import textreg
>>> model = textreg.train(texts, labels, reg="sentence")  # doctest: +SKIP
>>> model.predict(["The acting is superb."])  # doctest: +SKIP

Every public name is imported when it is first used, so that ``import textreg`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textreg import explain
    from textreg.builtin.groups import Group, Sentence
    from textreg.builtin.separable import Elastic, Lasso, Ridge
    from textreg.checking.check import check
    from textreg.errors import TextregError
    from textreg.estimators.linear import LinearClassifier, LinearRegressor
    from textreg.estimators.text import TextClassifier, TextRegressor, TextVectorizer
    from textreg.measure.evaluation import evaluate
    from textreg.model.model import Model
    from textreg.model.storage import load_model as load
    from textreg.plugins.registry import (
        graph_builder,
        group_builder,
        loss,
        register,
        register_file,
        regularizer,
        tokenizer,
    )
    from textreg.records import Corpus, Graph, Groups, Problem, Solution
    from textreg.training.train import train, train_batches
    from textreg.training.update import update

    __version__: str

__all__ = [
    "Corpus",
    "Elastic",
    "Graph",
    "Group",
    "Groups",
    "Lasso",
    "LinearClassifier",
    "LinearRegressor",
    "Model",
    "Problem",
    "Ridge",
    "Sentence",
    "Solution",
    "TextClassifier",
    "TextRegressor",
    "TextVectorizer",
    "TextregError",
    "__version__",
    "check",
    "evaluate",
    "explain",
    "graph_builder",
    "group_builder",
    "load",
    "loss",
    "register",
    "register_file",
    "regularizer",
    "tokenizer",
    "train",
    "train_batches",
    "update",
]

_NAMES = {
    "builtin.groups": ["Group", "Sentence"],
    "builtin.separable": ["Elastic", "Lasso", "Ridge"],
    "checking.check": ["check"],
    "errors": ["TextregError"],
    "estimators.linear": ["LinearClassifier", "LinearRegressor"],
    "estimators.text": ["TextClassifier", "TextRegressor", "TextVectorizer"],
    "measure.evaluation": ["evaluate"],
    "model.model": ["Model"],
    "model.storage": ["load"],
    "plugins.registry": [
        *("graph_builder", "group_builder", "loss", "register", "register_file", "regularizer"),
        "tokenizer",
    ],
    "records": ["Corpus", "Graph", "Groups", "Problem", "Solution"],
    "training.train": ["train", "train_batches"],
    "training.update": ["update"],
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
_NAME_THERE = {"load": "load_model"}


if not TYPE_CHECKING:  # or a type checker would take any name

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from textreg.plugins.distributions import own_version

            value: Any = own_version()
        elif name == "explain":
            value = import_module("textreg.explain")
        elif name in _HOME:
            module = import_module(f"textreg.{_HOME[name]}")
            value = getattr(module, _NAME_THERE.get(name, name))
        else:
            raise AttributeError(f"module 'textreg' has no attribute '{name}'")
        globals()[name] = value  # next time it is found without this function
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
