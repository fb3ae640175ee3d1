"""Text classification with regularizers that know the structure of text.

>>> import textreg
>>> model = textreg.train(texts, labels, reg="sentence")  # doctest: +SKIP
>>> model.predict(["The acting is superb."])  # doctest: +SKIP

Every public name is imported when it is first used, so that ``import textreg`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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

__all__ = sorted({*_HOME, "__version__", "explain"})


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
