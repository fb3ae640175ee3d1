"""Models as pipelines of scikit-learn."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from textreg.errors import UsageError
from textreg.hookspecs import hookimpl
from textreg.kinds import Exporter
from textreg.records import Floats
from textreg.records.documents import MISSING, SPELLINGS
from textreg.records.plain_model import PlainModel, PlainPart
from textreg_export.formats import PythonExporter

MAKE = """(lambda source: (lambda space: exec(source, space) or space["Values"](source))(
    {"__name__": "textreg_values"}
))"""
VALUES = f'''

class Values:
    """The features of texts and their values; a pickle holds the source that makes it."""

    def __init__(self, source):
        self.source = source

    def __call__(self, texts):
        return [_PREDICTOR.values(text) for text in texts]

    def __reduce__(self):
        return eval, ({MAKE!r} + f"({{self.source!r}})",)
'''


class SklearnExporter(Exporter):
    """A pickled pipeline of scikit-learn, which is fitted, and needs no textreg.

    Features that no vectorizer of scikit-learn finds, such as the default ones, are found by the
    code of the python format, which the pickle carries as source. Other vectorizers are faster:
    ``tokenizer_sentences="none"``, or single words, with the weighting count, binary, log or tfidf.
    Documents of several fields are a data frame.
    """

    name = "sklearn"
    suffix = ".pkl"

    def export(self, model: PlainModel) -> bytes:
        """The pipeline; load it with ``pickle.load``, and only from those whom you trust."""
        file = BytesIO()
        pickler = pickle.Pickler(file, protocol=4)
        # Else equal texts are written once or twice, as they happen to be one object or two: equal
        # models would be different files in different processes.
        pickler.fast = True
        pickler.dump(pipeline(model))
        return file.getvalue()


def pipeline(model: PlainModel) -> Any:
    """The fitted pipeline; UsageError, with the reason, where scikit-learn has no such parts."""
    from sklearn.pipeline import FeatureUnion, Pipeline

    _check_answers(model)
    named = [
        (f"{n}-{part.tokenizer}", _of_column(part, model))
        for n, part in enumerate(model.parts)
        if part.names or part.others
    ]
    return Pipeline([("features", FeatureUnion(named)), ("model", _predictor(model))])


def _check_answers(model: PlainModel) -> None:
    calibration = model.calibration
    for has, what in (
        (model.thresholds, "thresholds"),
        (model.unknown is not None, "an unknown label"),
        (model.at_least_one, "a label for every text"),
        (calibration and calibration["method"] != "temperature", "an isotonic calibration"),
    ):
        if has:
            raise UsageError(
                f"a model with {what} cannot become a pipeline of scikit-learn, which decides by "
                "scores alone. Train without, or export to python."
            )


def _carried(part: PlainPart) -> bool:
    """Whether no vectorizer of scikit-learn finds these features: the code goes with the pipeline.

    A vectorizer counts only n-grams that it knows, and these across the ends of sentences; its
    character n-grams keep the white space at the ends of texts, and case folding changes the length
    of words.
    """
    options = part.options
    cut = part.ngrams > 1 or part.tokenizer == "chars"
    return bool(
        part.strip_html
        or part.norm == "ngrams"
        or (cut and options["sentences"] != "none")
        or options.get("analyzer") == "char"
        or options.get("punctuation")
        or options.get("emoji")
        or options.get("min_length", 1) > 1
    )


def _of_column(part: PlainPart, model: PlainModel) -> Any:
    """The fitted features of a part; of several fields those of its column of a data frame."""
    from sklearn.pipeline import Pipeline

    if not part.field:
        return _features(part, model)
    kind = next(field.kind for field in model.fields if field.name == part.field)
    table = _steps("column", [itemgetter([part.field])])
    if kind == "number":
        return Pipeline([*table, ("number", _number(part))])
    if kind == "category":
        return Pipeline([*table, *_category(part)])
    column = [itemgetter(part.field), methodcaller("astype", "string"), methodcaller("fillna", "")]
    return Pipeline([*_steps("column", column), ("features", _features(part, model))])


def _steps(name: str, functions: Sequence[Any]) -> list[tuple[str, Any]]:
    """Functions as steps of a pipeline."""
    from sklearn.preprocessing import FunctionTransformer

    return [(f"{name}-{n}", FunctionTransformer(each)) for n, each in enumerate(functions)]


def _category(part: PlainPart) -> list[tuple[str, Any]]:
    """A column for each value; blank and missing ones are the value ``missing``."""
    from sklearn.preprocessing import OneHotEncoder

    cleaned = [
        methodcaller("astype", "string"),
        methodcaller("replace", r"\s+", " ", regex=True),
        methodcaller("replace", "^ | $", "", regex=True),
        methodcaller("replace", SPELLINGS, regex=True),
        methodcaller("replace", "", MISSING),
        methodcaller("fillna", MISSING),
        methodcaller("to_numpy", dtype=object),
    ]
    names = np.array(part.names, dtype=object)
    values = OneHotEncoder(categories=[names], handle_unknown="ignore").fit(names[:, None])
    return [*_steps("value", cleaned), ("values", values)]


def _number(part: PlainPart) -> Any:
    """A column of numbers, standardized, where the mean stands for one that is missing."""
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.pipeline import FeatureUnion, Pipeline
    from sklearn.preprocessing import StandardScaler

    array = methodcaller("to_numpy", dtype=float, na_value=np.nan)
    mean, scale = part.options["mean"], part.options["scale"]
    sample = np.array([[mean - scale], [mean + scale], [np.nan]])
    filling = SimpleImputer().fit(sample)
    filling.statistics_ = np.array([mean])
    scaling = StandardScaler().fit(sample)
    scaling.mean_, scaling.scale_ = np.array([mean]), np.array([scale])
    missing = MissingIndicator(features="all").fit(sample)
    kinds = {
        "": Pipeline([("filled", filling), ("scaled", scaling)]),
        f":{MISSING}": Pipeline([("missing", missing)]),
    }
    union = FeatureUnion([(name or "value", kinds[name]) for name in part.names])
    return Pipeline([*_steps("number", [methodcaller("astype", "Float64"), array]), ("all", union)])


def _features(part: PlainPart, model: PlainModel) -> Any:
    """The fitted vectorizer of a part."""
    import unicodedata

    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    if part.tokenizer not in ("words", "chars"):
        raise UsageError(
            f"the tokenizer {part.tokenizer} cannot become a pipeline of scikit-learn. Train with "
            "words or chars, or export to python."
        )
    if _carried(part):
        columns = DictVectorizer().fit([dict.fromkeys(part.names, 1.0)])
        columns.feature_names_ = list(part.names)
        columns.vocabulary_ = {name: column for column, name in enumerate(part.names)}
        return Pipeline([("values", FunctionTransformer(_values(part, model))), ("all", columns)])
    others = [name for names in part.others.values() for name in names]
    every = [*part.names, *others]
    options: dict[str, Any] = {
        "binary": part.term == "binary",
        "lowercase": False,  # it warns of capitals that have no small letter
        "dtype": np.float64,
    }
    if part.tokenizer == "words":
        options |= _word_options(part, model)
    else:
        rules = part.options
        options |= {
            "analyzer": rules["analyzer"],
            "ngram_range": (rules["min_n"], rules["max_n"]),
            "preprocessor": methodcaller("lower") if rules["lowercase"] else None,
        }
    steps: list[tuple[str, Any]] = []
    if part.options["normalize"] != "none":
        form: Any = part.options["normalize"].upper()
        each = partial(map, partial(unicodedata.normalize, form))
        steps.append(("normalize", FunctionTransformer(each)))
    counting = CountVectorizer(**options)
    # What fit does, but for a number of its own in every process.
    counting.vocabulary_ = {name: column for column, name in enumerate(every)}
    counting.fixed_vocabulary_ = True
    steps.append(("count", counting))
    if part.term == "log":
        steps.append(("log", FunctionTransformer(np.log1p, accept_sparse=True)))
    if part.norm == "features":
        assert part.idf is not None
        unused = [idf for idf, names in part.others.items() for _ in names]
        weighting = TfidfTransformer(sublinear_tf=True)
        weighting.idf_ = np.concatenate([part.idf, np.array(unused)])
        steps.append(("tfidf", weighting))
    return Pipeline(steps)


def _values(part: PlainPart, model: PlainModel) -> Any:
    """What finds the features of a part in texts."""
    bare = replace(part, field="", weights=part.weights[:0])
    alone = replace(model, parts=[bare], fields=(), intercepts=model.intercepts[:0])
    source = PythonExporter().export(alone).decode() + VALUES
    return eval(MAKE)(source)


def _word_options(part: PlainPart, model: PlainModel) -> dict[str, Any]:
    """Words by one pattern, after letters were folded and invisible characters removed."""
    from textreg_export.runtime.predictor import Characters

    characters = Characters(dict(model.characters))
    letters: dict[str, str] = characters.fold if part.options["lowercase"] else {}
    table: dict[int, str | None] = {ord(letter): folded for letter, folded in letters.items()}
    table |= dict.fromkeys(characters.ignored.points())
    return {
        "preprocessor": methodcaller("translate", table),
        "token_pattern": characters.word.pattern.replace("(", "(?:", 1),
        "ngram_range": (1, part.ngrams),
        "stop_words": list(part.stop_words) or None,
    }


def _predictor(model: PlainModel) -> Any:
    """The fitted estimator over the features of all parts, those without a weight included."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer
    from sklearn.svm import LinearSVC

    blocks = []
    for part in model.parts:
        others = 0 if _carried(part) else sum(map(len, part.others.values()))
        blocks += [part.weights, np.zeros((len(part.weights), others))]
    # A temperature T divides all scores, and so it may divide the weights.
    temperature = 1.0 if model.calibration is None else model.calibration["temperature"]
    weights, intercepts = np.hstack(blocks) / temperature, model.intercepts / temperature
    kind = LogisticRegression if model.probabilities else LinearSVC
    if model.task == "regression":
        fitted = LinearRegression()
        fitted.coef_, fitted.intercept_ = weights[0], float(intercepts[0])
    elif model.task in ("binary", "softmax"):
        fitted = _linear(kind(), np.array(model.labels), weights, intercepts)
    else:
        fitted = OneVsRestClassifier(kind())
        rows = zip(weights, intercepts, strict=True)
        sides = np.array([0, 1])
        fitted.estimators_ = [_linear(kind(), sides, row[None], b[None]) for row, b in rows]
        # Of lists of labels an indicator matrix, whose columns are those of the labels.
        several = model.task == "multilabel"
        labels = np.eye(len(model.labels), dtype=int) if several else np.array(model.labels)
        fitted.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(labels)
        fitted.classes_ = fitted.label_binarizer_.classes_
    fitted.n_features_in_ = weights.shape[1]
    return fitted


def _linear(fitted: Any, labels: Any, weights: Floats, intercepts: Floats) -> Any:
    """A linear classifier with these weights."""
    fitted.classes_, fitted.coef_, fitted.intercept_ = labels, weights, intercepts
    fitted.n_features_in_ = weights.shape[1]
    return fitted


@hookimpl
def textreg_exporters() -> list[type[Exporter]]:
    """The exporter of this module."""
    return [SklearnExporter]
